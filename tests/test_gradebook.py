"""Marks in nbgrader's gradebook: what is made, what survives, and what cannot be written."""

import os
import shutil
import signal
import sqlite3

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config

from autograder import gradebook as module
from autograder.grade import _alike
from autograder.gradebook import GradebookError, open_gradebook
from autograder.intake import Cell, Submission, read_submission
from autograder.release import Release, grade_id_of
from autograder.results import CHECKED, rejected, write
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.graders import forked
from tests.submissions import ROOT, hand_in
from tests.written_marks import FULL, RELEASES, by_hand, grades, mortal, opened, put, result
from tools import notebooks

TEXTS = [grade_id for grade_id, entry in EXERCISES.items() if entry.manual]


def test_the_gradebook_has_what_nbgraders_release_step_makes(root, tmp_path_factory):
    theirs = tmp_path_factory.mktemp("theirs")
    shutil.copytree(ROOT / "solutions" / ASSIGNMENT, theirs / "solutions" / ASSIGNMENT)
    notebooks._generate_assignment(theirs)

    def content(path):
        with Gradebook(f"sqlite:///{path}") as book:
            assignment = book.find_assignment(ASSIGNMENT)
            return {entry.name: (sorted((cell.name, cell.max_score, cell.cell_type) for cell in entry.grade_cells),
                                 sorted(cell.name for cell in entry.solution_cells),
                                 sorted((cell.name, cell.cell_type, cell.locked, cell.source, cell.checksum)
                                        for cell in entry.source_cells)) for entry in assignment.notebooks}

    assert content(root / "gradebook.db") == content(theirs / "gradebook.db")


def test_scores_are_automatic_and_texts_wait_for_a_person(root, solved):
    put(root, result(solved), rejected("two", 1, True, "empty"))
    found = grades(root)
    assert found == {grade_id: (None, None, True) if entry.manual else (entry.points, None, False)
                     for grade_id, entry in EXERCISES.items()}
    assert set(grades(root, "two").values()) == {(0.0, None, False)}


def test_an_unanswered_text_has_0_and_what_could_not_be_graded_waits(root, tmp_path_factory):
    released = read_submission(hand_in(tmp_path_factory.mktemp("r"), "one", "notebooks").parent, RELEASES)
    put(root, result(released, {**dict.fromkeys(CHECKED, 0.0), "ex1-diagram": None}))
    found = grades(root)
    assert {found[grade_id] for grade_id in TEXTS} == {(0.0, None, False)}
    assert found["ex1-diagram"] == (None, None, True)


def test_the_seed_is_kept_for_the_next_time(root, solved):
    put(root, result(solved))
    with opened(root) as book:
        assert book.about("one") == {"seed": 7, "sandboxed": True} and book.about("nobody") == {}


def test_feedback_and_export_go_on_from_there(root, solved, monkeypatch):
    put(root, result(solved), rejected("two", 1, True, "a <script>alert(1)</script>"))
    by_hand(root, "ex2-explain", 3.5, "well said")
    config = Config({"CourseDirectory": {
        "root": str(root), "autograded_directory": "autograded", "feedback_directory": "feedback", "assignment_id": ASSIGNMENT,
        "db_url": f"sqlite:///{root / 'gradebook.db'}"}})
    GenerateFeedback(coursedir=CourseDirectory(config=config), config=config).start()
    page = (root / "feedback" / "one" / ASSIGNMENT / "2_1f1b_phases.html").read_text(encoding="utf-8")
    assert "a message" in page and "well said" in page and "(Score: 19.5 / 20.0)" in page
    page = (root / "feedback" / "two" / ASSIGNMENT / "1_gpipe_diagram.html").read_text(encoding="utf-8")
    assert "rejected: a" in page and "<script>alert" not in page
    monkeypatch.chdir(root)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        CsvExportPlugin(to="grades.csv").export(book)
    rows = [line.split(",") for line in (root / "grades.csv").read_text().splitlines()[1:]]
    assert {row[3]: float(row[7]) for row in rows} == {"one": sum(FULL.values()) + 3.5, "two": 0}


