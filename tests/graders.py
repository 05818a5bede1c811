"""Graders in processes of their own, begun, watched and ended; and what a gradebook then holds, whatever database it is."""

import contextlib
import functools
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

import psutil
from nbgrader.api import Gradebook

from autograder import grade as module
from autograder.__main__ import main
from autograder.gradebook import COURSE, open_gradebook, url_of
from autograder.release import read_releases
from autograder.sandbox import open_sandbox
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.submissions import answer, hand_in

NOTEBOOK = "3_bubble_fraction"
FULL = {grade_id: entry.points for grade_id, entry in EXERCISES.items() if entry.notebook == NOTEBOOK}
NEEDED = ("course.notebook", "course.lessons.bubble", "numpy")  # all that this notebook imports: a server that starts in a second
PATIENCE = 240  # seconds: a guard against hangs


def small_class(root: Path) -> dict[str, float]:
    """Four students with one notebook each, in `root`/submitted; student -> the total that is theirs."""
    submitted = root / "submitted"
    for student in ("a", "b", "c", "d"):
        folder = hand_in(submitted, student, only=(NOTEBOOK,))
    answer(folder, "ex3-use-answer", "bubble_4_8 = bubble_8_64 = None")
    (submitted / "b" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").write_text('{"cells": [')
    full = sum(FULL.values())
    return {"a": full, "b": 0, "c": full, "d": full - FULL["ex3-use"]}


@functools.cache
def empty_gradebook() -> bytes:
    """The file of a gradebook without submissions, made once: nbgrader takes seconds for it."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "gradebook.db"
        with open_gradebook(str(path), read_releases(), Path(place)):
            pass
        return path.read_bytes()


def forked(work) -> int:
    """The number of a process that does this work and ends; its exit code is what the work returns, None as 0."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work() or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    return child


def begin(root: Path, *more, gradebook: str = "", autograded: str = "autograded", said: str = "said",
          temporary: str = "temporary") -> int:
    """The number of a process that grades `root`/submitted; its words go to the file `said`, what is temporary beside it."""
    def work():
        tempfile.tempdir = str(root / temporary)
        os.makedirs(tempfile.tempdir, exist_ok=True)
        words = os.open(root / said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(words, 1)
        os.dup2(words, 2)
        sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
        module.open_sandbox = lambda jobs, hidden: open_sandbox(jobs, hidden, preload=NEEDED)
        return main(["grade", str(root / "submitted"), "--gradebook", gradebook or str(root / "gradebook.db"),
                     "--autograded", str(root / autograded), *map(str, more)])
    return forked(work)


def code_of(pid: int) -> int:
    """Its exit code, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def graded(root: Path, *more, **options) -> tuple[int, str]:
    """Exit code and words of a grader that is left to end."""
    code = code_of(begin(root, *more, **options))
    return code, (root / "said").read_text()


def wait_until(holds, pid: int = 0):
    """Return when this is true; it must be while this process lives."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until and (not pid or psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
        time.sleep(0.01)


def below(pid: int) -> list[psutil.Process]:
    """What a process has started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def lives(process: psutil.Process) -> bool:
    """Whether it is more than a line that the machine's first process has not read yet."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE and process.is_running()
    return False


def marks(gradebook: str) -> dict[tuple[str, str], tuple]:
    """(student, grade_id) -> (automatic score, given by hand), each once."""
    found = {}
    with Gradebook(url_of(gradebook), COURSE) as book:
        for submission in book.assignment_submissions(ASSIGNMENT):
            for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
                assert (submission.student.id, grade.name) not in found
                found[submission.student.id, grade.name] = grade.auto_score, grade.manual_score
    return found


def totals(gradebook: str) -> dict[str, float]:
    """student -> total, as nbgrader counts it."""
    with Gradebook(url_of(gradebook), COURSE) as book:
        return {student.id: student.score for student in book.students}


def mark_by_hand(gradebook: str, student: str, grade_id: str, score: float):
    """As formgrader does it."""
    with Gradebook(url_of(gradebook), COURSE) as book:
        grade = book.find_grade(grade_id, EXERCISES[grade_id].notebook, ASSIGNMENT, student)
        grade.manual_score, grade.needs_manual_grade = score, False
        book.db.commit()
