"""nbgrader's own steps with our folder names: release, autograde, feedback, export, formgrader, Lab's settings.

All of it in temporary copies: nbgrader never runs on the checkout's autograder/ here.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade
from traitlets.config.loader import PyFileConfigLoader

from tests.tiny_assignment import EXERCISES, ROOT, copy_settings, write_source
from tools.environment import configure_lab
from tools.notebooks import ASSIGNMENT, RELEASED, SOLVED, build, write

FOLDERS = ("submitted", "autograded", "feedback", "solution", "source_with_tests")


def listing():
    return sorted(path.name for path in (ROOT / "autograder").iterdir() if path.name != "__pycache__")


BEFORE = listing()


def environment(root):
    """No settings of the user who runs the tests, and nothing written outside `root`."""
    folders = {name: str(root / "jupyter" / name) for name in ("config", "runtime", "data")}
    return os.environ | {
        "JUPYTER_CONFIG_DIR": folders["config"],
        "JUPYTER_RUNTIME_DIR": folders["runtime"],
        "JUPYTER_DATA_DIR": folders["data"],
        "JUPYTER_CONFIG_PATH": str(root / "etc" / "jupyter"),
    }


def nbgrader(root, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=root, env=environment(root), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def submit(root, student, notebooks):
    folder = root / "autograder" / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")


def read(folder):
    return {path.stem: nbformat.read(path, as_version=4) for path in sorted(folder.glob("*.ipynb"))}


def by_id(notebook, grade_id):
    return next(i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def steps(root):
    """Every step from the solved notebooks and the submissions to marks, through the command line."""
    nbgrader(root, "generate_assignment", ASSIGNMENT)
    nbgrader(root, "autograde", ASSIGNMENT)
    nbgrader(root, "generate_feedback", ASSIGNMENT)
    nbgrader(root, "export")
    with open(root / "grades.csv", newline="", encoding="utf-8") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


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


def database(root):
    return f"sqlite:///{root}/autograder/gradebook.db"


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
    settings = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config().CourseDirectory
    assert settings.root == str(tmp_path.resolve())
    assert settings.db_url == f"sqlite:///{tmp_path.resolve().as_posix()}/autograder/gradebook.db?timeout=60"
    assert (settings.source_directory, settings.release_directory) == ("solutions", "notebooks")
    for name in FOLDERS:
        assert settings[f"{name}_directory"] == f"autograder/{name}"


@pytest.fixture(scope="module")
def lab(tiny):
    """JupyterLab on the tiny assignment's folder, as a learner's and an instructor's browser meets it: get(path)."""
    root, _ = tiny
    configure_lab(root)
    options = ["--no-browser", "--allow-root", "--ServerApp.port=0", f"--ServerApp.root_dir={root}"]
    with open(root / "lab.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, "--IdentityProvider.token=secret", f"{RELEASED}/1_sum.ipynb"],
            cwd=root, env=environment(root), stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        said = root / "jupyter" / "runtime" / f"jpserver-{server.pid}.json"
        while not said.exists():
            assert server.poll() is None, (root / "lab.log").read_text(encoding="utf-8")
            time.sleep(0.1)
        url = json.loads(said.read_text(encoding="utf-8"))["url"]

        def get(path):
            request = urllib.request.Request(url + path, headers={"Authorization": "token secret"})
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read().decode()

        yield get
    finally:
        server.terminate()
        server.wait(30)


def test_formgrader_opens_and_lists_the_assignment(lab):
    status, page = lab("formgrader/")
    assert status == 200
    assert "formgrader" in page.lower()
    (assignment,) = json.loads(lab("formgrader/api/assignments")[1])
    assert (assignment["name"], assignment["num_submissions"], assignment["max_score"]) == (ASSIGNMENT, 6, 7)
    students = {row["student"] for row in json.loads(lab(f"formgrader/api/submissions/{ASSIGNMENT}")[1])}
    assert "partly_right" in students


def test_lab_opens_the_notebook_without_the_instructors_panel_and_the_news(lab):
    status, page = lab(f"lab/tree/{RELEASED}/1_sum.ipynb")
    assert status == 200
    settings = json.loads(page.split('id="jupyter-config-data"')[1].split(">", 1)[1].split("</script>")[0])
    off = settings["disabledExtensions"]
    assert "@jupyter/nbgrader:create-assignment" in off
    assert "@jupyterlab/apputils-extension:announcements" in off
    assert "@jupyter/nbgrader:validate-assignment" not in off
    assert "@jupyter/nbgrader" not in off


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The course's own notebooks, handed in solved and as released, graded; (folder, grades by student)."""
    root = tmp_path_factory.mktemp("real")
    copy_settings(root)
    shutil.copytree(ROOT / SOLVED, root / SOLVED, ignore=shutil.ignore_patterns("*.py", ".*"))
    submit(root, "solved", read(ROOT / SOLVED))
    submit(root, "released", read(ROOT / RELEASED))
    return root, steps(root)


@pytest.mark.timeout(3600)
def test_the_course_solved_has_full_marks_and_released_has_none(real):
    root, _ = real
    from course.exercises import EXERCISES as ours

    with Gradebook(database(root)) as gradebook:
        for student, full in (("solved", True), ("released", False)):
            marks = {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in gradebook.find_submission(ASSIGNMENT, student).notebooks
                for grade in notebook.grades
            }
            assert marks == {
                grade_id: (None if e.manual and full else e.points if full else 0, e.manual and full)
                for grade_id, e in ours.items()
            }


@pytest.mark.timeout(3600)
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


def test_the_checkout_is_left_alone(tiny, real, lab):
    assert listing() == BEFORE
