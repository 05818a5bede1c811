"""torch.distributed.pipelining does our schedules on our stages, and comes to the same gradients and losses."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from course import Operation, Schedule, Timeline
from course.__main__ import main
from course.pipeline import PipelineError, run
from course.schedules import gpipe, interleaved_1f1b, one_f_one_b


def drawn(csv, name=""):
    return replace(Schedule.from_csv(csv), name=name)


LAST_IN_FIRST_OUT = Timeline.from_grid("F0 F1 .  .  B1 B0\n.  F0 F1 B1 B0 .", stages=2, micro_batches=2).schedule
RUNS = {
    "fewer micro-batches than stages": one_f_one_b(3, 2),  # the largest first: its workers stay for the others
    "gpipe": gpipe(2, 4), "1f1b": one_f_one_b(2, 4), "interleaved_1f1b": interleaved_1f1b(2, 4, 2),
    "one stage": gpipe(1, 2), "one chunk": interleaved_1f1b(2, 4, 1),
    "last in, first out": LAST_IN_FIRST_OUT,
    "forwards in another order": drawn("0F1,0F0,0B0,0B1\n1F1,1F0,1B0,1B1"),
    "stages that disagree": drawn("0F0,0F1,0F2,0B1,0B0,0B2\n1F0,1F1,1B0,1B1,1F2,1B2"),
    "split backward": drawn("0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1"),
    "v-shaped": drawn("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0"),
}


@pytest.mark.parametrize("name", RUNS)
def test_gradients_and_losses_equal_ours(name):
    schedule = RUNS[name]
    result = run(schedule, engine="torch", clock="real", steps=2)
    assert result.max_gradient_difference <= 1e-6
    assert result.losses == pytest.approx(result.reference_losses, abs=1e-6)
    assert result.measured.schedule.ranks == schedule.ranks
    assert result.peak_activations_measured == result.peak_activations_predicted
    ours = run(schedule, clock="virtual", steps=2)
    assert ours.losses == pytest.approx(result.losses, abs=1e-6)
    assert result.bytes_sent == ours.bytes_sent
    assert result.bytes_of_one[1:] == ours.bytes_of_one[1:], "on stage 0 PyTorch's micro-batches share one storage"
    assert result.to_json().keys() == ours.to_json().keys()


def classes(worker, schedules):
    from course.pipeline.torch_engine import class_for

    return [class_for(schedule).__name__ for schedule in schedules]


def test_the_public_classes_do_the_schedules_that_they_know_and_nothing_else():
    from course.pipeline.pool import pool_of

    swapped = replace(LAST_IN_FIRST_OUT, name="gpipe")
    schedules = [gpipe(2, 2), one_f_one_b(2, 4), interleaved_1f1b(2, 4, 2), swapped, one_f_one_b(4, 2),
                 interleaved_1f1b(2, 4, 1), LAST_IN_FIRST_OUT, replace(gpipe(2, 3), name="interleaved_1f1b")]
    (reply,) = pool_of(1).run("tests.test_torch_engine:classes", schedules, ranks=1)
    assert reply["result"] == ["ScheduleGPipe", "Schedule1F1B", "ScheduleInterleaved1F1B", *["_Runtime"] * 5]


def test_a_fault_is_named_as_in_our_engine():
    def stumble(operation):
        if operation == Operation(1, "B", 0):
            raise ValueError("the tensor has the wrong shape")

    with pytest.raises(PipelineError) as caught:
        run(gpipe(2, 2), engine="torch", clock="real", during=stumble)
    assert caught.value.message == "rank 1 failed at 1B0: ValueError: the tensor has the wrong shape"


@pytest.mark.parametrize(("schedule", "options", "words"), [
    (gpipe(2, 2), {"engine": "steam"}, ["'steam'", "ours, torch"]),
    (gpipe(2, 2), {"engine": "torch"}, ["'paced'", "clock = 'real'"]),
    (Schedule((*gpipe(2, 2).ranks, ()), (0, 1), 2), {"engine": "torch", "clock": "real"}, ["a stage on every rank"]),
])
def test_what_it_cannot_do_is_refused(schedule, options, words):
    with pytest.raises(ValueError) as caught:
        run(schedule, **options)
    assert all(word in str(caught.value) for word in words)


def test_the_command_line_takes_the_engine_and_its_clock(capsys):
    assert main(["run", "1f1b", "--ranks", "2", "--micro-batches", "2", "--steps", "1", "--engine", "torch", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["engine"], record["clock"]) == ("torch", "real")
    assert record["max_gradient_difference"] <= 1e-6


def test_workers_of_our_engine_do_not_import_it():
    code = ("from course import schedules\nfrom course.pipeline import run, pool\n"
            "run(schedules.gpipe(2, 2), clock='virtual')\n"
            "look = lambda worker: 'torch.distributed.pipelining' in __import__('sys').modules\n"
            "print([reply['result'] for reply in pool.pool_of(2).run(look)])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[False, False]\n"
