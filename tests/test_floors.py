import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Costs, formulas, simulate, violations
from course.floors import floor_curve, memory_floor, step_floor
from course.schedules import SCHEDULES, one_f_one_b
from tests.random_schedules import legal_schedules

IN_A_ROW, WAITING = (0, 1, 2, 3), Costs(1, 2, latency=Fraction(1, 2))
WHOLE_OR_HALF = st.sampled_from([0, Fraction(1, 2), 1, 2, 3])


def held(timeline):
    return Fraction(max(timeline.peak_activations), timeline.schedule.chunks)


def assert_not_below(schedule, costs, split):
    assert violations(schedule) == []
    timeline = simulate(schedule, costs)
    size = schedule.stage_to_rank, schedule.micro_batches, costs, split
    room = max(timeline.peak_activations)
    assert step_floor(*size) <= step_floor(*size, room=room) <= timeline.makespan
    assert 1 <= memory_floor(*size, step=timeline.makespan) <= held(timeline)
    assert memory_floor(*size) <= held(timeline)


@given(legal_schedules(), st.data())
def test_no_legal_schedule_is_below(schedule, data):
    stages = schedule.stages
    times = st.one_of(WHOLE_OR_HALF, st.lists(WHOLE_OR_HALF, min_size=stages, max_size=stages))
    boundary = st.one_of(WHOLE_OR_HALF, st.lists(WHOLE_OR_HALF, min_size=stages - 1, max_size=stages - 1))
    operations = [operation for rank in schedule.ranks for operation in rank]
    single = data.draw(st.dictionaries(st.sampled_from(operations), WHOLE_OR_HALF, max_size=3))
    backwards = {"backward": data.draw(times)} if data.draw(st.booleans()) else {}
    parts = {"input_grad": data.draw(times), "weight_grad": data.draw(times)} if data.draw(st.booleans()) or not backwards else {}
    costs = Costs(data.draw(times), **backwards, **parts, latency=data.draw(boundary), message=data.draw(boundary), single=single)
    assert_not_below(schedule, costs, split=bool(schedule.split))
    assert_not_below(schedule, costs, split=True)


@settings(max_examples=50)
@given(legal_schedules(most_micro_batches=6), st.sampled_from([Costs(), Costs(1, 2), Costs(0.3, 0.7), Costs(2, 2, latency=1)]))
def test_no_legal_schedule_is_below_at_plain_costs(schedule, costs):
    timeline = simulate(schedule, costs)
    size = schedule.stage_to_rank, schedule.micro_batches, costs, bool(schedule.split)
    assert step_floor(*size, room=max(timeline.peak_activations)) <= timeline.makespan * (1 + 1e-9)
    assert memory_floor(*size, step=timeline.makespan) <= held(timeline)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("costs", [Costs(), Costs(1, 2), Costs(1, 2, latency=Fraction(1, 2)), Costs(1, 1, message=1)])
def test_no_known_schedule_is_below(name, costs):
    for p, m in ((1, 2), (2, 4), (4, 8), (4, 16)):
        schedule = SCHEDULES[name].make(p, m, 2 if SCHEDULES[name].chunked else 1)
        assert_not_below(schedule, costs, bool(schedule.split))


@pytest.mark.parametrize(("p", "m"), [(1, 1), (2, 3), (4, 8), (4, 32), (8, 16)])
@pytest.mark.parametrize("backward", [1, 2])
def test_without_a_split_gpipe_and_1f1b_are_as_short_as_can_be_and_1f1b_is_the_leanest_of_them(p, m, backward):
    size = tuple(range(p)), m, Costs(1, backward)
    assert step_floor(*size) == formulas.total_slots(p, m, 1, backward)
    assert memory_floor(*size, step=formulas.total_slots(p, m, 1, backward)) <= min(m, p)
    if m % p == 0:
        assert memory_floor(*size, step=formulas.total_slots(p, m, 1, backward)) == p


