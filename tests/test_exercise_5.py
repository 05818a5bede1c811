import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from autograder.session import Session
from course.checks import layout_design
from course.checks.byte_counts import UNITS, as_bytes, as_records, close, judge_bytes
from course.checks.layout_memory import ACTIVATIONS, STATE
from course.checks.layout_volumes import DP, PP, TP
from course.exercises import EXERCISES
from course.layout import Layout, Model, evaluate, search
from course.layout.cards import CARDS, WITHIN
from course.layout.memory import activation_bytes, state_bytes
from course.layout.volumes import dp_bytes, pp_bytes, tp_bytes
from tests import bank_5_tp_pp_dp_design as bank
from tests.bank import assert_verdict, bank_tests, judged_locally, judged_remotely
from tests.bank_5_designs import design, text

CASES = bank.RIGHT + bank.WRONG
QUESTIONS = {"tp": TP, "pp": PP, "dp": DP, "state": STATE, "activations": ACTIVATIONS}


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session


test_bank_in_the_notebook, test_bank_from_outside = bank_tests(CASES)


def test_enough_answers_of_each_kind():
    for grade_id in ("ex5-volumes", "ex5-memory", "ex5-design-a", "ex5-design-b", "ex5-design-c"):
        assert sum(case.grade_id == grade_id for case in bank.RIGHT) >= 5
        assert len({case.source for case in bank.WRONG if case.grade_id == grade_id}) >= 8
    assert len({code for case in bank.WRONG for code in case.codes}) >= 55


def test_points_of_the_table():
    parts = [entry for entry in EXERCISES.values() if entry.notebook == "5_tp_pp_dp_design"]
    assert {entry.grade_id: entry.points for entry in parts} == {
        "ex5-volumes": 5, "ex5-memory": 3, "ex5-design-a": 2, "ex5-design-b": 3, "ex5-design-c": 3, "ex5-explain": 4}
    assert EXERCISES["ex5-explain"].manual
    for case in bank.RIGHT:
        verdict = judged_locally(case)
        assert verdict.points == verdict.maximum == sum(step.points for step in verdict.steps)


# --- bytes ------------------------------------------------------------------------------------------------


class Function:
    """An answer that gives, for the records it is handed, what a function of the layout and the model says."""

    def __init__(self, function):
        self.function = function

    def call(self, layout, model, *option):
        sizes = {name: value for name, value in layout.items() if name != "micro_batches"}
        return self.function(Layout(**sizes), Model(**model), *option)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_pieces_multiply_to_what_the_library_says(name):
    library = {"tp": tp_bytes, "pp": pp_bytes, "dp": dp_bytes, "state": state_bytes, "activations": activation_bytes}[name]
    question = QUESTIONS[name]
    for point in question.points:
        assert question.value()(*point) == pytest.approx(library(*point), rel=1e-12)


IDEAS = [(name, place) for name, question in QUESTIONS.items() for place in range(len(question.wrong))]


@pytest.mark.parametrize(("name", "place"), IDEAS)
def test_each_wrong_idea_is_told_by_its_values(name, place):
    question = QUESTIONS[name]
    idea = question.wrong[place]
    steps, message = judge_bytes(Function(question.value(idea.instead)), question)
    assert message.code == idea.code and idea.text in message.text and not message.good
    assert sum(step.points * step.share for step in steps) < sum(step.points for step in steps)


@pytest.mark.parametrize("name", QUESTIONS)
def test_two_wrong_ideas_at_once_are_named_and_short_enough(name):
    question = QUESTIONS[name]
    for one, other in itertools.combinations(question.wrong, 2):
        if not set(one.instead) & set(other.instead):
            both = question.value({**one.instead, **other.instead})
            _, message = judge_bytes(Function(both), question)
            assert len(message.text) < 600, message
            truths = [question.value(), *(question.value(idea.instead) for idea in question.accepted)]
            right = any(all(close(both(*point), truth(*point)) for point in question.points) for truth in truths)
            assert message.good == right and not message.code.endswith("-wrong"), (one.code, other.code, message)


@pytest.mark.parametrize("name", QUESTIONS)
def test_other_conventions_are_as_right(name):
    question = QUESTIONS[name]
    for idea in question.accepted:
        steps, message = judge_bytes(Function(question.value(idea.instead)), question)
        assert message.good and all(step.share for step in steps) and idea.text in message.text


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("factor", [0.985, 0.995, 1.005, 1.015])
def test_one_percent_is_what_rounding_may_cost(name, factor):
    question = QUESTIONS[name]
    _, message = judge_bytes(Function(lambda *point: factor * question.value()(*point)), question)
    assert message.good == (abs(factor - 1) < 0.01)


@pytest.mark.parametrize(("value", "number"), [
    (3, 3), (2.5, 2.5), (Fraction(7, 2), Fraction(7, 2)), ("1,234,567", 1234567), ("21.4 GB", Fraction(214, 10) * 10**9),
    ("19.9GiB", Fraction(199, 10) * 2**30), ("1e9 bytes", 10**9), (" 2 b ", 2), ("5 kB", 5000), ("5 KiB", 5120),
    ("1_000 MB", 10**9),
    ([2, "TB"], 2 * 10**12), ([1.5, "gib"], 1.5 * 2**30), ("-1 GB", -10**9),
    ("GB", None), ("", None), ("21.4 Gb/s", None), ("x", None), (True, None), (None, None), ([1, 2], None), ({}, None),
    ("1.2.3", None), ("50%", None), ("nan", None),
])
def test_bytes_however_they_are_written(value, number):
    assert as_bytes(value) == number


