"""What notebook 4 shows beside its exercises, and that it says why where there is nothing to show."""

import sys

import cloudpickle
import pytest

from course import Costs, schedules, simulate, violations
from course import notebook as nb
from course.lessons.chunk_runs import (
    lean_order,
    messages_of,
    other_order,
    side_by_side,
    stage_times,
    title_of,
    warm_ups,
    with_latency,
    your_formulas,
)
from course.lessons.virtual_stages import (
    map_of,
    parameters_of_stages,
    practise_layers,
    practise_orders,
    weight_of_the_head,
    your_map,
)
from course.pipeline import Sizes, close
from course.real_run import no_run, run_subject

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2, layers=4)
NOTHING = no_run("There was no run.")
LAYERS = {(0, 0): [0, 1], (1, 0): [2, 3], (2, 0): [4, 5], (0, 1): [6, 7]}


def ran(schedule, **options):
    return run_subject(schedule, schedule.stages, schedule.micro_batches, clock="virtual", sizes=SMALL, steps=1, **options)


@pytest.fixture(scope="module")
def runs():
    yield [ran(schedules.one_f_one_b(2, 4), costs=Costs(2, 2)), ran(schedules.interleaved_1f1b(2, 4, 2)),
           ran(lean_order(2, 4, 2))]
    close()


def shown(view):
    bundle = view._repr_mimebundle_()
    assert bundle["text/html"] and bundle["text/plain"] == repr(view)
    return repr(view)


def test_three_runs_of_one_model_side_by_side(runs):
    assert [title_of(run) for run in runs] == ["1F1B, one stage a rank", "Megatron's order, 2 chunks", "lean order, 2 chunks"]
    text = shown(side_by_side(*runs))
    rows = {line.split("  ")[0]: line.split()[-3:] for line in text.splitlines()}
    assert rows["messages sent in the step"] == ["8", "24", "24"] == [str(messages_of(run)) for run in runs]
    assert len(set(rows["loss of the last step"])) == 1
    factors = [float(factor) for factor in rows["the same against 1F1B"]]
    assert factors[1] > 1.2 and factors[0] == 1 == round(factors[2], 1)
    assert shown(side_by_side(runs[0], NOTHING)) == shown(NOTHING) and "busy" not in text


def test_the_other_order(runs):
    assert other_order(runs[1]) == lean_order(2, 4, 2)
    assert other_order(runs[2]) == schedules.interleaved_1f1b(2, 4, 2)
    assert other_order(NOTHING) is NOTHING
    for sizes in ((1, 2, 2), (2, 2, 1), (4, 8, 3)):
        assert not violations(lean_order(*sizes))


def test_the_learners_formulas_beside_the_runs(runs):
    def no_number(p, v):
        return 1 / 0

    text = shown(your_formulas(lambda p, m, v: (p - 1) / (v * m + p - 1), lambda p, m, v: 2 * m * (p * v - 1), no_number, *runs))
    assert "11.1%" in text and "24" in text and "ZeroDivisionError" in text and "1.16%" in text
    assert shown(your_formulas(len, len, len, runs[0], NOTHING)) == shown(NOTHING)


def interleaved_1f1b(p, m, v, rank):
    return [*map(str, schedules.interleaved_1f1b(p, m, v).ranks[rank])]


def test_a_function_of_orders_with_chunks_is_shown_and_run():
    wanted = shown(nb.show(schedules.interleaved_1f1b(2, 2, 2), summary=False))
    found = shown(nb.show(interleaved_1f1b, stages=2, micro_batches=2, chunks=2, summary=False))
    assert found == f"{wanted}\n\nThe step takes 10 slots."
    assert "raised TypeError" in shown(nb.show(interleaved_1f1b, stages=2, micro_batches=2))
    run = run_subject(interleaved_1f1b, 2, 2, chunks=2, clock="virtual", sizes=SMALL, steps=1)
    assert run.slots == 10 and "chunks whose activations are held at most, per rank" in shown(run.numbers())


def test_warm_ups_and_what_is_held():
    rows = [line.split("  ") for line in shown(warm_ups(4, 8, 2)).splitlines()[2:]]
    orders = (schedules.one_f_one_b(4, 8), 2), (lean_order(4, 8, 2), 1), (schedules.interleaved_1f1b(4, 8, 2), 1)
    for row, (order, weight) in zip(rows, orders, strict=True):
        fronts = [[operation.kind for operation in rank].index("B") - 1 for rank in order.ranks]
        held = [weight * peak for peak in simulate(order).peak_activations]
        assert [part.strip() for part in row if part.strip()][2:] == [", ".join(map(str, numbers)) for numbers in (fronts, held)]


