"""How a finished run is looked at, and what stands in its place where there was none."""

import re
import sys
from dataclasses import replace
from fractions import Fraction

import cloudpickle
import pytest

from course import Costs, schedules
from course.pipeline import Sizes
from course.real_run import NoRun, RealRun, late, run_subject

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2)

pytestmark = pytest.mark.usefixtures("warm_workers")


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


def test_numbers_are_in_slots_and_leave_out_what_a_notebook_asks_to():
    text = looked_at(schedules.gpipe(2, 3), costs=Costs(1, Fraction(3, 2))).numbers().text
    assert re.search(r"^bubble fraction +1/4 = 25\.0% +25\.0%$", text, re.M), text
    assert re.search(r"^step, slots +10 +10\.00$", text, re.M)
    assert re.search(r"^step, ms \(one slot = [\d.]+ ms\) +\d", text, re.M)
    assert "held at most" in text
    for without, there in (("held", "bubble fraction"), (("bubble",), "held at most"), (["bubble", "held"], "step, slots")):
        text = looked_at(schedules.gpipe(2, 3), without=without).numbers().text
        assert there in text and ("held at most" in text) == ("held" not in without), text
        assert ("bubble fraction" in text) == ("bubble" not in without)
    with pytest.raises(ValueError, match="there is no row 'bubbles'; there are bubble, held"):
        looked_at(schedules.gpipe(2, 3), without="bubbles")


def test_what_was_late_says_how_often_to_repeat():
    run = replace(looked_at(schedules.gpipe(2, 2)).run, overruns=3)
    assert "planned time: 3. This machine was busy" in RealRun(run).numbers().text and "once or twice" in late(3)


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
