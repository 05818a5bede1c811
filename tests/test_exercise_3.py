import json
import math
import re
import time
from fractions import Fraction
from pathlib import Path

import pytest

from autograder.session import Session
from course import Costs, simulate
from course.answers import LocalAnswer
from course.checks import best_micro_batch_size as limits
from course.checks import bubble_fraction as fraction
from course.checks import bubble_steps, bubble_uses
from course.exercises import EXERCISES, judge
from course.formulas import bubble_fraction, bubble_over_ideal, micro_batches_needed, to_fraction_of_total, total_slots
from course.lessons import bubble
from course.schedules import gpipe, one_f_one_b
from tests import bank_3_bubble_fraction as bank
from tests.bank import assert_verdict, bank_tests, judged_locally, judged_remotely
from tests.bank_3_bubble_uses import ENDLESS

CASES = bank.RIGHT + bank.WRONG
REFERENCE = Path(__file__).parent / "reference"
SIZES = [(1, 1), (1, 6), (2, 1), (8, 4), (3, 7), (4, 8), (5, 40), (8, 64)]


@pytest.fixture(scope="module")
def session():
    with Session(seconds=2) as session:
        yield session


test_bank_in_the_notebook, test_bank_from_outside = bank_tests(CASES)


def test_what_never_ends_is_stopped_and_said():
    with Session(seconds=0.3) as short:
        assert_verdict(ENDLESS, judged_remotely(ENDLESS, short))
    namespace = {}
    exec(ENDLESS.source, namespace)
    assert_verdict(ENDLESS, judge(ENDLESS.grade_id, LocalAnswer(namespace["micro_batches_needed"], seconds=0.3)))


def test_enough_answers_of_each_kind():
    for grade_id in ("ex3-derive", "ex3-use", "ex3-inverse", "ex3-definitions", "ex3-limits"):
        assert sum(case.grade_id == grade_id for case in bank.RIGHT) >= 5
        assert len({case.source for case in bank.WRONG if case.grade_id == grade_id}) >= 8
    assert len({code for case in bank.WRONG for code in case.codes}) >= 40


def test_points_of_the_table():
    parts = [entry for entry in EXERCISES.values() if entry.notebook == "3_bubble_fraction"]
    assert {entry.grade_id: entry.points for entry in parts} == {
        "ex3-derive": 8, "ex3-use": 4, "ex3-inverse": 3, "ex3-definitions": 2, "ex3-limits": 3}
    for case in bank.RIGHT:
        verdict = judged_locally(case)
        assert verdict.points == verdict.maximum == sum(step.points for step in verdict.steps)


def test_no_message_for_a_wrong_answer_prints_the_answer():
    secrets = ("3/11", "7/71", "(p-1)/(m+p-1)", "(p - 1) / (m + p - 1)", "2 * (m + p - 1)", "(p-1)/m", "x/(1+x)", "(p - 1) / m")
    for case in bank.WRONG:
        for message in judged_locally(case).messages:
            text = re.sub(r"` = [^:]*:", "", message.text).split("returned ")[0]
            assert message.good or not any(secret in text for secret in secrets), message


@pytest.mark.parametrize("factor", [1, 2, 3, Fraction(1, 2), 0.7, 10, 1e6])
@pytest.mark.parametrize("per_stage", [False, True])
def test_any_unit_is_right(factor, per_stage):
    def total(p, m):
        return factor * (p if per_stage else 1) * (m + p - 1)

    def busy(p, m):
        return factor * (p if per_stage else 1) * m

    verdict = judge("ex3-derive", *map(LocalAnswer, (total, busy, bubble_fraction)))
    assert verdict.points == 8, verdict.messages


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("failing", [lambda p, m: 1 / 0, lambda p, m: None, lambda p, m: "text", lambda p, m: float("nan"), 5])
def test_one_function_that_fails_leaves_the_others_their_points(place, failing):
    functions = [total_slots, lambda p, m: 2 * m, bubble_fraction]
    functions[place] = failing
    verdict = judge("ex3-derive", *map(LocalAnswer, functions))
    assert verdict.points == 8 - (3, 2, 3)[place]
    assert [message.good for message in verdict.messages] == [index != place for index in range(3)]


def test_the_same_questions_are_right_by_simulation():
    for p, m in SIZES:
        timelines = simulate(gpipe(p, m)), simulate(one_f_one_b(p, m))
        assert {timeline.makespan for timeline in timelines} == {total_slots(p, m)}
        assert {timeline.bubble_fraction for timeline in timelines} == {bubble_fraction(p, m)}
        assert {timeline.bubble_over_ideal for timeline in timelines} == {bubble_over_ideal(p, m)}
        assert to_fraction_of_total(bubble_over_ideal(p, m)) == bubble_fraction(p, m)


