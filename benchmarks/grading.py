"""Grading: the same submissions by our grader and by plain `nbgrader autograde`. Target: 10 times the throughput on 2 cores.

Both start from nothing: an empty gradebook, the sandbox not yet up. The submissions are the solved notebooks, those of the
course with most to run and to ask.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.submissions import solved, write_submission
from benchmarks.table import heading, middle, show
from tests.nbgrader_course import environment
from tests.tiny_assignment import ROOT, copy_settings
from tools.notebooks import ASSIGNMENT, SOLVED


def clocked(command, place):
    """(seconds, seconds of processors) that a command and all that it waits for take."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", *map(str, command)], cwd=place, capture_output=True, text=True,
                          env=environment(place) | {"PYTHONPATH": str(ROOT)})
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def course_of(place, submissions):
    """A course of nbgrader's in a folder, with that many submissions of the solved notebooks."""
    copy_settings(place)
    shutil.copytree(ROOT / SOLVED, place / SOLVED, ignore=shutil.ignore_patterns("*.py", ".*"))
    for number in range(submissions):
        write_submission(place / "autograder" / "submitted" / f"student-{number + 1}" / ASSIGNMENT, solved())


def by_nbgrader(submissions):
    """What `nbgrader autograde` takes; the release step before it is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        course_of(place, submissions)
        clocked(["nbgrader", "generate_assignment", ASSIGNMENT], place)
        return clocked(["nbgrader", "autograde", ASSIGNMENT], place)


def by_us(submissions, flags):
    """What `python -m autograder grade` takes."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(submissions):
            write_submission(place / "submitted" / f"student-{number + 1}" / ASSIGNMENT, solved())
        return clocked(["autograder", "grade", place / "submitted", *flags], place)


def row_of(name, measured, submissions):
    """The medians of one grader, by submission."""
    seconds, processors = (middle(column) / submissions for column in zip(*measured, strict=True))
    return [name, submissions, f"{seconds * submissions:.1f}", f"{seconds:.2f}", f"{processors:.2f}", f"{3600 / seconds:,.0f}"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--no-sandbox", action="store_true", help="grade without one, where there is none")
    options = parser.parse_args()
    flags = ["--no-sandbox"] * options.no_sandbox
    heading(f"grading, {options.repeats} repeats, medians, {len(os.sched_getaffinity(0))} submissions at a time by us")
    ours, theirs, larger, few, many = [], [], [], options.submissions, 8 * options.submissions
    for _ in range(options.repeats):
        ours.append(by_us(few, flags))
        theirs.append(by_nbgrader(few))
        larger.append(by_us(many, flags))
    show(["", "submissions", "s in all", "s each", "CPU s each", "an hour"],
         [row_of("nbgrader autograde", theirs, few), row_of("ours", ours, few), row_of("ours", larger, many)])
    for place, what in enumerate(("throughput, ours over nbgrader's", "processor time, nbgrader's over ours")):
        each, small, large = (middle(one[place] for one in measured) for measured in (theirs, ours, larger))
        each /= few
        print(f"{what}: {each / (small / few):.1f} with {few} submissions, {each / (large / many):.1f} with {many}, "
              f"{each * (many - few) / (large - small):.1f} for each further one")


if __name__ == "__main__":
    main()
