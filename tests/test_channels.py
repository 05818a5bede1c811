"""Which schedules need tags: those in which a stage sends in another order than its neighbour waits for."""

import pytest

from course import Schedule
from course.channels import channels, disorders
from course.schedules import SCHEDULES, gpipe, interleaved_1f1b


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_every_schedule_of_the_table_runs_without_tags(name, ranks):
    entry = SCHEDULES[name]
    for micro_batches in (ranks, 2 * ranks, 4 * ranks):
        for chunks in (entry.chunks,) if entry.chunks else (1, 2, 3):
            try:
                schedule = entry.make(ranks, micro_batches, chunks)
            except ValueError:
                continue  # a size that this schedule does not have
            assert disorders(schedule) == []


def test_a_channel_is_a_boundary_between_two_ranks_in_one_direction():
    assert channels(gpipe(3, 1)) == [(0, 1), (1, 2), (1, 0), (2, 1)]
    assert channels(interleaved_1f1b(2, 2, 2)) == [(0, 1), (1, 2), (2, 3), (1, 0), (2, 1), (3, 2)]
    v_shaped = Schedule.from_csv("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0")
    assert channels(v_shaped) == [(0, 1), (2, 3), (1, 0), (3, 2)]


@pytest.mark.parametrize(("csv", "place", "words"), [
    ("0F0,0F1,0B0,0B1\n1F1,1F0,1B0,1B1", (0, 1, 0), ["stage 0 sends 0F0 to stage 1 as message 0", "1F1"]),
    ("0F0,0F1,0F2,0B0,0B2,0B1\n1F0,1F1,1F2,1B0,1B1,1B2", (1, 0, 1), ["stage 1 sends 1B1", "message 1", "0B2"]),
    ("0F0,0F1,0I1,0W1,0I0,0W0\n1F0,1I0,1W0,1F1,1I1,1W1", (1, 0, 0), ["1I0", "0I1"]),
])
def test_a_disorder_is_named_with_its_channel_and_its_place(csv, place, words):
    (found,) = disorders(Schedule.from_csv(csv))
    assert (found.source, found.target, found.place) == place
    assert all(word in found.message for word in words)


def test_weight_gradients_send_nothing_and_may_come_in_any_order():
    assert disorders(Schedule.from_csv("0F0,0F1,0I0,0I1,0W1,0W0\n1F0,1I0,1F1,1I1,1W0,1W1")) == []


def test_stages_of_one_rank_pass_their_tensors_by_name():
    assert disorders(Schedule.from_csv("0F0,0F1,1F1,1F0,1B1,1B0,0B0,0B1")) == []