def test_latency_as_the_course_states_it():
    rows = {line.split()[0]: line.split()[1:] for line in shown(with_latency(4, 8, 2, [0, 0.25, 2])).splitlines()[2:]}
    assert rows["0.25"] == ["48", "45.5", "41.5"] and rows["0"] == ["44", "38", "38"]
    assert rows["2"] == ["76", "98", "76"]


def test_stage_times_of_layers():
    assert stage_times([1, 1, 1, 1, 2, 2, 1, 1], 4) == [2, 2, 4, 2]
    heavy = stage_times([1, 1, 1, 1, 2, 2, 1, 1], 8)
    assert simulate(schedules.interleaved_1f1b(4, 8, 2), Costs(heavy, heavy)).makespan == 52


@pytest.mark.parametrize(("more", "words"), [
    ({}, "rank 1, chunk 1: still to fill in"), ({(1, 1): ..., (2, 1): ...}, "rank 2, chunk 1: still"),
    ({(1, 1): [8, 9], (2, 1): [10, 11]}, "Right: every layer"), ({(1, 1): range(8, 10), (2, 1): (11, 10)}, "Right: every layer"),
    ({(1, 1): ["8", "9"], (2, 1): [11.0, 10.0]}, "Right: every layer"), ({(1, 1): [8.5, 9]}, "a list of layers is wanted"),
    ({(3, 1): [8, 9]}, "There is no (3, 1) here"),
    ({(1, 1): [4, 5]}, "It is stage 4, with 2 layers"), ({(1, 1): "8 and 9"}, "a list of layers is wanted"),
    ({(1, 1): {9, 8}}, "chunk 1 (stage 4): layers 8-9"), ({(1, 1): {"8", "9"}}, "a list of layers is wanted"),
        ({(1, 1): None}, "a list of layers is wanted"),
])
def test_the_table_with_gaps(more, words):
    assert words in shown(practise_layers(LAYERS | more, layers=12, ranks=3, chunks=2))


ORDERS = """
0F0 0F1 0F2 3F0 3F1 3F2 3B0 3B1 3B2 0B0 0B1 0B2
1F0 1F1 1F2 4F0 4F1 4F2 4B0 4B1 4B2 1B0 1B1 1B2
2F0 2F1 2F2 5F0 {}
"""


@pytest.mark.parametrize(("end", "words"), [
    ("?", "Rank 2: still to fill in"), ("...", "Rank 2: still to fill in"), ("5B0 2F7 ?", "2F7 on rank 2 does not exist"),
    ("5B0 5F1 5B1 5F2 5B2 2B0 2B1 2B2", "Practice: right"),
    ("5F1 5F2 5B0 5B1 5B2 2B0 2B1 2B2", "2 more than in Megatron's order"), ("5B0 X", "Rank 2: item 5"),
    ("5B0 5F1 5B1 5F2 5B2 2B0 2B1 2B2\n2F0", "3 lines are wanted"), ("F1", "does not say its stage"),
    ("5B0,5F1, '5B1', 5F2 5B2; 2B0 2B1 2B2", "Practice: right"), ("5B0", "rank 2 lacks 2B0"),
    ("2B0 5B0 5F1 5B1 5F2 5B2 2B1 2B2", "rank 2 is at 2B0 and waits for 3B0"),
])
def test_orders_to_finish(end, words):
    lines = ORDERS.format(end).strip().splitlines()
    assert words in shown(practise_orders(lines, ranks=3, micro_batches=3, chunks=2))
    assert words in shown(practise_orders(ORDERS.format(end), ranks=3, micro_batches=3, chunks=2))


@pytest.mark.parametrize(("function", "words"), [
    (lambda L, p, v, r, c: [r, c], "chunk 1 (stage 2): layers 0-1"), (lambda L, p, v, r, c: "0", "No map: rank 0, chunk 0 gave"),
    (lambda L, p, v, r, c: ["0", 1.0], "chunk 1 (stage 2): layers 0-1"), (list, "No map"), (..., "No map"),
    (lambda L, p, v, r, c: [0.5], "No map"),
])
def test_a_map_of_the_learners_function(function, words):
    assert words in shown(your_map(function, 8, 2, 2))


def test_maps_heads_and_parameters(runs):
    assert "8 layers, 2 ranks, 1 chunk each" in shown(map_of(8, 2, 1))
    text = shown(weight_of_the_head(51200, [1024, 12288], layers=48, ranks=4, micro_batches=32))
    assert "4.2" in text and "0.35" in text and "8.6%" in text
    assert "stage 1" in shown(parameters_of_stages(runs[0])) and parameters_of_stages(NOTHING) is NOTHING
