"""Drives nbgrader's command line in a temporary folder, never in the checkout's autograder/."""

import csv
import os
import subprocess
import sys

import nbformat

from tools.notebooks import ASSIGNMENT

FOLDERS = ("submitted", "autograded", "feedback", "solution", "source_with_tests")


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


def database(root):
    return f"sqlite:///{root}/autograder/gradebook.db"
