"""Marks into nbgrader's own gradebook, through its API: what formgrader, feedback and export need, and nothing of theirs lost."""

import contextlib
import errno
import hashlib
import json
import logging
import os
import re
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.api import BaseCell, Gradebook, InvalidEntry, MissingEntry, Student
from sqlalchemy import delete, insert, make_url, select
from sqlalchemy.exc import IntegrityError, ProgrammingError, SAWarning, SQLAlchemyError

from autograder.alone import alone, alone_with
from autograder.gradebook_tables import ANSWERS, COURSE, prepare
from autograder.release import Release, grade_id_of
from course.hand_in import ASSIGNMENT
from course.progress import write_atomically

WAIT = 60  # seconds for another program that writes to the same gradebook
TRIES = 3  # of what another program did at the same moment: it is then there
COLLISIONS = IntegrityError, ProgrammingError
ANSWER = "-answer"  # what the name of an answer's cell has behind that of its mark


class GradebookError(Exception):
    """The gradebook or its folder cannot be used; one line with the way out."""


def find_alembic():
    """Put this environment's programs on PATH: nbgrader calls `alembic` by its bare name."""
    scripts = sysconfig.get_path("scripts")
    if scripts not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = scripts + os.pathsep + os.environ.get("PATH", "")


def url_of(gradebook: str) -> str:
    """The database's address: a file is one of SQLite, all else with :// is one already. GradebookError where it is none."""
    if "://" not in gradebook:
        return f"sqlite:///{Path(gradebook).resolve().as_posix()}?timeout={WAIT}"
    try:
        url = make_url(gradebook)
        url.get_dialect().import_dbapi()
    except ModuleNotFoundError as error:
        raise GradebookError(f"{shown(gradebook)}: the Python package {error.name} is not there: install it, for PostgreSQL with "
                             '`pip install "psycopg[binary]"`') from None
    except SQLAlchemyError as error:
        raise GradebookError(f"{shown(gradebook)}: {_way_out(error)}") from None
    if url.get_backend_name() == "postgresql":  # it would wait for ever
        said = url.query.get("options", ())
        options = " ".join([*([said] if isinstance(said, str) else said), f"-c lock_timeout={WAIT}s"])
        url = url.update_query_dict({"options": options})
    return url.render_as_string(hide_password=False)


def shown(gradebook: str) -> str:
    """The gradebook's name as it may be printed: without a password."""
    try:
        return make_url(gradebook).render_as_string() if "://" in gradebook else gradebook
    except SQLAlchemyError:
        return f"{gradebook.partition('://')[0]}://..."


@contextlib.contextmanager
def open_gradebook(gradebook: str, releases: Mapping[str, Release], autograded: Path) -> Iterator["Book"]:
    """The gradebook with our assignment, notebooks and cells in it, made where they are not there. GradebookError otherwise."""
    find_alembic()
    logging.getLogger("tornado.application").addHandler(logging.NullHandler())  # nbgrader logs what is said once, below
    url = url_of(gradebook)
    with _one_line(shown(gradebook)):
        autograded.mkdir(parents=True, exist_ok=True)
        if "://" not in gradebook:
            Path(gradebook).resolve().parent.mkdir(parents=True, exist_ok=True)
        with alone_with(gradebook, url):
            _again(lambda: prepare(url, releases))
        with Gradebook(url, COURSE) as opened:
            yield Book(opened, shown(gradebook), autograded)


class NotWritten(Exception):
    """One student's folder cannot be written, and others can; the text says why."""


@contextlib.contextmanager
def _of_one_student():
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise NotWritten(f"{error.filename} is in the way ({error.strerror}): move it away, and grade again") from None


