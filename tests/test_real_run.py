"""How a finished run is looked at, and what stands in its place where there was none."""

import sys

import cloudpickle
import pytest

from course import Costs, schedules
from course.pipeline import Sizes, close
from course.real_run import NoRun, run_subject

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2)


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    yield
    close()


def looked_at(schedule, **options):
    return run_subject(schedule, stages=schedule.stages, micro_batches=schedule.micro_batches, clock="virtual", sizes=SMALL,
                       **options)


def test_memory_is_count_times_the_bytes_of_one_micro_batch():
    result = looked_at(schedules.one_f_one_b(3, 4))
    view = result.memory()
    rows = [line.split() for line in view.text.splitlines() if line.startswith("stage") and "|" not in line]
    assert len(rows) == 3
    for stage, count, one, product, measured in ([row[1], *(cell.replace(",", "") for cell in row[2:])] for row in rows):
        assert int(count) == 3 - int(stage)
        assert int(one) == result.run.bytes_of_one[int(stage)]
        assert int(product) == int(measured) == int(count) * int(one)
    assert "stage 0 |▃▆" in view.text and "Activations held, kB" in view.text
    assert view.html.count("<svg viewBox") >= 2 and "count x bytes" in view.html


def test_memory_of_chunks_adds_up_what_is_held():
    view = looked_at(schedules.interleaved_1f1b(2, 4, 2), costs=Costs(1, 2, latency=1)).memory()
    rows = [line for line in view.text.splitlines() if line.startswith("rank") and "|" not in line]
    assert len(rows) == 2 and "chunks held at most" in view.text
    assert all(row.split()[-1] == row.split()[-2] for row in rows)


def test_a_run_that_failed_is_one_line_with_the_rest_folded():
    def during(operation):
        if str(operation) == "1F1":
            raise ValueError("no such thing")

    found = looked_at(schedules.gpipe(2, 2), during=during)
    assert isinstance(found, NoRun)
    assert found.text.startswith("The run did not come to its end: rank 1 failed at 1F1: ValueError: no such thing.\n")
    line, folded = found.html.split("<details>")
    assert "ValueError: no such thing" in line and "Traceback" not in line
    assert "What the process said" in folded and "Traceback" in folded


def test_where_nothing_ran_there_is_no_memory_to_look_at():
    found = looked_at(schedules.gpipe(2, 2), steps=0)
    assert "steps = 0" in found.text
    assert "no run" in found.memory().text
