from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import Costs, Operation, Schedule, Timeline, schedules, simulate
from course.schedules import SCHEDULES
from course.simulation import as_far_as_it_goes
from course.waiting import CHOICE, DRAIN, INPUT, MESSAGE, waits
from tests.test_legality import mutants

TIMES = st.lists(st.integers(0, 6).map(lambda halves: Fraction(halves, 2)), min_size=8, max_size=8)


def made(name, p, rounds=1):
    return SCHEDULES[name].make(p, 2 * p * rounds, 2 if SCHEDULES[name].chunked else 1)


def shifted(timeline, gaps):
    """The same order, each operation begun later by what its place in `gaps` says, and all after it pushed on."""
    starts, ends = [], []
    for rank, row in enumerate(timeline.starts):
        late, begun = 0, []
        for position, start in enumerate(row):
            late += gaps[(7 * rank + position) % len(gaps)]
            begun.append(start + late)
        starts.append(tuple(begun))
        ends.append(tuple(start + end - begin for start, begin, end in zip(begun, row, timeline.ends[rank], strict=True)))
    return Timeline(timeline.schedule, tuple(starts), tuple(ends))


@given(st.sampled_from(list(SCHEDULES)), st.integers(1, 4), TIMES, TIMES, st.integers(0, 3), st.integers(0, 2))
def test_of_a_simulated_step_each_idle_moment_is_explained_by_what_it_waits_for(name, p, forward, backward, latency, message):
    schedule = made(name, p)
    costs = Costs(forward[:schedule.stages], backward[:schedule.stages], latency=latency, message=message)
    timeline = simulate(schedule, costs)
    found = waits(timeline, costs)
    assert sum(wait.end - wait.start for wait in found) == p * timeline.makespan - timeline.work
    end_of = {span.operation: span.end for span in timeline.spans}
    home = {span.operation: span.rank for span in timeline.spans}
    for wait in found:
        assert 0 <= wait.start < wait.end <= timeline.makespan
        assert wait.reason != CHOICE  # each operation starts as early as it can
        if wait.reason == INPUT:
            assert wait.needed in schedule.needs(wait.next) and end_of[wait.needed] == wait.end
        if wait.reason == MESSAGE:
            assert wait.needed in schedule.needs(wait.next) and home[wait.needed] != wait.rank
            assert end_of[wait.needed] <= wait.start and latency + message > 0
        if wait.reason == DRAIN:
            assert (wait.next, wait.needed, wait.end) == (None, None, timeline.makespan)
    if not latency + message:
        assert {wait.reason for wait in found} <= {INPUT, DRAIN}


@settings(max_examples=60)
@given(st.sampled_from(list(SCHEDULES)), st.integers(1, 4), st.lists(st.integers(0, 2), min_size=1, max_size=9))
def test_the_stretches_and_the_operations_of_a_row_fill_it_and_their_reason_holds(name, p, gaps):
    timeline = shifted(simulate(made(name, p)), gaps)
    end_of = {span.operation: span.end for span in timeline.spans}
    found = waits(timeline)
    for rank, (starts, ends) in enumerate(zip(timeline.starts, timeline.ends, strict=True)):
        stretches = sorted([*zip(starts, ends, strict=True),
                            *((wait.start, wait.end) for wait in found if wait.rank == rank)])
        edges = [0, *(edge for stretch in stretches for edge in stretch), timeline.makespan]
        assert edges[::2] == edges[1::2]
    for wait in found:
        if wait.reason == CHOICE:  # all that it needs is there before
            assert all(end_of[need] <= wait.start for need in timeline.schedule.needs(wait.next))
        if wait.reason == INPUT:  # some of it is not
            assert end_of[wait.needed] >= wait.end


@settings(max_examples=40)
@given(st.integers(0, 1000))
def test_a_measured_step_has_no_stretch_of_rounding(seed):
    timeline = simulate(schedules.one_f_one_b(4, 6), Costs(0.1, 0.2 + seed * 1e-4, latency=0.05))
    found = waits(timeline, Costs(latency=0.05))
    assert sum(wait.end - wait.start for wait in found) == pytest.approx(4 * timeline.makespan - timeline.work)
    assert min(wait.end - wait.start for wait in found) > 1e-5 and all(wait.reason != CHOICE for wait in found)


