"""Data parallelism: replicas of the pipeline train as one process does on all their micro-batches, and say what they are."""

import pytest

from course import schedules
from course.pipeline import PipelineError, Sizes, close, pool, run
from course.pipeline.places import Places, in_a_row

TINY = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=1)
CASES = [(schedules.gpipe(2, 3), 2), (schedules.one_f_one_b(2, 1), 3), (schedules.one_f_one_b(4, 6), 2),
         (schedules.gpipe(1, 2), 4), (schedules.interleaved_1f1b(2, 2, 2), 2),
         (schedules.looped_bfs(2, 3, 2), 2), (schedules.gpipe(1, 1), 1)]


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    pool.pool_of(8)
    yield
    close()


@pytest.mark.parametrize(("schedule", "dp"), CASES, ids=lambda case: getattr(case, "name", case))
def test_they_train_as_one_process_does(schedule, dp):
    result = run(schedule, dp=dp, clock="virtual", steps=4, sizes=TINY)
    assert result.max_gradient_difference <= 1e-6
    assert result.losses == pytest.approx(result.reference_losses, abs=1e-6)
    assert len(set(result.pids)) == dp * len(schedule.ranks)
    assert (result.dp, result.all_reduce_seconds > 0) == (dp, dp > 1)
    assert result.measured == result.predicted and result.to_json()["dp"] == dp


def test_two_replicas_learn_from_the_same_text_as_one_with_twice_the_micro_batches():
    one, two = (run(schedules.gpipe(2, 4 // dp), dp=dp, clock="virtual", steps=3, sizes=TINY) for dp in (1, 2))
    assert one.losses == pytest.approx(two.losses, abs=1e-6)
    assert one.peak_activations_measured == (4, 4) and two.peak_activations_measured == (2, 2)


def test_the_slowest_replica_is_shown():
    def stumble(operation):
        import time

        import torch.distributed as dist

        if dist.get_rank() == 2 and str(operation) == "0F1":
            time.sleep(0.3)

    result = run(schedules.gpipe(2, 2), dp=2, slot_seconds=0.05, steps=1, sizes=TINY, during=stumble)
    assert result.step_time_measured > result.step_time_predicted + 0.2, "a sanity bound: the sleep is in what is shown"
    assert any("during= took" in note for note in result.notes)


def test_a_fault_names_the_process_and_its_operation():
    def fail(operation):
        import torch.distributed as dist

        if dist.get_rank() == 3 and str(operation) == "1B1":
            raise ValueError("no")

    with pytest.raises(PipelineError, match="rank 3 failed at 1B1: ValueError: no"):
        run(schedules.gpipe(2, 2), dp=2, during=fail, steps=1, sizes=TINY)
    assert run(schedules.gpipe(2, 2), dp=2, clock="virtual", steps=1, sizes=TINY).max_gradient_difference <= 1e-6


def test_a_replica_that_waits_for_ever_is_found_while_the_other_waits_for_it(monkeypatch):
    def lose(operation):
        import torch.distributed as dist

        if dist.get_rank() == 2 and str(operation) == "0F1":
            from course.pipeline.messages import Messages

            Messages.send = lambda *_: None  # in this worker, which the error ends

    with pytest.raises(PipelineError, match=r"every rank waits for another: rank 3 at 1F1 has no message from 0F1 on rank 2"):
        run(schedules.gpipe(2, 2), dp=2, during=lose, steps=1, sizes=TINY)
    assert run(schedules.gpipe(2, 2), dp=2, clock="virtual", steps=1, sizes=TINY).max_gradient_difference <= 1e-6


def test_places_of_further_replicas_are_those_of_the_first():
    schedule = schedules.gpipe(2, 2)
    places = Places(schedule, in_a_row(schedule, 2))
    assert [places(rank, 0) for rank in range(4)] == ["0F0", "1F0", "0F0", "1F0"]
    assert places.needs(1, 0) == (0, 0) and places.needs(3, 0) == (2, 0) and places.needs(2, 0) is None


def test_the_ranks_of_a_pipeline_need_not_be_in_a_row():
    places = Places(schedules.gpipe(2, 2), [(0, 2), (1, 3)])
    assert [places(rank, 0) for rank in range(4)] == ["0F0", "0F0", "1F0", "1F0"]
    assert places.needs(3, 0) == (1, 0) and places.needs(2, 0) == (0, 0) and places.needs(1, 0) is None


@pytest.mark.parametrize(("options", "words"), [
    ({"dp": 0}, ["dp = 0", "at least 1"]), ({"dp": 1.5}, ["dp = 1.5"]), ({"dp": 9}, ["dp x ranks = 9 x 2 = 18", "at most 16"]),
    ({"dp": 2, "engine": "torch", "clock": "real"}, ["dp = 2", "engine = 'ours'"]),
])
def test_bad_numbers_of_replicas_are_refused(options, words):
    with pytest.raises(ValueError) as caught:
        run(schedules.gpipe(2, 2), **options)
    assert all(word in str(caught.value) for word in words), caught.value
