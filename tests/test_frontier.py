import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Costs, Operation, Schedule, simulate, violations
from course.floors import memory_floor, step_floor
from course.frontier import frontier, shortest
from course.schedules import one_f_one_b
from tests.random_schedules import legal_schedules


def every_schedule(homes, micro_batches, kinds):
    """All legal schedules: every sequence of every rank with every one of the others; stage 0's forwards give the numbers."""
    rows, firsts = [], [Operation(0, "F", number) for number in range(micro_batches)]
    for rank in sorted(set(homes)):
        own = [Operation(stage, kind, number) for stage, home in enumerate(homes) if home == rank
               for kind in kinds for number in range(micro_batches)]
        rows.append([order for order in itertools.permutations(own)
                     if [op for op in order if op in firsts] == firsts * (homes[0] == rank)
                     and all(order.index(Operation(op.stage, before, op.micro_batch)) < place
                             for place, op in enumerate(order) for before in kinds[:kinds.index(op.kind)][-1:])])
    for ranks in itertools.product(*rows):
        schedule = Schedule(ranks, homes, micro_batches)
        if not violations(schedule):
            yield schedule


def corners_of(schedules, costs):
    """Step and memory of the schedules that no other one beats in both, by looking at each."""
    least = {}
    for schedule in schedules:
        timeline = simulate(schedule, costs)
        held = Fraction(max(timeline.peak_activations), schedule.chunks)
        least[timeline.makespan] = min(held, least.get(timeline.makespan, held))
    corners = []
    for step in sorted(least):
        if not corners or least[step] < corners[-1][1]:
            corners.append((step, least[step]))
    return corners


@pytest.mark.parametrize(("homes", "micro_batches", "kinds"), [
    ((0, 1), 3, "FB"), ((0, 1, 2), 2, "FB"), ((0, 1), 2, "FIW"), ((0, 1, 1, 0), 1, "FIW"), ((0, 1, 0), 1, "FIW"),
    ((0, 0), 2, "FB"), ((0,), 2, "FIW")])
def test_the_frontier_is_that_of_all_schedules_looked_at_one_by_one(homes, micro_batches, kinds):
    everything = list(every_schedule(homes, micro_batches, kinds))
    uneven = Costs([3, 1, 2, 1][:len(homes)], input_grad=1, weight_grad=3)
    for costs in (Costs(1, 2, latency=Fraction(1, 2)), uneven):
        found = frontier(homes, micro_batches, costs, split="W" in kinds)
        assert [(step, memory) for step, memory, _ in found] == corners_of(everything, costs)


@pytest.mark.parametrize(("homes", "split"), [((0, 1, 2), False), ((0, 1, 2), True), ((0, 1, 1, 0), False), ((0, 1, 0), True)])
@settings(max_examples=6)
@given(micro_batches=st.integers(1, 2), times=st.tuples(*[st.integers(0, 3)] * 3),
       latency=st.sampled_from([0, 1, Fraction(1, 2)]))
def test_each_corner_comes_with_a_schedule_that_takes_and_holds_what_it_says_and_is_at_or_above_the_floors(
        homes, split, micro_batches, times, latency):
    forward, inputs, weights = times
    costs = Costs(1 + forward, input_grad=inputs, weight_grad=weights, latency=latency)
    corners = frontier(homes, micro_batches, costs, split)
    assert [step for step, _, _ in corners] == sorted({step for step, _, _ in corners})
    assert [memory for _, memory, _ in corners] == sorted({memory for _, memory, _ in corners}, reverse=True)
    for step, memory, schedule in corners:
        timeline = simulate(schedule, costs)
        assert violations(schedule) == [] and timeline.makespan == step
        assert Fraction(max(timeline.peak_activations), schedule.chunks) == memory
        assert step_floor(homes, micro_batches, costs, split) <= step
        assert memory_floor(homes, micro_batches, costs, split, step=step) <= memory


@settings(max_examples=25)
@given(st.data())
def test_no_legal_schedule_is_below_the_frontier(data):
    split = data.draw(st.booleans())
    schedule = data.draw(legal_schedules(most_micro_batches=3, split=split, most_ranks=3))
    costs = Costs(1, data.draw(st.integers(1, 3)), latency=data.draw(st.sampled_from([0, 1])))
    timeline = simulate(schedule, costs)
    room = max(timeline.peak_activations)
    assert shortest(schedule.stage_to_rank, schedule.micro_batches, costs, split, room).step <= timeline.makespan


def test_1f1b_is_a_corner_and_the_next_ones_cost_time():
    corners = frontier((0, 1, 2, 3), 4)
    assert [(step, memory) for step, memory, _ in corners] == [(14, 4), (16, 3), (18, 2), (32, 1)]
    assert simulate(one_f_one_b(4, 4)).makespan == 14


@pytest.mark.parametrize(("make", "words"), [
    (lambda: frontier((0, 1), 2, Costs(single={"0F0": 2})), ["single", "leave single out"]),
    (lambda: frontier((0, 1), 2, Costs(message=1)), ["message", "at 0"]),
    (lambda: shortest((0, 1, 1, 0), 2, room=1), ["room = 1", "need 2"]),
    (lambda: frontier((0, 1), 0), ["micro_batches = 0"]),
])
def test_what_cannot_be_searched_says_so(make, words):
    with pytest.raises(ValueError) as error:
        make()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_a_size_that_is_too_large_is_given_up(monkeypatch):
    monkeypatch.setattr("course.frontier.MOST_STATES", 50)
    with pytest.raises(ValueError, match="4 stages and 8 micro-batches are too many to search through: 50 states"):
        frontier((0, 1, 2, 3), 8)


@pytest.mark.parametrize(("homes", "micro_batches", "split"), [((0, 1, 2), 4, False), ((0, 1, 2, 3), 3, False), ((0, 1), 3, True),
                                                               ((0, 1, 2), 2, True)])
@pytest.mark.parametrize("costs", [Costs(1, 2, latency=Fraction(1, 2)), Costs([1, 2, 1, 3], [2, 1, 3, 1]), Costs(3, 1)])
def test_what_a_last_stage_is_not_asked_to_try_would_gain_nothing(homes, micro_batches, split, costs, monkeypatch):
    size = homes, micro_batches, Costs(*(time[:len(homes)] if isinstance(time, list) else time for time in (
        costs.forward, costs.backward)), latency=costs.latency), split
    found = [(step, memory) for step, memory, _ in frontier(*size)]
    monkeypatch.setattr("course.frontier._Search.sensible", lambda self, rank, ready: [*ready, None])
    assert [(step, memory) for step, memory, _ in frontier(*size)] == found