class Book:
    """An open gradebook and the folder of autograded notebooks beside it."""

    def __init__(self, opened: Gradebook, name: str, autograded: Path):
        self._opened, self._name, self._autograded = opened, name, autograded

    def about(self, student: str) -> dict:
        """What was kept of the last grading of a student: `seed` among it; empty where there was none."""
        with contextlib.suppress(OSError):
            for path in sorted(self._folder(student).glob("*.ipynb")):
                with contextlib.suppress(Exception):  # whatever lies there, it is no fault of the class's
                    return dict(json.loads(path.read_text(encoding="utf-8"))["metadata"]["grading"])
        return {}

    def students(self) -> list[str]:
        """The ids of all students in the gradebook."""
        with _one_line(self._name):
            found = [name for name, in self._opened.db.query(Student.id)]
            self._opened.db.rollback()
            return found

    def write(self, student: str, notebooks: Mapping[str, NotebookNode], scores: Mapping[str, float | None],
              comments: Mapping[str, str], answers: Mapping[str, str]):
        """Write a student's notebooks, then all marks at once: killed before, a second run writes the same.

        `scores`: by grade_id, None for what a person marks. `comments`: by the grade_id of an answer's cell. `answers`: by the
        grade_id of its mark, what the learner wrote. What a person has given, a mark or a comment, stays; where the answer or its
        automatic score has changed since, the person is asked to look again, and this is written before the new answer can be
        seen. GradebookError when nothing can be written; what only this student's folder is the reason of, and whatever else is
        raised, leaves the gradebook as it was and open to the next.
        """
        hashes = {grade_id: hashlib.sha256(answer.encode()).hexdigest() for grade_id, answer in answers.items()}
        folder = self._folder(student)
        with _one_line(self._name), self._undone():
            with _of_one_student():
                folder.mkdir(parents=True, exist_ok=True)
            with alone(folder):
                changed = self._changed(student, hashes, folder, notebooks)
                if changed:
                    _again(lambda: self._ask_again(student, hashes, changed), self._opened.db.rollback)
                for left in folder.glob(".*.ipynb.*"):  # of a run that was killed
                    left.unlink()
                for name, notebook in notebooks.items():
                    write_atomically(folder / f"{name}.ipynb", nbformat.v4.writes(notebook) + "\n")
                _again(lambda: self._write_marks(student, scores, comments, hashes), self._opened.db.rollback)

    @contextlib.contextmanager
    def _undone(self):
        try:
            yield
        except Exception:
            self._opened.db.rollback()
            raise

    def _changed(self, student, hashes, folder, notebooks):
        """grade_ids of the answers that are not those of the last marks. Of a student without hashes, the notebooks tell."""
        known = self._hashes(student)
        self._opened.db.rollback()  # nothing is held while notebooks are written
        if known:
            return [grade_id for grade_id, now in hashes.items() if known.get(grade_id) != now]
        seen, now = {}, {}
        for name, notebook in notebooks.items():
            seen |= _answers(folder / f"{name}.ipynb")
            now |= {grade_id_of(cell): cell.source for cell in notebook.cells}
        return [grade_id for grade_id in hashes for cell in _cells_of(grade_id) if seen.get(cell) != now.get(cell)]

    def _hashes(self, student):
        rows = self._opened.db.execute(select(ANSWERS.c.grade_id, ANSWERS.c.hash).where(ANSWERS.c.student == student))
        return dict(map(tuple, rows))

    def _keep_hashes(self, student, hashes):
        self._opened.db.execute(delete(ANSWERS).where(ANSWERS.c.student == student, ANSWERS.c.grade_id.in_(hashes)))
        self._opened.db.execute(insert(ANSWERS), [{"student": student, "grade_id": grade_id, "hash": kept}
                                                  for grade_id, kept in hashes.items()])

    def _ask_again(self, student, hashes, changed):
        """Ask the person for what he has given on these answers, and forget them: no later run takes one for the old one."""
        try:
            submission = self._opened.find_submission(ASSIGNMENT, student)
        except MissingEntry:  # nobody has seen anything
            self._opened.db.rollback()
            return
        for submitted in submission.notebooks:
            by_hand = _by_hand(submitted)
            for grade in submitted.grades:
                if grade.name in changed and grade.name in by_hand:
                    grade.needs_manual_grade = True
        self._keep_hashes(student, hashes | dict.fromkeys(changed, ""))
        self._opened.db.commit()

    def _write_marks(self, student, scores, comments, hashes):
        self._opened.update_or_create_student(student)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader relies on what SQLAlchemy warns of
            submission = self._opened.update_or_create_submission(ASSIGNMENT, student)
        with self._opened.db.no_autoflush:
            _known = self._opened.db.query(BaseCell).all()  # or each grade would look for its own
            before = self._hashes(student)
            for submitted in submission.notebooks:
                by_hand = _by_hand(submitted)
                for grade in submitted.grades:
                    if grade.name not in hashes:
                        continue
                    score = scores.get(grade.name)
                    changed = grade.auto_score != score or before.get(grade.name, hashes[grade.name]) != hashes[grade.name]
                    grade.auto_score = score
                    if grade.name not in by_hand:
                        grade.needs_manual_grade = score is None
                    elif changed:
                        grade.needs_manual_grade = True
                for comment in submitted.comments:
                    if comment.name.removesuffix(ANSWER) in hashes:
                        comment.auto_comment = comments.get(comment.name)
            self._keep_hashes(student, hashes)
        self._opened.db.commit()

    def _folder(self, student):
        return self._autograded / student / ASSIGNMENT


def _cells_of(grade_id):
    """The cells in which an answer may stand: its own, or that of a text."""
    return grade_id, f"{grade_id}{ANSWER}"


def _by_hand(submitted):
    """grade_ids of a notebook's marks where a person gave a mark, extra credit or a comment."""
    marked = {grade.name for grade in submitted.grades if grade.manual_score is not None or grade.extra_credit}
    return marked | {comment.name.removesuffix(ANSWER) for comment in submitted.comments if comment.manual_comment}


def _answers(path):
    """grade_id -> source of the cells of an autograded notebook; nothing where there is none."""
    try:
        return {grade_id_of(cell): cell.source for cell in nbformat.v4.reads(path.read_text(encoding="utf-8")).cells}
    except (OSError, ValueError):
        return {}


def _again(work, between=lambda: None):
    """Do this work, and once more where another program has just made what it wanted to make."""
    for left in reversed(range(TRIES)):
        try:
            work()
            break
        except (SQLAlchemyError, InvalidEntry) as error:
            between()
            cause = error.__context__ if isinstance(error, InvalidEntry) else error
            if not left or not (isinstance(cause, COLLISIONS) or "deadlock" in str(cause)):
                raise


@contextlib.contextmanager
def _one_line(name):
    """Whatever the database or the disk says, as one line that names the way out."""
    try:
        yield
    except RecursionError:  # a RuntimeError that says nothing of the gradebook
        raise
    except (SQLAlchemyError, InvalidEntry, MissingEntry, RuntimeError, OSError) as error:
        raise GradebookError(f"{name}: {_way_out(error)}") from None


def _way_out(error):
    said = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
    if "locked" in said or "lock timeout" in said:
        return f"locked for more than {WAIT} s by another program: close what writes to it, and grade again"
    if "disk is full" in said or "No space left" in said or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return "there is no room left on the disk: make room, and grade again; the marks written so far stand"
    if re.search("no such (column|table)|(column|relation) .* does not exist", said):
        return f"it was made by another version of nbgrader ({said}): keep a copy and run `nbgrader db upgrade`"
    if isinstance(error, RuntimeError):
        return f"it was made for another version of these notebooks ({said}): grade into a new one"
    return said or type(error).__name__
