"""Where schedules stand on one plot: known values, that scaling changes nothing, and that no schedule is below its floor."""

from fractions import Fraction
from random import Random

import pytest

from course import Costs, schedules, simulate
from course.lab import floor_of, known_places, place, placed, share_of_stage, stage_costs, timed
from course.schedules import SCHEDULES

EVEN = Costs(1, input_grad=1, weight_grad=1)
HALF = Fraction(1, 2)


def steps(ranks, micro_batches, costs):
    return {found.name: (found.step, found.peak) for found in known_places(ranks, micro_batches, costs)}


def test_the_known_values_of_4_ranks_and_8_micro_batches():
    assert steps(4, 8, EVEN) == {
        "gpipe": (33, 8), "1f1b": (33, 4), "interleaved_1f1b": (Fraction(57, 2), Fraction(11, 2)),
        "looped_bfs": (Fraction(57, 2), 8), "zb_h1": (27, 4), "zb_v": (Fraction(51, 2), 4),
        "dualpipe_v": (Fraction(51, 2), Fraction(9, 2))}


def test_with_latency_gpipe_beats_1f1b_as_the_course_states_it():
    found = steps(4, 32, Costs(1, input_grad=1, weight_grad=1, latency=HALF))
    assert found["gpipe"][0] == 108 and found["1f1b"][0] == 131


def test_a_size_that_a_schedule_does_not_have_leaves_it_out():
    assert set(steps(4, 3, EVEN)) == set(SCHEDULES) - {"interleaved_1f1b", "dualpipe_v"}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("costs", [EVEN, Costs(3 * HALF, input_grad=HALF, weight_grad=Fraction(2, 3), latency=HALF / 5),
                                   Costs(1.5, input_grad=0.25, weight_grad=1, latency=0.3), Costs(3, 5, message=1)])
def test_whole_numbers_on_the_way_change_no_time(name, costs):
    schedule = SCHEDULES[name].make(3, 6, SCHEDULES[name].chunks or 2)
    found, plain = timed(schedule, costs), simulate(schedule, stage_costs(schedule, costs))
    assert found.schedule == plain.schedule
    for mine, theirs in zip((*found.starts, *found.ends), (*plain.starts, *plain.ends), strict=True):
        assert list(mine) == pytest.approx([float(time) for time in theirs])
        assert costs.forward == 1.5 or mine == theirs
    assert place(schedule, costs, name) == placed(found, name, SCHEDULES[name].title)


def test_a_chunk_takes_its_part_of_a_rank():
    schedule = schedules.interleaved_1f1b(2, 4, 4)
    assert share_of_stage(schedule) == Fraction(1, 4)
    assert stage_costs(schedule, Costs(2, 4, latency=1)) == Costs(HALF, 1, latency=1)
    with pytest.raises(ValueError, match=r"forward = \[1, 2\]: one time is needed here"):
        place(schedule, Costs([1, 2]))


def test_no_schedule_is_below_the_floor_of_its_placement():
    seed = 20261130
    random = Random(seed)
    for _ in range(20):
        ranks, micro_batches = random.randint(1, 4), random.randint(1, 8)
        times = [Fraction(random.randint(1, 8), 2) for _ in range(3)]
        costs = Costs(times[0], input_grad=times[1], weight_grad=times[2], latency=Fraction(random.randint(0, 4), 2))
        for name, entry in SCHEDULES.items():
            try:
                schedule = entry.make(ranks, micro_batches, entry.chunks or 2)
            except ValueError:
                continue
            own, corners = place(schedule, costs), floor_of(schedule, costs)
            assert own.step >= corners[0][0], (seed, name, ranks, micro_batches, costs)
            assert own.peak >= min(held for step, held in corners if step <= own.step), (seed, name, ranks, micro_batches, costs)