def test_the_inverse_is_asked_away_from_equality():
    for p, share in bubble_uses.SEVERAL:
        exact = bubble_uses.exact(p, share)
        assert min(exact % 1, 1 - exact % 1) > Fraction(1, 5) or (share in (0.5, 0.25) and exact % 1 == 0), (p, share)
        m = micro_batches_needed(p, share)
        assert bubble_fraction(p, m) <= share and (m == 1 or bubble_fraction(p, m - 1) > share)
    assert micro_batches_needed(4, Fraction(1, 10)) == 27 and micro_batches_needed(8, 0.1) == 63
    assert micro_batches_needed(1, 0.1) == 1


@pytest.mark.parametrize("needed", [
    lambda p, f: max(1, math.ceil((p - 1) * (1 - f) / f)), lambda p, f: max(1, math.ceil((p - 1) / f - (p - 1))),
    lambda p, f: max(1, math.ceil((p - 1) * (1 / f - 1))), lambda p, f: max(1, math.ceil((p - 1) / (f / (1 - f)))),
    lambda p, f: next(m for m in range(1, 10**4) if (p - 1) / (m + p - 1) <= f),
    lambda p, f: next(m for m in range(1, 10**4) if 1 - m / (m + p - 1) <= f),
    lambda p, f: next(m for m in range(1, 10**4) if ((p - 1) / m) / (1 + (p - 1) / m) <= f),
    lambda p, f: next(m for m in range(1, 10**4) if m / (m + p - 1) >= 1 - f),
    lambda p, f: next(m for m in range(1, 10**4) if 100 * (p - 1) / (m + p - 1) <= 100 * f),
])
def test_right_algebra_in_floats_does_not_round_where_equality_is_asked(needed):
    exact = [(p, share) for p, share in bubble_uses.SEVERAL if bubble_uses.exact(p, share) % 1 == 0]
    assert len(exact) >= 3
    for p, share in [*exact, *((p, share) for p in range(2, 30) for share in (0.5, 0.25))]:
        assert needed(p, share) == micro_batches_needed(p, share)


@pytest.mark.parametrize(("total", "words"), [
    (lambda p, m: 2 * (m + 3), "`total_slots(1, 1)` returned 8: not right"),
    (lambda p, m: 2 * (m + p - 1) if p > 1 else m, "`total_slots(1, 1)` returned 1: not right"),
    (lambda p, m: 2 * (m + p - 1) if m > 1 else p, "`total_slots(1, 1)` returned 1: not right"),
    (lambda p, m: 2 * (m + p - 1) if m >= p else 2 * (m + p), "`total_slots(2, 1)` returned 6: not right"),
    (lambda p, m: m + p - 1 if p < 10 else 7, "`total_slots(16, 128)` returned 7: not right"),
])
def test_a_wrong_size_is_one_at_which_it_is_wrong(total, words):
    verdict = judge("ex3-derive", *map(LocalAnswer, (total, lambda p, m: 2 * m, bubble_fraction)))
    assert verdict.messages[0].text.startswith(words)


@pytest.mark.parametrize(("factor", "stages", "words"), [
    (2, 1, "one micro-batch included."), (1, 1, "in pairs of a forward and a backward."), (10, 1, "take 10."),
    (2, 4, "included, counted over all stages."), (1, 4, "all stages, in pairs"),
])
def test_a_unit_of_ones_own_is_said(factor, stages, words):
    def total(p, m):
        return factor * (p if stages > 1 else 1) * (m + p - 1)

    def busy(p, m):
        return factor * (p if stages > 1 else 1) * m

    verdict = judge("ex3-derive", *map(LocalAnswer, (total, busy, bubble_fraction)))
    assert verdict.points == 8 and all(words in message.text for message in verdict.messages[:2])
    note = "another unit" in repr(bubble.your_formula(total, busy, bubble_fraction))
    assert note == ((factor, stages) != (2, 1))


def test_the_best_micro_batch_size_by_simulation():
    for case in limits.ONE_REPLICA + limits.REPLICAS:
        steps = {}
        for b, seconds in case.times.items():
            m = case.global_batch // (b * case.dp)
            assert m * b * case.dp == case.global_batch
            half = Fraction(seconds).limit_denominator(10**6) / 2
            steps[b] = simulate(gpipe(case.p, m), Costs(half, half)).makespan
        assert case.best(case.step) == {b for b, step in steps.items() if step == min(steps.values())}
    ties = [case for case in limits.ONE_REPLICA if len(case.best(case.step)) > 1]
    assert ties
    for pick in (min, max):
        verdict = judge("ex3-limits", LocalAnswer(lambda batch, p, dp, times, pick=pick: pick(
            (limits.Case(batch, p, dp, times)).best(limits.Case(batch, p, dp, times).step))))
        assert verdict.points == 3


