"""Marks written into a gradebook in a folder, read back as they stand, and given by a person in between."""

import os
import signal

from nbgrader.api import Gradebook

from autograder.gradebook import open_gradebook
from autograder.questions import Mark
from autograder.release import read_releases
from autograder.results import CHECKED, Result, write
from course.checks.outcome import Message
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT

RELEASES = read_releases()
FULL = {grade_id: entry.points for grade_id, entry in CHECKED.items()}


def opened(root):
    return open_gradebook(str(root / "gradebook.db"), RELEASES, root / "autograded")


def result(submission, points=FULL, student="one", **notes):
    return Result(student, 7, submission, {grade_id: Mark(points.get(grade_id, 0.0), (Message("m", "a message"),))
                                           for grade_id in CHECKED}, True, **notes)


def put(root, *results):
    with opened(root) as book:
        for each in results:
            write(book, each, RELEASES)


def grades(root, student="one"):
    """grade_id -> (automatic score, given by hand, waits for a person)."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return {grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                for submitted in book.find_submission(ASSIGNMENT, student).notebooks for grade in submitted.grades}


def by_hand(root, grade_id, score=None, comment=None):
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        name = EXERCISES[grade_id].notebook
        if score is not None:
            grade = book.find_grade(grade_id, name, ASSIGNMENT, "one")
            grade.manual_score, grade.needs_manual_grade = score, False
        if comment:
            book.find_comment(grade_id if EXERCISES[grade_id].manual else f"{grade_id}-answer", name, ASSIGNMENT,
                              "one").manual_comment = comment
        book.db.commit()


def mortal(function, lives):
    """The function, which ends its process without a word when it has been called too often."""
    def call(*arguments, **options):
        lives.pop() if lives else os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call
