"""`python -m autograder grade`: the submissions of a folder, in parallel, to marks in nbgrader's gradebook."""

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from autograder.autograded import autograded_notebook
from autograder.files import Rejected
from autograder.gradebook import Book, GradebookError, open_gradebook
from autograder.intake import Cell, Submission, read_submission
from autograder.questions import NOT_THERE, Mark, NotStarted, grade
from autograder.release import NoRelease, read_releases
from autograder.trusted_runs import TrustedRuns
from autograder.unsandboxed import Unsandboxed
from course.exercises import EXERCISES
from course.hand_in import STUB
from course.options import FAILED, INTERRUPTED, WRONG_INPUT, whole
from course.progress import write_atomically

HOME = Path(__file__).resolve().parent
CHECKED = {grade_id: entry for grade_id, entry in EXERCISES.items() if not entry.manual}
LONGEST_NAME = 128  # characters of a student's id in the gradebook
UNSANDBOXED = "UNSANDBOXED: graded without a sandbox"


class Refused(Exception):
    """Grading does not start; one line with the way out."""


@dataclass(frozen=True)
class Result:
    """What became of a student's submission: `submission` None where it was rejected, with the reason first in `notes`."""

    student: str
    seed: int
    submission: Submission | None
    marks: Mapping[str, Mark]
    notes: tuple[str, ...]

    @property
    def points(self) -> dict[str, float]:
        """grade_id -> points; 0 for what could not be graded."""
        return {grade_id: mark.points or 0.0 for grade_id, mark in self.marks.items()}

    @property
    def complete(self) -> bool:
        """Whether all that was handed in could be read and graded."""
        return bool(self.submission) and not self.submission.rejected and all(
            mark.points is not None for mark in self.marks.values())

    def as_json(self) -> dict:
        """The result as it stands in the file of all results."""
        return {"status": "graded" if self.submission else "rejected", "points": self.points,
                "total": sum(self.points.values()), "notes": list(self.notes),
                "messages": {grade_id: [[message.code, message.text] for message in mark.messages if not message.good]
                             for grade_id, mark in self.marks.items()}}


def add(parser):
    """The options of `grade`."""
    parser.add_argument("submitted", nargs="?", default=str(HOME / "submitted"), metavar="SUBMITTED_DIR",
                        help="a folder in nbgrader's layout: <student>/pipeline_parallelism/*.ipynb; autograder/submitted")
    parser.add_argument("--gradebook", metavar="FILE", help="a file (SQLite) or a database's address; beside SUBMITTED_DIR, "
                        "gradebook.db")
    parser.add_argument("--autograded", metavar="DIR", help="where the autograded notebooks go; beside SUBMITTED_DIR")
    parser.add_argument("--jobs", type=whole, default=_cores(), metavar="N", help="submissions at a time; one for each core")
    parser.add_argument("--student", nargs="+", default=[], metavar="ID", help="only these; all")
    parser.add_argument("--json", metavar="OUT", help="write the results as JSON too")
    parser.add_argument("--no-sandbox", action="store_true", help="run the learners' code in plain processes, with your rights; "
                        "every result says so")


def run(options) -> int:
    """Grade; 0 when all was graded, 1 when something could not be, 2 when grading was refused."""
    try:
        releases = read_releases()
        students = _students(Path(options.submitted), options.student)
        sandbox = _sandbox(options)
    except (Refused, NoRelease) as error:
        return _complain(error, WRONG_INPUT)
    beside = Path(options.submitted).resolve().parent
    gradebook = options.gradebook or str(beside / "gradebook.db")
    autograded = Path(options.autograded) if options.autograded else beside / "autograded"
    results = {}
    try:
        with open_gradebook(gradebook, releases, autograded) as book:
            print(sandbox.describe(), file=sys.stderr)
            with sandbox, TrustedRuns() as trusted:
                for result in _graded(students, Path(options.submitted), releases, sandbox, trusted, book, options.jobs):
                    _write(book, result, releases, sandbox.sandboxed)
                    results[result.student] = result
    except GradebookError as error:
        return _complain(f"{error} ({len(results)} of {len(students)} submissions are graded)",
                         FAILED if results else WRONG_INPUT)
    except KeyboardInterrupt:
        return _complain(f"interrupted; {len(results)} of {len(students)} submissions are graded, and their marks are kept",
                         INTERRUPTED)
    results = {student: results[student] for student in students}
    print(_summary(results, gradebook, autograded))
    if options.json:
        try:
            write_atomically(Path(options.json), json.dumps({student: result.as_json() for student, result in results.items()},
                                                            indent=1) + "\n")
        except OSError as error:
            return _complain(f"{options.json} cannot be written: {error.strerror}; the marks are in {gradebook}", FAILED)
    return 0 if all(result.complete for result in results.values()) else FAILED


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _complain(error, code):
    print(f"python -m autograder grade: {error}", file=sys.stderr)
    return code