@pytest.mark.parametrize(("name", "chunks", "step"), [
    ("interleaved_1f1b", 2, Fraction(57, 2)), ("looped_bfs", 2, Fraction(57, 2)), ("zb_h1", 1, 27), ("zb_v", 2, Fraction(51, 2)),
    ("dualpipe_v", 2, Fraction(51, 2))])
def test_known_schedules_that_reach_the_floor_of_their_placement(name, chunks, step):
    schedule = SCHEDULES[name].make(4, 8, chunks)
    costs = Costs(Fraction(1, chunks), Fraction(2, chunks))
    assert step_floor(schedule.stage_to_rank, 8, costs, bool(schedule.split)) == simulate(schedule, costs).makespan == step


def test_with_latency_gpipe_is_at_the_floor_and_1f1b_above():
    assert step_floor(IN_A_ROW, 32, WAITING) == simulate(SCHEDULES["gpipe"].make(4, 32, 1), WAITING).makespan == 108
    assert simulate(one_f_one_b(4, 32), WAITING).makespan == 131
    assert memory_floor(IN_A_ROW, 32, WAITING, step=131) == 4 < memory_floor(IN_A_ROW, 32, WAITING, step=108)


def test_less_room_takes_longer_and_no_room_never_ends():
    steps = [step_floor(IN_A_ROW, 8, room=room) for room in (1, 2, 3, 4, 8)]
    assert steps == [64, 32, 24, 22, 22]
    assert step_floor((0, 1, 1, 0), 8, room=1) == math.inf
    assert floor_curve(IN_A_ROW, 8) == ((22, 4), (24, 3), (32, 2), (64, 1))
    one_by_one = simulate(one_f_one_b(1, 3))
    assert floor_curve((0,), 3) == ((one_by_one.makespan, 1),)


@settings(max_examples=40)
@given(legal_schedules(), st.integers(1, 4))
def test_the_curve_is_the_memory_floor_turned_round(schedule, backward):
    size = schedule.stage_to_rank, schedule.micro_batches, Costs(1, backward), True
    corners = floor_curve(*size)
    assert corners[0][0] == step_floor(*size) and corners[-1][1] == 1 == memory_floor(*size)
    assert list(corners) == sorted(corners) and [memory for _, memory in corners] == sorted(
        {memory for _, memory in corners}, reverse=True)
    assert all(memory_floor(*size, step=step) == memory for step, memory in corners)
    assert all(memory_floor(*size, step=later - Fraction(1, 9)) == memory
               for (_, memory), (later, _) in itertools.pairwise(corners))


def test_a_split_backward_counts_as_its_parts():
    assert step_floor(IN_A_ROW, 8, Costs(1, input_grad=1, weight_grad=1), split=True) == 27
    assert step_floor(IN_A_ROW, 8, Costs(1, input_grad=1, weight_grad=1)) == 33
    uneven = Costs(1, backward=2, input_grad=2, weight_grad=2)  # a split backward is longer than a whole one
    assert step_floor((0,), 3, uneven, split=True) == 3 * 3


@pytest.mark.parametrize(("make", "words"), [
    (lambda: step_floor((), 4), ["stages = 0", "at least 1"]),
    (lambda: step_floor(IN_A_ROW, 0), ["micro_batches = 0", "at least 1"]),
    (lambda: step_floor(IN_A_ROW, 8, room=0), ["room = 0", "at least 1"]),
    (lambda: step_floor(IN_A_ROW, 8, Costs(forward=[1, 2])), ["2 times", "4 stages"]),
    (lambda: memory_floor(IN_A_ROW, 8, step=21), ["step = 21", "shorter than 22", "longer one"]),
])
def test_what_cannot_be_names_value_rule_and_way_out(make, words):
    with pytest.raises(ValueError) as error:
        make()
    assert all(word in str(error.value) for word in words), str(error.value)