def test_each_trap_of_the_best_size_is_told_apart():
    for code, _, pick in limits.SLIPS:
        verdict = judge("ex3-limits", LocalAnswer(lambda *arguments, pick=pick: next(iter(pick(limits.Case(*arguments))))))
        assert verdict.messages[0].code == code and verdict.points == 2 * (code == "forgets-dp")


@pytest.mark.parametrize("key", bubble_steps.FORMULAS)
def test_the_steps_of_the_derivation(key):
    formula = bubble_steps.FORMULAS[key]
    assert bubble_steps.sizes(key) == bubble_steps.sizes(key) and min(bubble_steps.sizes(key)) >= (1, 2)
    right = bubble_steps.judge_step(key, LocalAnswer(lambda p, m: float(formula.truth(p, m))))
    assert right.points == 1 and right.codes == (f"{key}-right",)
    for slip in formula.slips:
        assert bubble_steps.judge_step(key, LocalAnswer(slip.formula)).codes == (slip.code,)
    assert bubble_steps.judge_step(key, LocalAnswer(lambda p, m: ...)).codes == ("unanswered",)
    assert bubble_steps.judge_step(key, LocalAnswer(...)).codes == ("unanswered",)
    assert "lambda p, m:" in bubble_steps.judge_step(key, LocalAnswer(3)).messages[0].text
    for answer in (3, lambda p, m: 1 / 0, lambda p, m: 77, lambda p, m: None):
        text = bubble_steps.judge_step(key, LocalAnswer(answer)).messages[0].text
        assert "`formula" not in text and "def " not in text and (answer == 3 or f"`{key}" in text), text
    for odd in (lambda p, m: p * m + 77, lambda p, m: 1 / 0, 3, lambda p: p, "2*m"):
        found = bubble_steps.judge_step(key, LocalAnswer(odd))
        assert found.points == 0 and found.messages


def test_a_step_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'middle'; there are start, forwards"):
        bubble_steps.judge_step("middle", LocalAnswer(1))


def test_the_steps_are_those_of_a_simulation():
    for p, m in SIZES:
        timeline = simulate(gpipe(p, m))
        forwards = [span for span in timeline.spans if span.rank == p - 1 and span.operation.kind == "F"]
        numbers = {"start": forwards[0].start, "forwards": forwards[-1].end, "total": timeline.makespan,
                   "busy": timeline.work // p, "idle": timeline.makespan - timeline.work // p,
                   "fraction": timeline.bubble_fraction}
        assert {key: formula.truth(p, m) for key, formula in bubble_steps.FORMULAS.items()} == numbers


def test_published_values():
    rows = json.loads((REFERENCE / "schedules.json").read_text(encoding="utf-8"))
    found = {(row[0], row[1], row[2]): row for row in rows["rows"] if row[3] == 1 or row[0] == "zb_h1"}
    for name, p, m in (("gpipe", 4, 4), ("1f1b", 4, 4), ("gpipe", 4, 8), ("1f1b", 4, 8), ("gpipe", 8, 64), ("1f1b", 8, 64)):
        row = found[name, p, m]
        assert (row[4], row[5]) == (total_slots(p, m), total_slots(p, m, backward=2))
        assert Fraction(row[6]) == Fraction(row[7]) == bubble_fraction(p, m)
    assert found["zb_h1", 4, 8][6:8] == ["3/19", "1/9"]  # where a backward is split the ratio counts


def test_the_published_runs_are_those_of_the_paper():
    table = json.loads((REFERENCE / "published.json").read_text(encoding="utf-8"))["megatron_table_1"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    plain = [row for row in rows if row["pp"] > 1 and row["layers_per_virtual_stage"] is None]
    replicas = [row["gpus"] // (row["tp"] * row["pp"]) for row in plain]
    assert [entry[1:] for entry in bubble.PUBLISHED] == [
        (row["pp"], row["global_batch"], row["micro_batch_size"], dp) for row, dp in zip(plain, replicas, strict=True)]
    assert [entry[0] for entry in bubble.PUBLISHED] == ["39 billion parameters", "1 trillion parameters"]
    assert [round(row["params_billion"]) for row in plain] == [39, 1008]


def test_each_check_answers_within_a_second():
    for grade_id in ("ex3-derive", "ex3-use", "ex3-inverse", "ex3-definitions", "ex3-limits"):
        case = next(case for case in bank.RIGHT if case.grade_id == grade_id)
        begin = time.perf_counter()
        judged_locally(case)
        assert time.perf_counter() - begin < 1


def test_the_checks_ask_for_the_edges():
    assert (1, 1) in fraction.POINTS and any(p == 1 < m for p, m in fraction.POINTS) and any(m < p for p, m in fraction.POINTS)
    assert any(p >= 16 and m >= 128 for p, m in fraction.POINTS)
