"""Notebook 6: plans, tables and conclusions, judged in the notebook and from outside."""

import itertools
import time
from fractions import Fraction

import pytest

from autograder.session import Session
from course.answers import LocalAnswer
from course.checks import experiment_conclusions as conclusions
from course.checks.experiment_plan import LESSON, judge_mended
from course.checks.experiment_rows import read_table
from course.checks.experiment_table import check_table
from course.exercises import EXERCISES, judge
from course.formulas import PPConfig
from course.plan import DEFAULT, Row
from course.predictions import PREDICTIONS
from tests import bank_6_experiment_table as bank
from tests.bank import bank_tests, judged_locally
from tests.bank_6_conclusions import TRUE
from tests.experiment_lines import made, noisy

CASES = bank.RIGHT + bank.WRONG
PLAN = [row.as_dict() for row in DEFAULT]


@pytest.fixture(scope="module")
def session():
    with Session(seconds=30) as session:
        yield session


test_bank_in_the_notebook, test_bank_from_outside = bank_tests(CASES)


def test_enough_answers_of_each_kind():
    for grade_id in ("ex6-plan", "ex6-table", "ex6-conclusions"):
        assert sum(case.grade_id == grade_id for case in bank.RIGHT) >= 12
        assert len({case.source for case in bank.WRONG if case.grade_id == grade_id}) >= 30
    assert len({code for case in bank.WRONG for code in case.codes}) >= 50


def test_points_of_the_table():
    parts = [entry for entry in EXERCISES.values() if entry.notebook == "6_experiment_table"]
    assert {entry.grade_id: (entry.answers, entry.points) for entry in parts} == {
        "ex6-plan": (("configurations",), 6), "ex6-table": (("table", "configurations"), 6),
        "ex6-conclusions": (("conclusions", "table", "configurations"), 8)}
    for case in bank.RIGHT:
        verdict = judged_locally(case)
        assert verdict.points == verdict.maximum == sum(step.points for step in verdict.steps)


def test_every_conclusion_has_its_statement():
    texts = EXERCISES["ex6-conclusions"].statements
    assert list(texts) == list("abcdefghij") and all(len(text) > 20 for text in texts.values())
    assert sum(statement.points for statement in conclusions.CONCLUSIONS.values()) == 8


def test_no_message_for_a_wrong_answer_prints_the_answer():
    for case in bank.WRONG:
        if case.grade_id == "ex6-conclusions":
            for message in judged_locally(case).messages:
                key = message.text.removeprefix("Conclusion ")[0]
                shown = message.good or message.code == "busy-machine"  # which rows those were is no secret
                assert shown or key not in "abcde" or f"row {TRUE[key]}" not in message.text, message
        if case.grade_id == "ex6-table":
            assert not any("0.2727" in message.text for message in judged_locally(case).messages
                           if message.code in ("over-ideal", "percent", "rounded", "estimate"))


@pytest.mark.parametrize("late", [0, 0.001, 0.008])
@pytest.mark.parametrize("slot", [0.0005, 0.004])
def test_the_true_conclusions_are_those_of_the_table_whatever_its_slot(slot, late):
    lines = [line.planned for line in read_table(made(slot=slot, late=late))]
    for key, statement in conclusions.CONCLUSIONS.items():
        right = statement.right(lines)
        wanted = TRUE[key].strip("'")
        assert {str(answer) for answer in right} >= {wanted}, key
        assert len(right) == 1, key


def test_ties_within_noise_are_either():
    rows = [Row("gpipe", 4, 1, 8, 4), Row("1f1b", 4, 1, 8, 4), Row("1f1b", 2, 1, 16, 2)]
    table = made(rows)
    table[0] |= {key: value for key, value in made(rows[:1], late=0.005)[0].items() if key.endswith("measured")}
    lines = read_table(table)
    right = {key: statement.right(lines) for key, statement in conclusions.CONCLUSIONS.items()}
    assert right["a"] == {1, 2} and right["e"] == {1, 2, 3} and right["f"] == {"noise"}
    assert right["c"] == {3} and right["g"] == {False} and right["j"] == {True}


@pytest.mark.parametrize("seed", range(6))
def test_every_table_of_sound_rows_has_an_answer_to_every_conclusion(seed):
    rows = list(DEFAULT)[seed:] + list(DEFAULT)[:seed]
    for count in (1, 2, 5, 8):
        lines = read_table(made(rows[:count]))
        for statement in conclusions.CONCLUSIONS.values():
            right = statement.right(lines)
            some = statement.kind != "verdict" or not statement.needs or len(lines) > 2
            possible = {"row": {*range(1, count + 1)}, "reason": set(conclusions.REASONS), "verdict": {True, False}}
            assert (right or not some) and right <= possible[statement.kind]


def test_a_number_that_was_tampered_with_is_found():
    """Each measured cell of each row, half and double: no table is taken that no run can have given."""
    for number, column in itertools.product(range(8), ("bubble_measured", "step_time_predicted", "step_time_measured")):
        for factor in (0.5, 2):
            table = made()
            table[number][column] *= factor
            found = check_table(LocalAnswer(table), LocalAnswer(PLAN))
            if column == "step_time_measured" and factor == 2 and table[number]["dp"] > 1:
                continue  # an all-reduce may take any time
            assert found.points <= 5, (number, column, factor)
    for number in range(8):
        table, trusted = made(), made(slot=0.001)
        table[number]["peak_activation_bytes"] *= 2
        assert check_table(LocalAnswer(table), LocalAnswer(PLAN), trusted).points <= 4