def test_an_id_that_looks_like_one_in_the_gradebook_is_said(root):
    put(root, rejected("s1", 1, True, "empty"))
    with opened(root) as book:
        (said,) = _alike(["S\uff11", "s2"], book)
        assert said == "'S\\uff11' looks like 's1': see that these are two people"
        assert _alike(["s1", "s2"], book) == []


# Faults


def test_killed_at_any_place_and_run_again_nothing_is_lost_or_doubled(root, solved, monkeypatch):
    put(root, result(solved))
    by_hand(root, "ex2-explain", 3.5)
    wanted = grades(root)
    for count in (0, 3, len(RELEASES)):
        lives = [None] * count
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", mortal(os.replace, lives))
            patched.setattr(module.Book, "_write_marks", mortal(module.Book._write_marks, lives))
            child = forked(lambda: put(root, result(solved, dict.fromkeys(CHECKED, 0.5))))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert grades(root) == wanted
        put(root, result(solved))
        assert grades(root) == wanted
        assert sorted(os.listdir(root / "autograded" / "one" / ASSIGNMENT)) == sorted(f"{name}.ipynb" for name in RELEASES)


def test_two_at_once_make_one_gradebook(tmp_path):
    students = [f"student {number}" for number in range(3)]
    both = [forked(lambda: put(tmp_path, *(rejected(student, 1, True, "empty") for student in students))) for _ in range(2)]
    assert [os.waitpid(child, 0)[1] for child in both] == [0, 0]
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert sorted(student.id for student in book.students) == students
        assert len(book.assignment_submissions(ASSIGNMENT)) == len(students)


def test_a_locked_gradebook_is_one_line(root, monkeypatch, solved, caplog):
    monkeypatch.setattr(module, "WAIT", 0.2)
    with opened(root) as book:
        other = sqlite3.connect(root / "gradebook.db")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(GradebookError, match=r"locked for more than 0\.2 s by another program: close") as caught:
            write(book, result(solved), RELEASES)
        other.rollback()
        other.close()
        assert "\n" not in str(caught.value)
        write(book, result(solved), RELEASES)
    assert grades(root)["ex3-use"] == (4, None, False)


def test_a_full_disk_is_one_line(root, monkeypatch, solved):
    def full(*_):
        raise OSError(28, "No space left on device")

    with opened(root) as book:
        monkeypatch.setattr(module, "write_atomically", full)
        with pytest.raises(GradebookError, match="no room left on the disk"):
            write(book, result(solved), RELEASES)


@pytest.mark.parametrize("make, reason", [
    (lambda path: path.write_text("no database " * 100), "not a database"), (lambda path: path.mkdir(), "unable to open")])
def test_what_is_no_gradebook_is_one_line(tmp_path, make, reason):
    make(tmp_path / "gradebook.db")
    with pytest.raises(GradebookError, match=reason) as caught, opened(tmp_path):
        pass
    assert "\n" not in str(caught.value)


def test_a_gradebook_of_other_notebooks_is_refused_once_it_holds_marks(root, solved):
    put(root, result(solved))
    name, lost = "1_gpipe_diagram", "ex1-diagram"
    other = nbformat.from_dict(RELEASES[name].notebook)
    other.cells = [cell for cell in other.cells if grade_id_of(cell) != lost]
    cells = {key: cell for key, cell in RELEASES[name].cells.items() if key != lost}
    changed = {**RELEASES, name: Release(other, cells, RELEASES[name].others)}
    with pytest.raises(GradebookError, match="another version of these notebooks"), open_gradebook(
            str(root / "gradebook.db"), changed, root / "autograded"):
        pass
    assert grades(root)["ex1-diagram"] == (10, None, False)


def test_cells_of_a_notebook_that_is_not_there_are_the_releases(root, solved):
    put(root, result(Submission({}, rejected={"1_gpipe_diagram": "too large"}), dict.fromkeys(CHECKED, 0.0)))
    made = nbformat.read(root / "autograded" / "one" / ASSIGNMENT / "1_gpipe_diagram.ipynb", as_version=4)
    assert made.cells[0].source == "too large"
    assert [cell.source for cell in made.cells if "nbgrader" in cell.metadata] == [
        cell.source for cell in RELEASES["1_gpipe_diagram"].cells.values()]
    assert Cell("x", "y") == Cell("x", "y", "code", False)