def _sandbox(options):
    if options.no_sandbox:
        return Unsandboxed()
    raise Refused("there is no sandbox here: --no-sandbox grades without one")


def _students(folder, chosen):
    """The students' folders, or those chosen among them. Refused where there is none."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder)
                       if not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir()))
    except OSError as error:
        raise Refused(f"{folder} cannot be opened ({error.strerror}): name a folder in nbgrader's layout, "
                      "or make one with `python -m autograder collect`") from None
    if unknown := sorted(set(chosen) - set(names)):
        raise Refused(f"there is no submission of {unknown[0]} in {folder}; there are {', '.join(names[:20]) or 'none'}")
    if not names:
        raise Refused(f"there is no submission in {folder}: it needs <student>/pipeline_parallelism/*.ipynb; "
                      "`python -m autograder collect` makes that of downloads")
    return [name for name in names if not chosen or name in chosen]


def _graded(students, folder, releases, sandbox, trusted, book: Book, jobs) -> Iterator[Result]:
    """The results as they come, with a progress bar."""
    from tqdm import tqdm

    seeds = {student: book.about(student).get("seed") for student in students}
    seeds = {student: seed if type(seed) is int else secrets.randbelow(2**31) for student, seed in seeds.items()}
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        futures = [pool.submit(_grade_one, student, seeds[student], folder, releases, sandbox, trusted) for student in students]
        with tqdm(total=len(futures), unit="submission", file=sys.stderr, disable=None) as bar:
            for future in as_completed(futures):
                yield future.result()
                bar.update()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _grade_one(student, seed, folder, releases, sandbox, trusted):
    """One student's result; whatever happens, the class goes on."""
    notes = () if sandbox.sandboxed else (UNSANDBOXED,)
    try:
        if len(student) > LONGEST_NAME or not student.isprintable():
            raise Rejected(f"the folder's name is no student's id: up to {LONGEST_NAME} printable characters")
        submission = read_submission(folder / student, releases)
    except Rejected as error:
        reason = f"rejected: {error}"
        return Result(student, seed, None, dict.fromkeys(CHECKED, Mark(0.0, notes=(reason,))), (*notes, reason))
    try:
        marks = grade(submission, sandbox, seed, trusted)
    except NotStarted as error:
        marks = dict.fromkeys(CHECKED, Mark(None, notes=(f"not graded: no session could be started ({error})",)))
    except Exception as error:
        marks = dict.fromkeys(CHECKED, Mark(None, notes=(f"not graded: {type(error).__name__}: {str(error)[:200]}",)))
    said = {}
    for grade_id, mark in marks.items():
        for note in mark.notes:
            said.setdefault(note, []).append(grade_id)
    return Result(student, seed, submission, marks, (
        *notes, *submission.notes, *(f"{', '.join(places)}: {note}" for note, places in said.items()
                                     if note not in submission.rejected.values() and note != NOT_THERE)))


def _write(book, result, releases, sandboxed):
    """The result into the gradebook: scores of the checks, texts that wait for a person, comments, notebooks."""
    notebooks, scores, comments = {}, {grade_id: mark.points for grade_id, mark in result.marks.items()}, {}
    head = [note for note in result.notes if note in (UNSANDBOXED,) or not result.submission]
    for name, release in releases.items():
        cells = result.submission.notebooks.get(name) if result.submission else None
        reason = None if cells else (result.submission.rejected.get(name, NOT_THERE) if result.submission else None)
        cells = cells or [Cell(grade_id, cell.source, cell.cell_type, True) for grade_id, cell in release.cells.items()]
        notebooks[name] = autograded_notebook(release, cells, result.marks, {"seed": result.seed, "sandboxed": sandboxed},
                                              [*head, *filter(None, [reason])])
        for cell in cells:
            if cell.grade_id in EXERCISES and EXERCISES[cell.grade_id].manual:
                answered = not cell.ours and cell.source.strip() not in ("", STUB)
                scores[cell.grade_id] = None if answered else 0.0
                if not answered:
                    comments[cell.grade_id] = "No response."
    book.write(result.student, notebooks, scores, comments)


def _summary(results, gradebook, autograded):
    """A line a student with what was not as it should be below it, and where the marks are."""
    most = sum(entry.points for entry in CHECKED.values())
    width = max(map(len, results))
    lines = [f"{'student':{width}}  points of {most:g}"]
    for student, result in results.items():
        state = f"{sum(result.points.values()):g}" if result.submission else "rejected"
        lines.append(f"{student:{width}}  {state}")
        lines += [f"{'':{width}}    {note}" for note in result.notes]
    rejected = sum(result.submission is None for result in results.values())
    partly = sum(not result.complete for result in results.values()) - rejected
    lines.append(f"{len(results) - rejected} graded ({partly} of them not completely), {rejected} rejected; marks in "
                 f"{gradebook}, notebooks in {autograded}. Free texts wait for you in formgrader.")
    return "\n".join(lines)