def test_a_broken_interleaved_row_is_not_called_missing():
    broken = [*PLAN[:3], PLAN[5] | {"micro_batches": 6}]
    verdict = judge("ex6-plan", LocalAnswer(broken))
    codes = [message.code for message in verdict.messages]
    assert "not-a-multiple" in codes and "not-interleaved" not in codes and verdict.points < 6
    assert "not-interleaved" in [message.code for message in judge("ex6-plan", LocalAnswer(PLAN[:3])).messages]


def test_a_busy_row_and_times_of_the_plan_are_remarked_and_cost_nothing():
    busy = check_table(LocalAnswer(noisy({4: 0.5})), LocalAnswer(PLAN))
    remark = next(message for message in busy.messages if message.code == "busy-machine")
    assert busy.points == 6 and remark.good and "row 4 (bubble 58.6% where its plan gives 8.6%)" in remark.text
    assert "again=[4]" in remark.text and "follows-the-plan" not in busy.codes
    virtual = made(all_reduce=0)
    assert check_table(LocalAnswer(virtual), LocalAnswer(PLAN)).codes == ("table-right", "follows-the-plan")
    assert check_table(LocalAnswer(virtual), LocalAnswer(PLAN), virtual).codes == ("table-right",)


def test_why_noise_is_not_taken_is_said_in_full_once():
    drawn = {"a": 7, "c": 1, "e": 4, "h": False}
    verdict = judge("ex6-conclusions", *map(LocalAnswer, (drawn, noisy({4: 0.5}), PLAN)))
    said = [message.text for message in verdict.messages if message.code == "busy-machine"]
    assert len(said) == 3 and verdict.points == 1 and sum("again=[4]" in text for text in said) == 1
    assert said[0].startswith("Conclusion c: not row 1. Your table says so because row 4 (bubble 58.6% where its plan gives")
    assert said[1] == "Conclusion e: not row 4, for the same reason: these rows of a busy machine."


def test_a_trusted_run_decides_which_step_is_shorter():
    table = made()
    fake = table[0]["step_time_measured"]
    swapped = [line | {"step_time_measured": fake} if line["dp"] > 1 else line for line in table]
    found = check_table(LocalAnswer(swapped), LocalAnswer(PLAN), made(slot=0.001))
    assert "trusted-order" in found.codes and found.points == 4
    assert check_table(LocalAnswer(table), LocalAnswer(PLAN), made(slot=0.02)).points == 6


def test_the_lessons_four_configurations():
    batches = [one.global_batch() for one in LESSON]
    assert [(one.pp, one.micro_batches, one.micro_batch_size) for one in LESSON] == [(2, 8, 4), (4, 8, 4), (4, 32, 1), (8, 64, 1)]
    assert batches == [32, 32, 32, 64]
    names = ("first", "second", "third", "fourth")
    assert PREDICTIONS["breaks-the-batch"].actual == names[next(i for i, batch in enumerate(batches) if batch != 32)]


@pytest.mark.parametrize(("value", "code"), [
    (PPConfig(8, 32, 1), "mended"), (PPConfig(8, 8, 4), "mended"), (PPConfig(8, 8, 2, dp=2), "mended"),
    (PPConfig(8, 64, 1), "other-batch"), (PPConfig(4, 32, 1), "other-pp"), (PPConfig(8, ..., ...), "unanswered"),
    (PPConfig("8", "32", 1), "number-as-text"),
    (PPConfig(8, 64, 0.5), "not-whole"), (PPConfig(8, -32, -1), "not-whole"), (..., "unanswered"), (32, "not-a-configuration"),
])
def test_mending_the_fourth(value, code):
    outcome = judge_mended(LocalAnswer(value))
    assert outcome.codes == (code,) and outcome.points == (code == "mended")


def test_what_is_the_same_of_several_rows_is_said_once():
    rows = [row | {"colour": "red"} for row in PLAN[:6]]
    message, = judge("ex6-plan", LocalAnswer(rows)).messages
    assert message.text.startswith("Rows 1 to 6: there is no key 'colour'")


HUGE = [2**4000, -2**4000, 1e308, -1e308, 5e-324, Fraction(2**4000, 3), Fraction(1, 2**4000), Fraction(2**4000 - 1, 2**4000),
        Fraction(2**4000 + 1, 2**4000), f"{2**3000}/7", "1e999", f"1/{2**3000}"]


@pytest.mark.parametrize("value", HUGE, ids=lambda value: str(value)[:12])
def test_a_number_of_any_size_in_any_place_has_a_verdict(value):
    for key in (*PLAN[7], "message", "layers"):
        for plan in ([*PLAN[:7], PLAN[7] | {key: value}], [PLAN[7] | {key: value}] * 3):
            for grade_id, answers in (("ex6-plan", [plan]), ("ex6-table", [made(), plan]),
                                      ("ex6-conclusions", [dict(TRUE), made(), plan])):
                assert judge(grade_id, *map(LocalAnswer, answers)).messages, (grade_id, key)
    for column in made()[0]:
        for lines in ([*made()[:7], made()[7] | {column: value}], [line | {column: value} for line in made()]):
            for trusted in ({}, {"trusted": made(slot=0.001)}):
                for drawn in ({}, {"a": value, "f": value, "j": value, "g": value}):
                    answers = [LocalAnswer(answer) for answer in (TRUE | drawn, lines, PLAN)]
                    assert judge("ex6-conclusions", *answers, **trusted).messages, column
                assert judge("ex6-table", *answers[1:], **trusted).messages, column


def test_each_check_answers_within_a_second():
    for grade_id in ("ex6-plan", "ex6-table", "ex6-conclusions"):
        answers = {"ex6-plan": (PLAN,), "ex6-table": (made(), PLAN), "ex6-conclusions": (dict(TRUE), made(), PLAN)}[grade_id]
        begin = time.perf_counter()
        judge(grade_id, *map(LocalAnswer, answers))
        assert time.perf_counter() - begin < 1
