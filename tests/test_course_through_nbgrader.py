"""The course's own notebooks, solved and as released, through every step of nbgrader."""

import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook

from course.exercises import EXERCISES
from tests.nbgrader_course import database, read, steps, submit
from tests.tiny_assignment import ROOT, copy_settings
from tools.notebooks import ASSIGNMENT, RELEASED, SOLVED

# a guard against hangs: the notebooks' own target is 6 minutes, twice
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The course's own notebooks, handed in solved and as released, graded; (folder, grades by student)."""
    root = tmp_path_factory.mktemp("real")
    copy_settings(root)
    shutil.copytree(ROOT / SOLVED, root / SOLVED, ignore=shutil.ignore_patterns("*.py", ".*"))
    submit(root, "solved", read(ROOT / SOLVED))
    submit(root, "released", read(ROOT / RELEASED))
    return root, steps(root)


def test_the_course_solved_has_full_marks_and_released_has_none(real):
    root, _ = real
    with Gradebook(database(root)) as gradebook:
        for student, full in (("solved", True), ("released", False)):
            marks = {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in gradebook.find_submission(ASSIGNMENT, student).notebooks
                for grade in notebook.grades
            }
            assert marks == {
                grade_id: (None if e.manual and full else e.points if full else 0, e.manual and full)
                for grade_id, e in EXERCISES.items()
            }


@pytest.mark.parametrize("student", ["solved", "released"])
def test_no_cell_of_the_course_raises_or_warns(real, student):
    root, _ = real
    for name, notebook in read(root / "autograder" / "autograded" / student / ASSIGNMENT).items():
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                place = f"{name}, {student}:\n{cell.source}\n{output}"
                assert output.output_type != "error", place
                assert output.get("name") != "stderr", place


def test_real_release_is_what_nbgrader_makes_from_the_solved_notebooks(real):
    root, _ = real
    made = {path.name: nbformat.read(path, as_version=4) for path in (root / RELEASED).glob("*.ipynb")}
    assert made == {f"{name}.ipynb": notebook for name, notebook in read(ROOT / RELEASED).items()}
