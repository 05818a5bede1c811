"""The paced clock: how far the measured bubble and step time are from the predicted ones, on all cores and on one.

"Worst" is the worst of the rows that count; "overruns" are of all runs. Peer: naive pacing, each operation computing and then
sleeping for a slot, which is what one would write first. Target: within 0.3 points on two cores and 1 on one, in steps
without overruns.
"""

import argparse
import os
import subprocess
import sys
import time

from benchmarks.table import best, heading, middle, show
from course.pipeline import close, run
from course.schedules import SCHEDULES

NAMES, SIZES = ("gpipe", "1f1b", "interleaved_1f1b"), ((4, 8), (8, 16))


def naive(schedule, slot):
    """A run whose operations sleep for a slot each."""
    def sleep(operation):
        time.sleep(slot)

    return run(schedule, clock="real", during=sleep, steps=2)


def off(result):
    """Bubble error in points and step time error in percent, both without their sign."""
    return (100 * abs(result.bubble_measured - result.bubble_predicted),
            100 * abs(result.step_time_measured / result.step_time_predicted - 1))


def row_of(name, ranks, micro_batches, repeats):
    """One row of the table."""
    entry = SCHEDULES[name]
    schedule = entry.make(ranks, micro_batches, 2 if entry.chunked else 1)
    results = [run(schedule, steps=2) for _ in range(repeats)]
    clean = [result for result in results if not result.overruns]
    errors = [off(result) for result in clean or results]
    bubbles, lengths = zip(*errors, strict=True)
    slot = middle(result.slot_seconds for result in results)
    other = naive(schedule, slot)
    peer = 100 * abs(other.bubble_measured - other.bubble_predicted)
    return [f"{name} p={ranks} m={micro_batches}", f"{slot * 1e3:.0f}", f"{100 * results[0].bubble_predicted:.2f}",
            f"{middle(bubbles):.2f}", f"{best(bubbles):.2f}", f"{max(bubbles):.2f}", f"{middle(lengths):.2f}",
            f"{len(clean)} of {repeats}", sum(result.overruns for result in results),
            middle(result.attempts for result in results), f"{peer:.2f}", f"{middle(bubbles) / peer:.3f}"]


def table(repeats):
    """Print the table of this process's cores."""
    heading(f"paced clock, {repeats} runs a row; errors of the steps without overruns, where there are such")
    try:
        rows = [row_of(name, ranks, micro_batches, repeats) for ranks, micro_batches in SIZES for name in NAMES]
    finally:
        close()
    show(["", "slot ms", "bubble %", "error points", "p10", "worst", "step time error %", "clean", "overruns", "attempts",
          "naive points", "ratio"], rows)


def main():
    """Print the tables, the second in a process that has one core."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one-core", action="store_true", help="only the table for one core")
    options = parser.parse_args()
    if options.one_core:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        table(options.repeats)
        return
    table(options.repeats)
    if hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1:
        subprocess.run([sys.executable, "-m", "benchmarks.pacing", "--one-core", "--repeats", str(options.repeats)], check=True)


if __name__ == "__main__":
    main()
