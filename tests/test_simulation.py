from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import Costs, Operation, Schedule, Timeline, formulas, schedules, simulate
from course.schedules import SCHEDULES
from course.simulation import as_far_as_it_goes

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


def test_messages_on_one_link_follow_one_another():
    slow = simulate(schedules.gpipe(2, 4), Costs(1, 1, message=3))
    assert slow.starts[1][:4] == (4, 7, 10, 13)  # the link is busy from 1 to 13
    assert slow.starts[0][4:] == (18, 21, 24, 27)  # and the way back from 14 + 1 on
    both = simulate(schedules.gpipe(2, 4), Costs(1, 1, message=3, latency=10))
    assert both.starts[1][:4] == (14, 17, 20, 23)  # latency delays, but lets the next one go
    assert simulate(schedules.interleaved_1f1b(1, 2, 2), Costs(1, 1, message=3)).makespan == 8


def test_one_slow_link_among_fast_ones():
    first, last = (simulate(schedules.gpipe(3, 8), Costs(1, 1, message=pair)).makespan for pair in ([2, 0], [0, 2]))
    assert first == last == 2 * (2 * 8 + 3)  # the slow link is busy all the time but for what fills and drains it
    assert simulate(schedules.gpipe(3, 8), Costs(1, 1, message=[0, 0])) == simulate(schedules.gpipe(3, 8))


def test_single_operations_may_take_a_time_of_their_own():
    plain, longer = Costs(1, 2), Costs(1, 2, single={"1F2": 4, Operation(0, "B", 0): Fraction(1, 2)})
    schedule = schedules.one_f_one_b(3, 4)
    lengths = [{span.operation: span.end - span.start for span in simulate(schedule, costs).spans} for costs in (plain, longer)]
    changed = {str(operation): length for operation, length in lengths[1].items() if length != lengths[0][operation]}
    assert changed == {"1F2": 4, "0B0": Fraction(1, 2)}


TIME = st.integers(0, 6).map(lambda quarters: Fraction(quarters, 4))


@given(st.sampled_from(list(SCHEDULES)), st.integers(1, 4), st.data())
def test_an_operation_starts_when_the_last_of_what_it_waits_for_is_there(name, p, data):
    schedule = SCHEDULES[name].make(p, 2 * p, 2 if SCHEDULES[name].chunked else 1)
    stages = schedule.stages

    def times(count):
        return data.draw(st.lists(TIME, min_size=count, max_size=count))

    message, latency = times(stages - 1), times(stages - 1)
    timeline = simulate(schedule, Costs(times(stages), times(stages), latency=latency, message=message))
    end_of = {span.operation: span.end for span in timeline.spans}
    arrives, links = {}, {}
    for stage, kinds, target in ((s, kinds, t) for s in range(stages) for kinds, t in (("F", s + 1), ("BI", s - 1))):
        pair = schedule.stage_to_rank[stage], schedule.stage_to_rank[target] if 0 <= target < stages else None
        sent = [op for op in schedule.ranks[pair[0]] if op.stage == stage and op.kind in kinds]
        if pair[0] == pair[1] or pair[1] is None:
            arrives |= {op: end_of[op] for op in sent}
        else:
            links.setdefault(pair, []).extend(sent)
    for sent in links.values():
        free = 0
        for op in sorted(sent, key=lambda op: schedule.ranks[schedule.stage_to_rank[op.stage]].index(op)):
            boundary = op.stage if op.kind == "F" else op.stage - 1
            free = max(free, end_of[op]) + message[boundary]
            arrives[op] = free + latency[boundary]
    for rank, operations in enumerate(schedule.ranks):
        free = 0
        for operation, start in zip(operations, timeline.starts[rank], strict=True):
            needs = [end_of[need] if need.stage == operation.stage else arrives[need] for need in schedule.needs(operation)]
            assert start == max([free, *needs])
            free = end_of[operation]


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
    (Costs(forward=float("inf")), "forward = inf"), (Costs(forward="2"), "forward = '2'"), (Costs(message=-2), "message = -2"),
    (Costs(latency=[1, 1, 1, 1]), "latency has 4 times for the 3 boundaries between 4 stages: .* one per boundary"),
    (Costs(single={"9F0": 1}), "9F0 is no operation of this schedule"), (Costs(single={"F0": 1}), "'F0' is not an operation"),
    (Costs(single={"0F0": -1}), r"single\['0F0'\] = -1"),
])
def test_bad_costs_are_named(costs, words):
    with pytest.raises(ValueError, match=words):
        simulate(schedules.gpipe(4, 4), costs)


def test_an_illegal_schedule_is_refused_with_its_faults():
    with pytest.raises(ValueError, match="B0 comes before F0"):
        simulate(Schedule.from_csv("0B0,0F0\n"))


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("p", "m"), [(1, 2), (2, 4), (4, 8), (3, 6)])
def test_a_legal_schedule_goes_to_its_end(name, p, m):
    schedule = SCHEDULES[name].make(p, m, 2 if SCHEDULES[name].chunked else 1)
    whole = simulate(schedule, Costs(1, 1, input_grad=1, weight_grad=1))
    assert as_far_as_it_goes(schedule).spans == whole.spans
    assert as_far_as_it_goes(schedule, whole.peak_activations).spans == whole.spans


def test_a_schedule_with_too_little_room_stops_where_a_forward_does_not_fit():
    assert str(as_far_as_it_goes(schedules.gpipe(3, 5), [2, 3, 3])) == "F0 F1 .  .\n.  F0 F1 .\n.  .  F0 F1"
    assert as_far_as_it_goes(schedules.one_f_one_b(4, 8), [4, 3, 2, 0]).peak_activations == (4, 3, 2, 0)


def test_a_schedule_that_waits_for_ever_goes_as_far_as_it_can():
    crossed = Timeline.from_grid("F0 B0 F1 B1\nF0 F1 B0 B1", 2, 2).schedule
    assert str(as_far_as_it_goes(crossed)) == "F0 .\n.  F0"
    holes = Timeline.from_grid("F0 B0\n.  F0", 2, 1).schedule
    assert str(as_far_as_it_goes(holes)) == "F0 .\n.  F0"
