"""The made-up class: every edit does what it says, and the class goes through `collect` whole."""

import pytest

from autograder import sample_class, submissions
from autograder.collect import collect
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT

SOLVED, RELEASED = submissions.solved(), submissions.released()


def source(notebooks, grade_id):
    cells, place = submissions.find(notebooks, grade_id)
    return "".join(cells[place]["source"])


def test_edits():
    notebooks = submissions.solved()
    submissions.write_cell(notebooks, "ex1-bubbles-answer", "x = 1")
    submissions.append_to_cell(notebooks, "ex1-bubbles-answer", "y = 2")
    assert source(notebooks, "ex1-bubbles-answer") == "x = 1\ny = 2"
    submissions.add_cell(notebooks, "ex1-bubbles-answer", "own = 3")
    cells, place = submissions.find(notebooks, "ex1-bubbles-answer")
    assert cells[place - 1]["source"] == "own = 3"
    submissions.repeat_cell(notebooks, "ex1-bubbles-answer", "copy")
    submissions.delete_cell(notebooks, "ex1-bubbles-answer")
    assert source(notebooks, "ex1-bubbles-answer") == "copy"
    submissions.truncate(notebooks, "2_1f1b_phases.ipynb")
    assert isinstance(notebooks["2_1f1b_phases.ipynb"], bytes)
    with pytest.raises(StopIteration):
        submissions.find(notebooks, "ex2-order-answer")


def test_solved_and_released_notebooks_have_every_exercise():
    for notebooks in (SOLVED, RELEASED):
        for entry in EXERCISES.values():
            assert submissions.find(notebooks, entry.grade_id)
    assert source(SOLVED, "ex1-bubbles-answer") != source(RELEASED, "ex1-bubbles-answer")


def test_the_class_is_eight_and_all_different(tmp_path):
    sample_class.write_class(tmp_path / "downloads")
    found = collect(tmp_path / "downloads", tmp_path / "submitted")
    assert [(one.student, one.state) for one in found] == [(f"student-{n}", "collected") for n in range(1, 9)]
    files = {one.student: {path.name: path.read_bytes() for path in (tmp_path / "submitted" / one.student / ASSIGNMENT).iterdir()}
             for one in found}
    assert set(files["student-1"]) == set(SOLVED) and len({tuple(sorted(each.items())) for each in files.values()}) == 8


def test_a_class_that_is_there_is_left_alone(tmp_path, capsys):
    assert sample_class.main([str(tmp_path / "class")]) == 0
    assert capsys.readouterr().out.count("student-") == 8
    assert sample_class.main([str(tmp_path / "class")]) == 2
    assert "there already" in capsys.readouterr().err
