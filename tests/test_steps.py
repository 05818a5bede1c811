"""Several steps in a row, with a barrier between them and without."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Costs, schedules, simulate, violations
from course.schedules import SCHEDULES
from course.steps import further_step, in_a_row, repeated
from tests.random_schedules import legal_schedules

PARTS = Costs(1, input_grad=1, weight_grad=1)


def idle(schedule, costs, step):
    return step - simulate(schedule, costs).work / len(schedule.ranks)


@settings(max_examples=40)
@given(legal_schedules(most_micro_batches=3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0, 1, Fraction(1, 2)]))
def test_a_barrier_never_makes_it_shorter_and_each_step_is_the_same(schedule, steps, backward, latency):
    costs = Costs(1, backward, latency=latency)
    one, free, stopped = simulate(schedule, costs), *(repeated(schedule, steps, costs, barrier) for barrier in (False, True))
    assert violations(in_a_row(schedule, steps)) == violations(free) == violations(stopped) == []
    assert stopped.makespan == steps * one.makespan and free.makespan <= stopped.makespan
    assert free.work == stopped.work == steps * one.work
    assert free.makespan >= one.makespan + (steps - 1) * max(
        sum(end - start for start, end in zip(*row, strict=True)) for row in zip(one.starts, one.ends, strict=True))
    assert stopped.peak_activations == one.peak_activations


@pytest.mark.parametrize(("p", "m"), [(2, 4), (3, 9), (4, 8), (4, 16), (8, 16)])
def test_zb_h2s_zero_is_one_without_a_barrier_only(p, m):
    first, second = (make(p, m) for make in (schedules.zb_h1, schedules.zb_h2))
    assert idle(second, PARTS, further_step(second, PARTS)) == 0
    assert idle(second, PARTS, simulate(second, PARTS).makespan) == p - 1 == idle(first, PARTS, further_step(first, PARTS))
    assert simulate(second, PARTS).makespan == simulate(first, PARTS).makespan


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("costs", [
    PARTS, Costs(2, input_grad=2, weight_grad=1), Costs(1, input_grad=1, weight_grad=1, latency=1)])
def test_a_further_step_of_a_known_schedule_takes_as_long_as_any_later_one(name, costs):
    schedule = SCHEDULES[name].make(3, 6, SCHEDULES[name].chunks or 2)
    later = [repeated(schedule, steps, costs, barrier=False).makespan for steps in range(6, 10)]
    assert {after - before for before, after in itertools.pairwise(later)} == {further_step(schedule, costs)}


@pytest.mark.parametrize(("make", "words"), [
    (lambda: in_a_row(schedules.gpipe(2, 2), 0), ["steps = 0", "at least 1"]),
    (lambda: repeated(schedules.gpipe(2, 2), 2, Costs(single={"0F0": 3})), ["single", "leave single out"]),
])
def test_what_cannot_be_says_so(make, words):
    with pytest.raises(ValueError) as error:
        make()
    assert all(word in str(error.value) for word in words)
