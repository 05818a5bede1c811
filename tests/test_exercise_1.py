import itertools

import pytest

from autograder.session import Session
from course import Timeline, violations
from course.answers import LocalAnswer
from course.checks import gpipe_diagram, spot_the_error
from course.exercises import EXERCISES, judge
from tests import bank_1_gpipe_diagram as bank
from tests.bank import assert_verdict, bank_tests, judged_locally, judged_remotely

CASES = bank.RIGHT + bank.WRONG
ORDERS = list(itertools.permutations(range(4)))


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session


@pytest.mark.parametrize(("drawing", "said", "unsaid"), [
    (bank.FIRST_OUT.replace(".  .  .  .", " " * 10), "Spaces are no cells", "Your backwards go"),
    ("\n".join([bank.ROWS[0], "", *bank.ROWS[2:]]), "3 rows for 4 stages", "Stage 3"),
    (bank.row(1, bank.ROWS[1].replace(".  F0 F1", "F0 . F1").replace("F3 ", "F3     ")), "starts at slot 0",
     "Spaces are no cells"),
    (bank.FIRST_OUT.replace("F2", "W2"), "there are only F and B", "I and W"),
])
def test_a_drawing_is_not_told_what_is_not_so(drawing, said, unsaid):
    texts = " ".join(message.text for message in judged_locally(bank.diagram(drawing, 0)).messages)
    assert said in texts and unsaid not in texts


test_bank_in_the_notebook, test_bank_from_outside = bank_tests(CASES)


def drawing(forwards, backwards, first=0):
    rows = bank.FIRST_OUT.replace("F0 F1 F2 F3", " ".join(f"F{i + first}" for i in forwards))
    return rows.replace("B0 B1 B2 B3", " ".join(f"B{i + first}" for i in backwards))


@pytest.mark.parametrize("first", [0, 1])
def test_all_576_drawings_in_either_numbering(first, session):
    """576 drawings, written once as a list on the learner's side and drawn here."""
    texts = [drawing(forwards, backwards, first) for forwards in ORDERS for backwards in ORDERS]
    assert len(set(texts)) == 576
    for text in texts:
        case = bank.diagram(text, 10, "right")
        assert_verdict(case, judged_locally(case))
    for text in texts[::25]:
        assert_verdict(case := bank.diagram(text, 10, "right"), judged_remotely(case, session))


def test_no_other_drawing_of_14_slots_gets_full_marks():
    """An order of the micro-batches that differs between two stages cannot end by slot 14: exhaustive over stage 1."""
    for forwards in ORDERS[1:]:
        text = bank.row(1, bank.ROWS[1].replace("F0 F1 F2 F3", " ".join(f"F{i}" for i in forwards)))
        assert violations(Timeline.from_grid(text, 4, 4))


def test_each_kind_of_wrong_answer_has_its_own_message():
    wanted = {code for case in bank.WRONG for code in case.codes}
    assert len(wanted) >= 30
    texts = {}
    for case in bank.WRONG:
        for message in judged_locally(case).messages:
            if not message.good:
                texts.setdefault(message.text, set()).add(message.code)
    assert all(len(codes) == 1 for codes in texts.values())


def test_the_numbers_in_the_checks_are_the_formulas():
    assert (gpipe_diagram.SLOTS, gpipe_diagram.IDLE) == (14, 6)
    assert bank.FIRST_OUT.count(".") == 24


@pytest.mark.parametrize("name", spot_the_error.DRAWINGS)
def test_each_drawing_has_exactly_one_illegal_operation(name):
    (fault,) = violations(spot_the_error.drawing(name))
    assert fault.code == "too-early"


def test_no_message_for_a_wrong_answer_prints_the_answer():
    secrets = ["6, 6, 6, 6", "3/7", "0.428", "21 slots", " 21."]
    for case in bank.WRONG_BUBBLES + bank.WRONG_TWICE:
        for message in judged_locally(case).messages:
            assert message.good or not any(secret in message.text.split("ound ")[0] for secret in secrets), message
    for case in bank.WRONG_DIAGRAMS:
        assert not any("F0 F1 F2 F3" in message.text for message in judged_locally(case).messages)


def test_points_of_the_table():
    parts = [entry for entry in EXERCISES.values() if entry.notebook == "1_gpipe_diagram"]
    assert {entry.grade_id: entry.points for entry in parts} == {
        "ex1-diagram": 10, "ex1-bubbles": 4, "ex1-backward-twice": 2, "ex1-spot-the-error": 4}
    assert all(len(set(entry.hints)) == 3 for entry in EXERCISES.values())
    for case in bank.RIGHT:
        steps = judged_locally(case).steps
        assert sum(step.points for step in steps) == EXERCISES[case.grade_id].points


@pytest.mark.parametrize(("grade_id", "answer"), [
    ("ex1-diagram", "\n".join(["F0 " * 2000 + "B0 F1"] + ["B0 " * 2005] * 3)), ("ex1-diagram", " " * 190_000 + "F0\nF0\nF0\nF0"),
    ("ex1-diagram", "\n".join("9" * 5000 + f"{row}: F0" for row in range(4))),
    ("ex1-spot-the-error", {"a": ["F1", "9" * 5000], "b": ["9" * 5000, 1], "c": "F1, " + "9" * 5000})])
def test_what_is_far_too_long_is_a_wrong_answer_and_no_burden(grade_id, answer):
    verdict = judge(grade_id, LocalAnswer(answer))
    assert verdict.points < verdict.maximum / 2 and verdict.messages
