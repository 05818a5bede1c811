"""The marks of a class as they stand in nbgrader's gradebook, and what the grading said about them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Assignment, Grade, Gradebook, GradeCell, SubmittedAssignment, SubmittedNotebook

from autograder.gradebook import COURSE, url_of
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT


@dataclass(frozen=True)
class Standing:
    """A student's marks: points by grade_id, and the parts that a person has yet to mark. No points: nothing was handed in.

    `status`, `notes` and `messages` (by grade_id, pairs of code and text) are those of `grade --json`, where it was given.
    """

    student: str
    points: Mapping[str, float]
    waiting: tuple[str, ...] = ()
    status: str = ""
    notes: tuple[str, ...] = ()
    messages: Mapping[str, list] = field(default_factory=dict)

    def total(self, notebook: str | None = None) -> float:
        """The points of a notebook, or of all."""
        return sum(points for grade_id, points in self.points.items() if notebook in (None, EXERCISES[grade_id].notebook))


def notebooks() -> list[str]:
    """The notebooks with points, in order."""
    return sorted({entry.notebook for entry in EXERCISES.values()})


def most(notebook: str | None = None) -> float:
    """What can be had in a notebook, or in all."""
    return sum(entry.points for entry in EXERCISES.values() if notebook in (None, entry.notebook))


def read_standings(gradebook: str, results: Mapping[str, Mapping] = {}) -> list[Standing]:
    """Every student of the gradebook, in order. FileNotFoundError without one; SQLAlchemyError where it is none."""
    if "://" not in gradebook and not Path(gradebook).is_file():
        raise FileNotFoundError(gradebook)
    with Gradebook(url_of(gradebook), COURSE) as opened:
        students = {student.id: ({}, []) for student in opened.students}
        rows = (opened.db.query(SubmittedAssignment.student_id, GradeCell.name, Grade.score, Grade.needs_manual_grade)
                .select_from(Grade).join(GradeCell, Grade.cell_id == GradeCell.id)
                .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
                .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
                .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).filter(Assignment.name == ASSIGNMENT))
        for student, grade_id, score, waits in rows:
            if grade_id in EXERCISES:
                students[student][0][grade_id] = float(score or 0)
                students[student][1].extend([grade_id] * bool(waits))
    return [_standing(student, points, waiting, results.get(student, {}))
            for student, (points, waiting) in sorted(students.items(), key=lambda pair: _natural(pair[0]))]


def _standing(student, points, waiting, result):
    return Standing(student, points, tuple(part for part in EXERCISES if part in waiting), result.get("status", ""),
                    tuple(result.get("notes", ())), result.get("messages", {}))


def _natural(name):
    """student-2 before student-10."""
    digits = "".join(character for character in name if character.isdigit())
    return name.rstrip("0123456789"), int(digits) if digits.isascii() and digits else 0, name


def read_results(path: Path) -> dict[str, dict]:
    """What `grade --json` wrote. OSError, or ValueError where it is something else."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or not all(isinstance(result, dict) and "status" in result for result in found.values()):
        raise ValueError("not what `grade --json` writes")
    return found
