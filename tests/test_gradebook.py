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
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from autograder import gradebook as module
from autograder.gradebook import GradebookError, open_gradebook
from autograder.intake import Cell, Submission, read_submission
from autograder.pictures import Picture
from autograder.questions import Mark
from autograder.release import Release, grade_id_of, read_releases
from autograder.results import CHECKED, Result, rejected, write
from course.checks.outcome import Message
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.graders import empty_gradebook, forked
from tests.submissions import ROOT, hand_in
from tools import notebooks

RELEASES = read_releases()
TEXTS = [grade_id for grade_id, entry in EXERCISES.items() if entry.manual]
FULL = {grade_id: entry.points for grade_id, entry in CHECKED.items()}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "gradebook.db").write_bytes(empty_gradebook())
    return tmp_path


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return read_submission(hand_in(tmp_path_factory.mktemp("solved"), "one").parent, RELEASES)


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


def test_what_a_person_gave_survives_and_is_asked_for_again_only_where_something_changed(root, solved):
    put(root, result(solved))
    by_hand(root, "ex2-explain", 3.5, "well said")
    by_hand(root, "ex4-explain", 2)
    by_hand(root, "ex3-use", 1, "by hand")
    put(root, result(solved))
    found = grades(root)
    assert [found[name][1:] for name in ("ex2-explain", "ex4-explain", "ex3-use")] == [(3.5, False), (2, False), (1, False)]
    put(root, result(with_text(solved, "another text"), {**FULL, "ex3-use": 2.0}))
    found = grades(root)
    assert [found[name][1:] for name in ("ex2-explain", "ex4-explain", "ex3-use")] == [(3.5, True), (2, False), (1, True)]
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        assert book.find_comment("ex2-explain", "2_1f1b_phases", ASSIGNMENT, "one").comment == "well said"
        assert book.find_comment("ex3-use-answer", "3_bubble_fraction", ASSIGNMENT, "one").comment == "by hand"


def with_text(solved, source, grade_id="ex2-explain"):
    cells = [cell._replace(source=source, ours=False) if cell.grade_id == grade_id else cell
             for cell in solved.notebooks["2_1f1b_phases"]]
    return Submission({**solved.notebooks, "2_1f1b_phases": cells})


def test_an_answer_to_a_check_that_has_changed_and_a_comment_on_one_are_asked_for_again(root, solved):
    put(root, result(solved))
    by_hand(root, "ex2-phases", 1)
    by_hand(root, "ex2-in-flight", comment="well done")
    put(root, result(solved))
    assert [grades(root)[name][2] for name in ("ex2-phases", "ex2-in-flight")] == [False, False]
    put(root, result(with_text(solved, "w_hat = 1", "ex2-phases-answer")))  # its automatic score is the same
    assert [grades(root)[name][1:] for name in ("ex2-phases", "ex2-in-flight")] == [(1, True), (None, False)]
    put(root, result(with_text(solved, "def f(): ...", "ex2-in-flight-answer")))
    assert grades(root)["ex2-in-flight"] == (EXERCISES["ex2-in-flight"].points, None, True)
    put(root, result(with_text(solved, "def f(): ...", "ex2-in-flight-answer")))
    assert grades(root)["ex2-in-flight"][2]  # nobody has looked at it yet


def test_another_picture_in_a_text_is_another_text(root, solved):
    def pasted(data):
        found = with_text(solved, "![x](attachment:x.png)")
        cells = [cell._replace(pictures=(Picture("x.png", "image/png", data),)) if cell.grade_id == "ex2-explain" else cell
                 for cell in found.notebooks["2_1f1b_phases"]]
        return result(Submission({**solved.notebooks, "2_1f1b_phases": cells}))

    put(root, pasted("AAAA"))
    by_hand(root, "ex2-explain", 3)
    put(root, pasted("AAAA"))
    assert grades(root)["ex2-explain"][1:] == (3, False)
    put(root, pasted("BBBB"))
    assert grades(root)["ex2-explain"][1:] == (3, True)


def test_a_grader_with_other_folders_knows_what_was_marked(root, solved):
    """Two graders of one gradebook: what lies in the folder of one tells nothing of what the other has shown."""
    put(root, result(solved))
    by_hand(root, "ex2-explain", 3)
    with open_gradebook(str(root / "gradebook.db"), RELEASES, root / "another") as book:
        write(book, result(solved), RELEASES)
        assert not grades(root)["ex2-explain"][2]
        write(book, result(with_text(solved, "x")), RELEASES)
    by_hand(root, "ex2-explain", 1)
    put(root, result(solved))  # its own folder still holds just this
    assert grades(root)["ex2-explain"][1:] == (1, True)


def test_of_a_gradebook_without_hashes_the_notebooks_tell(root, solved):
    put(root, result(solved))
    by_hand(root, "ex2-explain", 3)
    by_hand(root, "ex4-explain", 3)
    with sqlite3.connect(root / "gradebook.db") as database:
        database.execute("DROP TABLE graded_answer")
    put(root, result(with_text(solved, "x")))
    assert [grades(root)[name][2] for name in ("ex2-explain", "ex4-explain")] == [True, False]


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


# Faults


def mortal(function, lives):
    """The function, which ends its process without a word when it has been called too often."""
    def call(*arguments, **options):
        lives.pop() if lives else os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call


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


@pytest.mark.parametrize("fault", ["killed before", "killed among notebooks", "killed before the marks", "no room", "locked"])
@pytest.mark.parametrize("hashes", [True, False])
def test_whatever_stops_a_grader_a_changed_text_is_asked_for_again(root, solved, monkeypatch, fault, hashes):
    put(root, result(solved))
    by_hand(root, "ex2-explain", 4, "well said")
    if not hashes:
        with sqlite3.connect(root / "gradebook.db") as database:
            database.execute("DROP TABLE graded_answer")
    changed, old = result(with_text(solved, "x")), page_of(root)

    def stopped():
        with monkeypatch.context() as patched:
            if fault == "locked":
                patched.setattr(module.Book, "_write_marks", raising(OperationalError("", {}, Exception("database is locked"))))
            elif fault == "no room":
                patched.setattr(module, "write_atomically", raising(OSError(28, "No space left on device")))
            else:
                lives = [None] * (fault != "killed before") * (2 if fault == "killed among notebooks" else len(RELEASES))
                patched.setattr(os, "replace", mortal(os.replace, lives))
                patched.setattr(module.Book, "_write_marks", mortal(module.Book._write_marks, lives))
            put(root, changed)

    assert os.waitstatus_to_exitcode(os.waitpid(forked(stopped), 0)[1]) != 0
    assert grades(root)["ex2-explain"][2] or page_of(root) == old  # never the new text beside the old mark
    by_hand(root, "ex2-explain", 3)  # of whatever is shown then
    put(root, changed)
    assert grades(root)["ex2-explain"][1:] == (3, True)
    by_hand(root, "ex2-explain", 1)
    put(root, changed)
    assert grades(root)["ex2-explain"][1:] == (1, False)


def page_of(root):
    return (root / "autograded" / "one" / ASSIGNMENT / "2_1f1b_phases.ipynb").read_bytes()


def raising(error):
    def call(*_, **__):
        raise error
    return call


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
