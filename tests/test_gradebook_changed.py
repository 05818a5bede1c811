"""What a person gave survives each grading, and is asked for again where the answer has changed, whatever stops a grader."""

import os
import sqlite3

import pytest
from nbgrader.api import Gradebook
from sqlalchemy.exc import OperationalError

from autograder import gradebook as module
from autograder.gradebook import open_gradebook
from autograder.intake import Submission
from autograder.pictures import Picture
from autograder.results import write
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.graders import forked
from tests.written_marks import FULL, RELEASES, by_hand, grades, mortal, put, result


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
