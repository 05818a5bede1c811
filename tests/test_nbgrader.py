"""nbgrader's own steps with our settings: release, autograde, feedback, export; and how it reads a check's outputs."""

import json
import sys

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade
from traitlets.config.loader import PyFileConfigLoader

from tests.nbgrader_course import FOLDERS, by_id, database, read, steps, submit
from tests.tiny_assignment import EXERCISES, ROOT, copy_settings, write_source
from tools.notebooks import ASSIGNMENT, RELEASED, SOLVED, build, write


def listing():
    return sorted(path.name for path in (ROOT / "autograder").iterdir() if path.name != "__pycache__")


BEFORE = listing()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny assignment with six submissions, graded; (folder, grades by student)."""
    root = tmp_path_factory.mktemp("tiny")
    copy_settings(root)
    files = build(write_source(tmp_path_factory.mktemp("source")).parent, EXERCISES)
    write(root, {name: text for name, text in files.items() if name.startswith(SOLVED)})
    solved, released = (nbformat.reads(files[f"{folder}/1_sum.ipynb"], as_version=4) for folder in (SOLVED, RELEASED))

    def variant(change):
        notebook = nbformat.from_dict(json.loads(json.dumps(solved)))
        change(notebook)
        return {"1_sum": notebook}

    def partly_right(notebook):
        notebook.cells[by_id(notebook, "sum-answer")].source = "total = 4"

    def copied_cells(notebook):
        for grade_id in ("sum-answer", "sum", "setup"):
            copy = nbformat.from_dict(json.loads(json.dumps(notebook.cells[by_id(notebook, grade_id)])))
            copy.id = f"copy-{grade_id}"
            notebook.cells.append(copy)
        notebook.cells[-3].source = "total = 4"

    def check_deleted(notebook):
        del notebook.cells[by_id(notebook, "sum")]

    def check_rewritten(notebook):
        notebook.cells[by_id(notebook, "sum-answer")].source = "total = 4"
        notebook.cells[by_id(notebook, "sum")].source = "3.0"

    submit(root, "solved", {"1_sum": solved})
    submit(root, "released", {"1_sum": released})
    submit(root, "partly_right", variant(partly_right))
    submit(root, "copied_cells", variant(copied_cells))
    submit(root, "check_deleted", variant(check_deleted))
    submit(root, "check_rewritten", variant(check_rewritten))
    return root, steps(root)


def test_marks_of_the_tiny_assignment(tiny):
    _, grades = tiny
    assert {student: float(row["score"]) for student, row in grades.items()} == {
        "solved": 3,
        "released": 0,
        "partly_right": 1.5,
        "copied_cells": 3,  # of a copied cell the first counts, and the class goes on
        "check_deleted": 3,  # the check comes back
        "check_rewritten": 1.5,  # and is ours
    }
    assert {float(row["max_score"]) for row in grades.values()} == {7}


def test_an_answered_text_waits_for_a_mark_and_an_empty_one_has_0(tiny):
    root, _ = tiny
    with Gradebook(database(root)) as gradebook:
        for student, waits in (("solved", True), ("released", False)):
            notebook = gradebook.find_submission_notebook("1_sum", ASSIGNMENT, student)
            marks = {grade.name: grade for grade in notebook.grades}
            assert marks["why"].needs_manual_grade is waits
            assert marks["why"].auto_score == (None if waits else 0)


def test_every_step_writes_where_our_settings_say(tiny):
    root, grades = tiny
    assert [p.name for p in (root / RELEASED).iterdir()] == ["1_sum.ipynb"]
    for student in grades:
        assert (root / "autograder" / "autograded" / student / ASSIGNMENT / "1_sum.ipynb").is_file()
        assert (root / "autograder" / "feedback" / student / ASSIGNMENT / "1_sum.html").is_file()
    assert (root / "autograder" / "gradebook.db").is_file()
    assert not {"gradebook.db", "source", "release", *FOLDERS} & {path.name for path in root.iterdir()}


def test_released_cells_raise_nothing_and_say_nothing_on_stderr(tiny):
    root, _ = tiny
    (notebook,) = read(root / "autograder" / "autograded" / "released" / ASSIGNMENT).values()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            assert output.get("name") != "stderr"


@pytest.mark.parametrize(
    "outputs, mark",
    [
        ([("execute_result", "1.5")], 1.5),
        ([("stdout", "words"), ("display_data", "0.25"), ("execute_result", "1.5")], 1.5),
        ([("stderr", "a warning"), ("execute_result", "1.5")], 0),
        ([("execute_result", "1.5"), ("stderr", "a warning")], 1.5),
        ([("error", "ValueError"), ("execute_result", "1.5")], 0),
        ([], 3),
        ([("display_data", "0.0")], 3),
        ([("execute_result", "nan")], 3),
        ([("execute_result", "-1.0")], 3),
        ([("execute_result", "words")], 3),
    ],
)
def test_what_nbgrader_reads_of_a_check_cell(outputs, mark):
    """The first of: error, stderr, execute_result. Displayed data and stdout count for nothing."""
    new = nbformat.v4.new_output
    cell = nbformat.v4.new_code_cell("check()")
    cell.metadata["nbgrader"] = {"grade": True, "solution": False, "grade_id": "x", "points": 3}
    for kind, text in outputs:
        if kind in ("stdout", "stderr"):
            cell.outputs.append(new("stream", name=kind, text=text))
        elif kind == "error":
            cell.outputs.append(new("error", ename=text, evalue="", traceback=[]))
        else:
            cell.outputs.append(new(kind, data={"text/plain": text}))
    assert determine_grade(nbformat.from_dict(cell)) == (mark, 3)


def test_settings_are_absolute_and_name_our_folders(tmp_path, monkeypatch):
    copy_settings(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path.parent)
    found = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
    assert found.Execute.timeout >= 180, "eight rows of an experiment table, on a machine that grades others as well"
    settings = found.CourseDirectory
    assert settings.root == str(tmp_path.resolve())
    assert settings.db_url == f"sqlite:///{tmp_path.resolve().as_posix()}/autograder/gradebook.db?timeout=60"
    assert (settings.source_directory, settings.release_directory) == ("solutions", "notebooks")
    for name in FOLDERS:
        assert settings[f"{name}_directory"] == f"autograder/{name}"


def test_the_checkout_is_left_alone(tiny):
    assert listing() == BEFORE
