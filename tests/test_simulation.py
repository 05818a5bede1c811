from fractions import Fraction

import pytest

from course import Costs, Schedule, formulas, schedules, simulate
from course.schedules import SCHEDULES

SIZES = [(p, m) for p in (1, 2, 3, 4, 8) for m in (1, 2, 3, 4, 8, 16)]


@pytest.mark.parametrize(("p", "m"), SIZES)
@pytest.mark.parametrize("make", [schedules.gpipe, schedules.one_f_one_b])
@pytest.mark.parametrize("costs", [(1, 1), (1, 2), (2, 1), (Fraction(1, 3), Fraction(1, 2))])
def test_the_step_is_as_long_as_the_formula_says(make, p, m, costs):
    timeline = simulate(make(p, m), Costs(*costs))
    assert timeline.makespan == formulas.total_slots(p, m, *costs)
    assert timeline.bubble_fraction == formulas.bubble_fraction(p, m)
    assert timeline.bubble_over_ideal == formulas.bubble_over_ideal(p, m)
    assert timeline.work == p * formulas.busy_slots(m, *costs)
    for row_ends, row_starts in zip(timeline.ends, timeline.starts, strict=True):
        assert timeline.makespan - sum(row_ends) + sum(row_starts) == formulas.idle_slots(p, *costs)


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_peaks_are_the_formulas(p, m):
    for name in ("gpipe", "1f1b"):
        peaks = simulate(SCHEDULES[name].make(p, m, 1)).peak_activations
        assert peaks == tuple(formulas.peak_in_flight(name, p, m, stage) for stage in range(p))


@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 2), (4, 8, 3), (8, 16, 2), (3, 6, 4)])
def test_interleaving_shrinks_the_bubble_v_times(p, m, v):
    timeline = simulate(schedules.interleaved_1f1b(p, m, v))
    assert timeline.bubble_fraction == formulas.bubble_fraction(p, m, v)
    assert timeline.bubble_over_ideal == formulas.bubble_over_ideal(p, m) / v


def test_latency_delays_only_what_crosses_ranks():
    assert simulate(schedules.gpipe(2, 1), Costs(1, 1, latency=2)).makespan == 4 + 2 * 2
    assert simulate(schedules.interleaved_1f1b(1, 2, 2), Costs(1, 1, latency=2)).makespan == 8


@pytest.mark.parametrize(("latency", "gpipe", "one_f_one_b"), [(Fraction(1, 2), 108, 131)])
def test_with_latency_gpipe_can_beat_1f1b(latency, gpipe, one_f_one_b):
    costs = Costs(1, 2, latency=latency)
    assert simulate(schedules.gpipe(4, 32), costs).makespan == gpipe
    assert simulate(schedules.one_f_one_b(4, 32), costs).makespan == one_f_one_b


def test_one_slow_stage_sets_the_pace():
    slow = simulate(schedules.gpipe(4, 8), Costs([1, 2, 1, 1], [1, 2, 1, 1]))
    assert slow.makespan == 8 * 4 + 2 * 3  # the slow stage is busy throughout but for its fill and drain
    assert simulate(schedules.gpipe(4, 8), Costs([1] * 4, [1] * 4)) == simulate(schedules.gpipe(4, 8))


def test_input_and_weight_gradients_take_half_of_a_backward_each():
    split = Schedule.from_csv("0F0,0I0,0W0\n1F0,1I0,1W0\n")
    assert simulate(split, Costs(1, 2)).makespan == 1 + 1 + 1 + 1 + 1
    assert simulate(split, Costs(1, 1)).makespan == Fraction(7, 2)
    assert simulate(split, Costs(1, input_grad=2, weight_grad=1)).makespan == 1 + 1 + 2 + 2 + 1
    assert simulate(schedules.gpipe(1, 1), Costs(1, input_grad=2, weight_grad=1)).makespan == 4


@pytest.mark.parametrize(("costs", "words"), [
    (Costs(forward=-1), "forward = -1"), (Costs(forward=[1, 2]), "2 times for 4 stages"),
    (Costs(input_grad=1), "go together"), (Costs(forward=float("nan")), "forward = nan"), (Costs(latency=-1), "latency = -1"),
])
def test_bad_costs_are_named(costs, words):
    with pytest.raises(ValueError, match=words):
        simulate(schedules.gpipe(4, 4), costs)


def test_an_illegal_schedule_is_refused_with_its_faults():
    with pytest.raises(ValueError, match="B0 comes before F0"):
        simulate(Schedule.from_csv("0B0,0F0\n"))