def test_the_sentences_of_a_drawing():
    drawn = Timeline.from_grid("F0 .  .  .  B0\n.  F0 .  B0 .", stages=2, micro_batches=1)
    assert [(wait.start, wait.end, wait.reason, wait.message) for wait in waits(drawn)] == [
        (1, 4, INPUT, "stage 0 waits for B0 of stage 1, which ends at slot 4"),
        (0, 1, INPUT, "stage 1 waits for F0 of stage 0, which ends at slot 1"),
        (2, 3, CHOICE, "nothing stops B0 on stage 1 from slot 2 on, but it starts at slot 3"),
        (4, 5, DRAIN, "drain: stage 1 has nothing left to do in this step")]


def test_a_stretch_is_split_where_its_reason_changes():
    costs = Costs(latency=Fraction(1, 2))
    split = [wait for wait in waits(shifted(simulate(schedules.gpipe(2, 1), costs), [0, 1]), costs) if wait.rank == 1]
    assert [(wait.start, wait.end, wait.reason) for wait in split[:3]] == [(0, 1, INPUT), (1, 1.5, MESSAGE), (1.5, 2.5, CHOICE)]
    assert split[1].message == "stage 1 waits for the message of F0 from stage 0, which arrives at slot 1.5"


def test_messages_of_one_link_follow_each_other():
    costs = Costs(forward=1, backward=1, message=3)
    found = [wait for wait in waits(simulate(schedules.gpipe(2, 2), costs), costs) if wait.rank == 1]
    assert [(wait.start, wait.end, wait.reason) for wait in found[:3]] == [(0, 1, INPUT), (1, 4, MESSAGE), (5, 7, MESSAGE)]


def test_of_two_inputs_the_later_one_is_named():
    drawn = Timeline.from_grid("0F0 .   3F0 3B0 .   0B0\n.   1F0 .   .   1B0 .", stages=4, micro_batches=1)
    first = waits(Timeline(Schedule(drawn.schedule.ranks, (0, 1, 1, 0), 1), drawn.starts, drawn.ends))[0]
    assert first.next == Operation(3, "F", 0)
    assert first.message == "rank 0 waits for 2F0 of rank 1, which is nowhere"


def test_what_is_there_too_early_twice_or_not_at_all_is_no_reason_to_stop():
    for text in ("F0 . B0\n. . .", "B0 . F0\n. F0 . B0", "F0 F0 . F0\nF0 . B9 B0", ". . .\n. . ."):
        drawn = Timeline.from_grid(text, stages=2, micro_batches=1)
        assert sum(wait.end - wait.start for wait in waits(drawn)) == 2 * drawn.makespan - drawn.work
    assert waits(Timeline.from_grid("F0 . B0\n. . .", 2, 1))[0].message == (
        "stage 0 waits for B0 of stage 1, which is nowhere")


@settings(max_examples=80)
@given(mutants(), st.integers(0, 2))
def test_of_any_schedule_as_far_as_it_goes_each_idle_moment_has_a_reason(schedule, latency):
    gone = as_far_as_it_goes(schedule)
    found = waits(gone, Costs(latency=latency))
    assert sum(wait.end - wait.start for wait in found) == len(schedule.ranks) * gone.makespan - gone.work
    assert all(wait.message.count(schedule.place(wait.rank)) for wait in found)


def test_costs_of_another_schedule_are_refused():
    with pytest.raises(ValueError, match="latency has 1 times for the 3 boundaries"):
        waits(simulate(schedules.gpipe(4, 4)), Costs(latency=[1]))


def test_a_time_carries_its_unit():
    assert waits(simulate(schedules.gpipe(2, 1)), unit="ms")[0].message == "stage 0 waits for B0 of stage 1, which ends at 3 ms"
