"""Exercise 4: the bank of answers through both kinds of answers, and what its checks claim, against the simulator."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from autograder.session import Session
from course import Costs, schedules, simulate
from course.answers import LocalAnswer
from course.checks import chunk_costs, megatron_flags, virtual_stages
from course.checks.interleaved_slips import SLIPS
from course.exercises import EXERCISES, judge
from course.formulas import (
    activation_factor,
    boundary_messages,
    bubble_fraction,
    chunks_of_flag,
    layers_of_chunk,
    leanest_chunks,
    peak_chunks,
    total_slots,
)
from course.lessons.chunk_runs import lean_order
from tests import bank_4_virtual_stages as bank
from tests.bank import bank_tests, judged_locally
from tests.headless import ROOT, outputs, run_notebook
from tools.sources import read_cells

CASES = bank.RIGHT + bank.WRONG
SIZES = [(p, m, v) for p in (1, 2, 3, 4, 8) for m in (p, 2 * p, 4 * p) for v in (1, 2, 3, 5)]
NAME = "4_virtual_stages"
SOURCE = ROOT / "solutions" / "pipeline_parallelism" / f"{NAME}.py"


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session


test_bank_in_the_notebook, test_bank_from_outside = bank_tests(CASES)


@pytest.mark.parametrize(("grade_id", "right", "wrong"), [
    ("ex4-layers", bank.RIGHT_LAYERS, bank.WRONG_LAYERS), ("ex4-flags", bank.RIGHT_FLAGS, bank.WRONG_FLAGS),
    ("ex4-order", bank.RIGHT_ORDERS, bank.WRONG_ORDERS), ("ex4-cost", bank.RIGHT_COSTS, bank.WRONG_COSTS)])
def test_the_bank_is_wide_enough(grade_id, right, wrong):
    assert len(right) >= 5 and len(wrong) >= 8
    assert {case.grade_id for case in right + wrong} == {grade_id}
    assert all(case.points == EXERCISES[grade_id].points for case in right)
    assert all(case.codes and case.points < EXERCISES[grade_id].points for case in wrong)


def test_every_slip_is_met_by_an_answer_of_the_bank():
    met = {code for case in bank.WRONG for code in case.codes}
    slips = (*virtual_stages.SLIPS, *megatron_flags.SLIPS, *SLIPS, *chunk_costs.BUBBLE_SLIPS, *chunk_costs.MESSAGE_SLIPS,
             *chunk_costs.FACTOR_SLIPS)
    assert {slip.code for slip in slips} <= met


def test_points_of_the_table():
    parts = [entry for entry in EXERCISES.values() if entry.notebook == NAME]
    assert [(entry.grade_id, entry.points) for entry in parts] == [
        ("ex4-layers", 3), ("ex4-flags", 4), ("ex4-order", 5), ("ex4-cost", 4), ("ex4-explain", 4)]
    assert [entry.manual for entry in parts] == [False] * 4 + [True]
    for entry in parts[:-1]:
        case = next(case for case in bank.RIGHT if case.grade_id == entry.grade_id)
        assert sum(step.points for step in judged_locally(case).steps) == entry.points


def test_a_function_that_never_ends_costs_one_time_limit():
    def endless(*_):
        while True:
            pass

    for grade_id, answers in (("ex4-order", 1), ("ex4-layers", 1), ("ex4-cost", 3)):
        verdict = judge(grade_id, *[LocalAnswer(endless, seconds=0.05)] * answers)
        assert verdict.points == 0 and "too-slow" in [message.code for message in verdict.messages]
    verdict = judge("ex4-flags", LocalAnswer(endless, seconds=0.05), LocalAnswer({"dp": 1, "m": 64, "v": 4}))
    assert verdict.points == 1.5 and [message.code for message in verdict.messages] == ["too-slow", "lesson-right"]


def test_no_message_for_a_wrong_answer_prints_the_answer():
    for case in bank.WRONG:
        for message in judged_locally(case).messages:
            said = message.text.split("ound ")[0].split("returned ")[0]
            assert message.good or not re.search(r"3/259|3/19|\b112\b|11/8|1\.375|2 ?\(p-rank-1\) \+", said), message


# --- the closed forms against the simulator ----------------------------------------------------------------


@pytest.mark.parametrize(("p", "m", "v"), SIZES)
def test_the_formulas_are_what_the_simulator_says(p, m, v):
    for backward in (1, 2):
        for order in (schedules.interleaved_1f1b(p, m, v), lean_order(p, m, v)):
            timeline = simulate(order, Costs(1, backward))
            assert timeline.makespan == total_slots(p, m, 1, backward, v)
            assert timeline.bubble_fraction == bubble_fraction(p, m, v)
            held = peak_chunks if order.name else leanest_chunks
            assert timeline.peak_activations == tuple(held(p, m, v, rank) for rank in range(p))
    if v > 1 and m >= 2 * p:
        ours, plain = (simulate(schedules.interleaved_1f1b(p, m, chunks)).peak_activations[0] for chunks in (v, 1))
        assert activation_factor(p, v) == Fraction(ours, v * plain)
    assert boundary_messages(p, m, v) == 2 * m * (p * v - 1)
    held = [layers_of_chunk(6 * p * v, p, v, rank, chunk) for rank in range(p) for chunk in range(v)]
    assert sorted(layer for row in held for layer in row) == [*range(6 * p * v)]


def test_published_values():
    reference = Path(__file__).parent / "reference"
    for name, p, m, v, slots, slow, bubble, _, peaks in json.loads((reference / "schedules.json").read_text())["rows"]:
        if name == "interleaved_1f1b":
            assert (total_slots(p, m, v=v), total_slots(p, m, 1, 2, v)) == (slots, slow)
            assert str(bubble_fraction(p, m, v)) == bubble
            assert [peak_chunks(p, m, v, rank) for rank in range(p)] == peaks
    published = json.loads((reference / "published.json").read_text())
    table = published["megatron_table_1"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    for row in rows:
        if row["layers_per_virtual_stage"]:
            v = chunks_of_flag(row["layers"], row["pp"], row["layers_per_virtual_stage"])
            assert v * row["pp"] * row["layers_per_virtual_stage"] == row["layers"] and v in (2, 3)
    table = published["korthikanti"]
    for row in (dict(zip(table["columns"], row, strict=True)) for row in table["rows"]):
        s, b, h, t, a = 2048, row["micro_batch_size"], row["hidden"], row["tp"], row["heads"]
        layer = s * b * h * (10 + 24 / t + 5 * a * s / (h * t))
        factor = activation_factor(row["pp"], row["chunks"]) if row["chunks"] > 1 else 1
        assert float(factor) * row["layers"] * layer / 2**30 == pytest.approx(row["activation_gib_tp_only"])


def test_the_lessons_run():
    assert megatron_flags.RUN == {"dp": 1, "m": 64, "v": 4}
    assert megatron_flags.CONFIG.global_batch() == 128 and megatron_flags.CONFIG.bubble() == Fraction(3, 67)
    assert bubble_fraction(4, 64, 4) == Fraction(3, 259)


@pytest.mark.parametrize(("arguments", "wanted"), [
    ((48, 4, 3), 4), ((48, 4, 6), 2), ((48, 4, 12), None), ((48, 1, 48), None), ((48, 2, 6), 4), ((48, 2, 6, False), "too small"),
    ((48, 4, 5), "--num-layers-per-virtual-pipeline-stage 5"), ((48, 4, 24), "stage 24"), ((48, 1, 6), "too small"),
    ((50, 4, 5), "--num-layers 50")])
def test_megatrons_rules(arguments, wanted):
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=wanted):
            chunks_of_flag(*arguments)
    else:
        assert chunks_of_flag(*arguments) == wanted


def test_what_has_no_closed_form_is_refused():
    with pytest.raises(ValueError, match="layers = 10: a multiple of p v = 4"):
        layers_of_chunk(10, 2, 2, 0, 0)
    with pytest.raises(ValueError, match="at least 2"):
        activation_factor(4, 1)


def test_nothing_is_shorter_than_what_the_check_asks_for():
    """Random legal orders of these stages: none beats the length that counts as the shortest."""
    import random
    chance = random.Random(4)
    p, m, v = 2, 2, 2
    stages = p * v
    for _ in range(300):
        ready, ends, free, done = {(s, "F", i) for s in (0,) for i in range(m)}, {}, [0] * p, 0
        while ready:
            stage, kind, i = chance.choice(sorted(ready))
            ready.remove((stage, kind, i))
            needs = [(stage - 1, "F", i)] if kind == "F" else [(stage, "F", i), (stage + 1, "B", i)]
            start = max([free[stage % p], *(ends[need] for need in needs if need in ends)])
            ends[stage, kind, i] = free[stage % p] = start + 1
            after = ((stage + 1, "F", i) if stage < stages - 1 else (stage, "B", i)) if kind == "F" else (stage - 1, "B", i)
            if after[0] >= 0:
                ready.add(after)
            done += 1
        assert done == 2 * m * stages and max(free) >= total_slots(p, m, v=v)


# --- the notebook ------------------------------------------------------------------------------------------


def test_no_released_cell_gives_an_answer_away(tmp_path):
    notebook = run_notebook("notebooks", f"{NAME}.ipynb", tmp_path)
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    for secret in ("0F3 4F0", "3/259", "1.16%", "11, 9, 7, 5", "1.375", "layers 12-14"):
        assert secret not in shown, secret


def test_the_rubric_is_with_the_instructor_only():
    manual = next(cell.source for cell in read_cells(SOURCE) if cell.grade_id == "ex4-explain")
    assert "Rubric" in manual and manual.count("\n1. ") == manual.count("\n4. ") == 1
    released = (ROOT / "notebooks" / "pipeline_parallelism" / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "Rubric" not in released


def test_the_numbers_in_the_text():
    """Each number that the text states about a run or a schedule, from the simulator."""
    text = " ".join(cell.source.replace("\n", " ") for cell in read_cells(SOURCE) if cell.kind == "markdown")
    plain, chunks = schedules.one_f_one_b(4, 8), schedules.interleaved_1f1b(4, 8, 2)
    slow, fast = [2, 2, 4, 2], [2, 2, 2, 2]
    facts = {
        f"(m+p-1)(2+2) = {simulate(schedules.one_f_one_b(2, 4), Costs(2, 2)).makespan} slots": 1,
        "Megatron takes warm-ups of {}, {} and {} forwards".format(*(peak_chunks(3, 6, 3, rank) - 1 for rank in range(3))): 1,
        f"its 2 forwards above, and its {peak_chunks(3, 6, 3, 2) - 1} here": peak_chunks(2, 4, 2, 1) - 1 == 2,
        f"was {simulate(plain).bubble_fraction} without chunks": 1,
        f"Without chunks {boundary_messages(4, 8)} messages were sent": 1,
        f"rank 0 holds {simulate(chunks).peak_activations[0]} chunks, as much as "
        f"{simulate(chunks).peak_activations[0] / 2} micro-batches": 1,
        f"where 1F1B held {simulate(plain).peak_activations[0]}": 1,
        f"{simulate(plain, Costs(slow, slow)).makespan} slots in place of {simulate(plain, Costs(fast, fast)).makespan}": 1,
        f"where it took {simulate(chunks).makespan} with equal layers": 1,
        f"from {float(bubble_fraction(4, 8)):.1%} to {float(bubble_fraction(4, 8, 2)):.1%}": 1,
        f"here {boundary_messages(4, 8, 2)} in place of {boundary_messages(4, 8)}": 1,
        f"= {float(activation_factor(4, 2))} times 1F1B's": 1,
    }
    assert {fact: text.count(fact) for fact in facts} == facts
