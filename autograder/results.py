"""What became of a submission: as JSON, as lines of the summary, and as marks, texts and notebooks in the gradebook."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autograder.autograded import autograded_notebook, printable
from autograder.files import shown
from autograder.gradebook import ANSWER, Book
from autograder.intake import Cell, Submission
from autograder.questions import NOT_THERE, Mark
from autograder.release import Release, is_answer
from course.exercises import EXERCISES
from course.hand_in import STUB

CHECKED = {grade_id: entry for grade_id, entry in EXERCISES.items() if not entry.manual}
UNSANDBOXED = "UNSANDBOXED: graded without a sandbox"
MOST_NOTES, NOTE = 40, 400  # of a submission; characters of one


@dataclass(frozen=True)
class Result:
    """A student's result. `submission` is None where it was rejected, `reason` then says why; `boxed`: in a sandbox."""

    student: str
    seed: int
    submission: Submission | None
    marks: Mapping[str, Mark]
    boxed: bool
    reason: str = ""

    @property
    def points(self) -> dict[str, float]:
        """grade_id -> points; 0 for what could not be graded."""
        return {grade_id: mark.points or 0.0 for grade_id, mark in self.marks.items()}

    @property
    def total(self) -> float:
        """The sum of the points."""
        return float(sum(self.points.values()))

    @property
    def complete(self) -> bool:
        """Whether all that was handed in could be read and graded."""
        return bool(self.submission) and not self.submission.rejected and all(
            mark.points is not None for mark in self.marks.values())

    @property
    def notes(self) -> list[str]:
        """What is to be known of it, one line each, harmless to print."""
        said = [UNSANDBOXED] * (not self.boxed)
        if self.submission is None:
            return [*said, _line(f"rejected: {self.reason}")]
        places = {}
        for grade_id, mark in self.marks.items():
            for note in mark.notes:
                places.setdefault(note, []).append(grade_id)
        known = {NOT_THERE, *self.submission.rejected.values()}  # the submission's own notes say it
        said += [*self.submission.notes,
                 *(f"{', '.join(ids)}: {note}" for note, ids in places.items() if note not in known)]
        return [*map(_line, said[:MOST_NOTES]), *[f"and {len(said) - MOST_NOTES} more"] * (len(said) > MOST_NOTES)]

    def without_cells(self) -> "Result":
        """What is said of it, and no more: a class's cells and outputs would fill the memory."""
        marks = {grade_id: replace(mark, printed="") for grade_id, mark in self.marks.items()}
        return replace(self, marks=marks, submission=self.submission and replace(self.submission, notebooks={}))

    def as_json(self) -> dict:
        """The result as it stands in the file of all results."""
        return {"status": "graded" if self.submission else "rejected", "points": self.points, "total": self.total,
                "notes": self.notes,
                "messages": {grade_id: [[message.code, printable(message.text, NOTE)] for message in mark.messages
                                        if not message.good] for grade_id, mark in self.marks.items()},
                "steps": {grade_id: [[step.name, step.points * step.share, step.points] for step in mark.steps]
                          for grade_id, mark in self.marks.items()
                          if mark.points is not None and mark.points < CHECKED[grade_id].points}}


def _line(text):
    return printable(" ".join(text.split()), NOTE)


def rejected(student: str, seed: int, boxed: bool, reason: str) -> Result:
    """The result of a submission that cannot be read: no points."""
    return Result(student, seed, None, dict.fromkeys(CHECKED, Mark(0.0)), boxed, reason)


def write(book: Book, result: Result, releases: Mapping[str, Release]):
    """Write the result into the gradebook: scores of the checks, texts that wait for a person, comments, notebooks."""
    notebooks, comments, answers = {}, {}, {}
    scores = {grade_id: mark.points for grade_id, mark in result.marks.items()}
    about = {"seed": result.seed, "sandboxed": result.boxed}
    for name, release in releases.items():
        head = [UNSANDBOXED] * (not result.boxed)
        cells = result.submission.notebooks.get(name) if result.submission else None
        if cells is None:
            head.append(result.submission.rejected.get(name, NOT_THERE) if result.submission else f"rejected: {result.reason}")
            cells = [Cell(grade_id, cell.source, cell.cell_type, True) for grade_id, cell in release.cells.items()]
        notebooks[name] = autograded_notebook(release, cells, result.marks, about, map(_line, head))
        for cell in cells:
            if cell.grade_id and is_answer(release.cells[cell.grade_id]):
                answered = not cell.ours and cell.source.strip() not in ("", STUB)
                comments |= {} if answered else {cell.grade_id: "No response."}
                pictures = [picture.data for picture in cell.pictures]
                answers[cell.grade_id.removesuffix(ANSWER)] = "\0".join([cell.source, *pictures])
                if cell.grade_id in EXERCISES:  # a text that a person marks
                    scores[cell.grade_id] = None if answered else 0.0
    book.write(result.student, notebooks, scores, comments, answers)


def summary(results: Mapping[str, Result]) -> str:
    """A line a student, with what was not as it should be below it, and a last line of all."""
    names = {student: student if student.isprintable() else shown(student) for student in results}
    width = max(map(len, names.values()))
    lines = [f"{'student':{width}}  points of {sum(entry.points for entry in CHECKED.values()):g}"]
    for student, result in results.items():
        lines.append(f"{names[student]:{width}}  {f'{result.total:g}' if result.submission else 'rejected'}")
        lines += [f"{'':{width}}    {note}" for note in result.notes]
    out = sum(result.submission is None for result in results.values())
    partly = sum(not result.complete for result in results.values()) - out
    lines.append(f"{len(results) - out} graded, {partly} of them not completely; {out} rejected.")
    return "\n".join(lines)