def test_units_are_powers():
    assert UNITS["gb"] == 10**9 and UNITS["gib"] == 2**30 and UNITS["tb"] == 10**12 and UNITS["kib"] == 1024
    assert close(0.4, 0) and not close(1, 0) and not close("x", 0)


def test_a_learner_gets_records_with_the_micro_batches():
    layout, model = as_records(Layout(2, 2, 2, 4, 2), CARDS["c"].model)
    assert dict(layout) == {"tp": 2, "pp": 2, "dp": 2, "micro_batch_size": 4, "chunks": 2, "micro_batches": 4}
    assert list(model) == ["layers", "hidden", "heads", "sequence", "vocabulary", "global_batch"] and model.hidden == 6144


def test_an_answer_that_changes_what_it_is_handed_changes_nothing_else(session):
    greedy = bank.volumes(5, tp=f"[{bank.TP}, layout.clear(), model.update(hidden=0)][0]")
    assert_verdict(greedy, judged_locally(greedy))
    assert_verdict(greedy, judged_remotely(greedy, session))


# --- designs ----------------------------------------------------------------------------------------------


def test_the_full_marks_are_what_the_planner_finds_within_10_percent():
    for name, card in CARDS.items():
        found = search(card.model, card.cluster)
        for one in found:
            layout = one.layout
            verdict = judged_locally(design(name, 0, tp=layout.tp, pp=layout.pp, dp=layout.dp, b=layout.micro_batch_size,
                                            v=layout.chunks))
            full = one.step_seconds <= WITHIN * found[0].step_seconds
            assert (verdict.points == verdict.maximum) == full, (layout, verdict)
            assert verdict.points >= verdict.maximum / 2


def test_no_design_that_breaks_a_rule_gets_more_than_its_shape_is_worth():
    sizes = (1, 2, 3, 4, 5, 8)
    for name, card in CARDS.items():
        for tp, pp, dp, b in itertools.product(sizes, sizes, sizes, (1, 2, 3)):
            codes = [problem.code for problem in evaluate(Layout(tp, pp, dp, b), card.model, card.cluster, advice=False).problems]
            if codes:
                verdict = judged_locally(design(name, 0, tp=tp, pp=pp, dp=dp, b=b))
                assert verdict.points <= (1 if codes == ["memory"] else 0) and not any(m.good for m in verdict.messages)


def test_tp_across_nodes_is_over_twice_as_slow_on_card_c():
    verdict = judged_locally(design("c", 1.875, tp=8))
    assert any("2.26 times the fastest" in message.text for message in verdict.messages)
    best = layout_design.fastest(CARDS["c"])[0].step_seconds
    apart = evaluate(Layout(8, 1, 1, 1), CARDS["c"].model, CARDS["c"].cluster)
    assert apart.step_seconds > 2 * best and apart.links["tp"] == "across nodes"


def test_a_step_just_over_a_limit_is_shown_as_over_it(monkeypatch):
    for limit, _ in layout_design.SLOWER:
        case = design("a", 0, pp=8, b=8)
        card = CARDS["a"]
        slow = evaluate(Layout(1, 8, 1, 8), card.model, card.cluster, advice=False)
        fast = replace(slow, parts={name: seconds / (limit + 0.002) for name, seconds in slow.parts.items()})
        monkeypatch.setattr(layout_design, "fastest", lambda card, fast=fast: (fast,))
        said = judged_locally(case).messages[0].text
        assert float(said.split(" times the fastest")[0].split()[-1]) > limit


def test_an_unknown_entry_of_a_right_design_is_a_remark():
    sound, slow = ({message.code: message.good for message in judged_locally(case).messages} for case in (
        text("a", "dict(tp=1, pp=1, dp=8, micro_batch_size=1, zero=3)", 2),
        text("a", "dict(tp=1, pp=8, dp=1, micro_batch_size=8, zero=3)", 1)))
    assert sound["unknown-key"] and not slow["unknown-key"]


def test_both_layouts_of_card_c_are_named_as_equal():
    for tp, pp in ((2, 4), (4, 2)):
        (message,) = judged_locally(design("c", 3, tp=tp, pp=pp, v=2)).messages
        assert "tp2 pp4 dp1 and tp4 pp2 dp1" in message.text


def test_no_message_for_a_wrong_design_prints_the_answer():
    answers = {"a": ("dp8", "dp = 8", "dp=8"), "b": ("tp8", "tp4"), "c": ("tp2 pp4", "tp4 pp2")}
    for case in bank.WRONG_DESIGNS:
        for message in judged_locally(case).messages:
            said = message.text.split("found ")[0]
            assert message.good or not any(secret in said for secret in answers[case.grade_id[-1]]), message


def test_no_message_for_wrong_bytes_prints_the_formula():
    for case in bank.WRONG_VOLUMES + bank.WRONG_MEMORY:
        for message in judged_locally(case).messages:
            assert message.good or not any(secret in message.text for secret in (
                "8 b s h", "2 v", "2v", "min(", "6 + 12", "18 x", "(t-1)/t", "(d-1)/d", "12 h^2")), message
