"""The instructor's walk through docs/instructor.md: every command in it, in its order, in a copy of the checkout."""

import csv
import json
import re
import shutil
import subprocess
import sys

import pytest

from autograder.sample_class import CLASS, write_class
from course.hand_in import ASSIGNMENT
from tests.nbgrader_course import environment
from tests.test_repository import ROOT, tracked

GUIDE = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL) for line in block.splitlines()]
STUDENT, OTHER = "student-3", "student-5"
FIRST_TWO = {STUDENT: 31, OTHER: 23}  # what they get in the notebooks that they hand in on the walk, 1 and 2
# what each of the made-up submissions gets, texts left out; see their descriptions
TOTALS = {"student-1": 108, "student-2": 0, "student-3": 99, "student-4": 88, "student-5": 95, "student-6": 105, "student-7": 0,
          "student-8": 105}
pytestmark = pytest.mark.timeout(1800)  # a guard against hangs


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with an environment that counts as made, its own git, and a class to download."""
    place = tmp_path_factory.mktemp("instructor")
    root = place / "checkout"
    for name in tracked():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    (root / ".venv").symlink_to(sys.prefix)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["remote", "add", "origin", "https://example.org/upstream.git"], ["add", "README.md"],
                      ["commit", "-qm", "start"]):
        subprocess.run([*git, *arguments], cwd=root, check=True)
    subprocess.run([*git, "init", "-q", "--bare", place / "private.git"], check=True)
    write_class(place / "all")
    (place / "downloads").mkdir()
    for path in [*(place / "all").glob(f"{STUDENT}_[12]_*"), *(place / "all" / OTHER).glob("[12]_*")]:
        name = path.relative_to(place / "all")
        (place / "downloads" / name).parent.mkdir(exist_ok=True)
        shutil.copy(path, place / "downloads" / name)
    return root


def in_shell(root, line):
    line = line.replace("make ", "make -o .venv/.lab -o .venv/.dev ")  # they are made: this is the environment of the tests
    line = re.sub(r"\bPRIVATE\b", str(root.parent / "private.git"), line)
    line = re.sub(r"\bDOWNLOADS\b", str(root.parent / "downloads"), re.sub(r"\bSTUDENT\b", STUDENT, line))
    home = environment(root.parent) | {"PYTHONPATH": str(root), "TMPDIR": str(root.parent)}
    done = subprocess.run(["bash", "-c", f". .venv/bin/activate && {line}"], cwd=root, env=home, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def walked(checkout):
    """What each command said."""
    return {line: in_shell(checkout, line) for line in COMMANDS}


def test_every_command_is_one_that_is_known():
    assert len(COMMANDS) > 10
    assert {line.split()[0] for line in COMMANDS} <= {".", "git", "make", "python", "nbgrader"}


def test_the_private_fork_has_what_was_pushed(walked, checkout):
    branches = subprocess.run(["git", "branch"], cwd=checkout.parent / "private.git", capture_output=True, text=True).stdout
    assert branches.split()[-1] == "main"


def test_the_zip_for_learners_is_there(walked, checkout):
    (made,) = re.findall(r"`(dist/\S+\.zip)`", GUIDE)
    assert (checkout / made).is_file()


def test_marks_reach_report_feedback_and_export(walked, checkout):
    marks = json.loads((checkout / "autograder" / "marks.json").read_text())
    assert {student: result["total"] for student, result in marks.items()} == FIRST_TWO
    for name, key, column in (("autograder/class.csv", "student", "total"), ("grades.csv", "student_id", "score")):
        with open(checkout / name, newline="", encoding="utf-8") as file:
            assert {row[key]: float(row[column]) for row in csv.DictReader(file)} == FIRST_TWO, name
    for student in FIRST_TWO:
        text = (checkout / "autograder" / "feedback" / student / ASSIGNMENT / "2_1f1b_phases.html").read_text()
        assert "phase_lengths" in text and "UNSANDBOXED" not in text


def test_git_ignores_submissions_and_marks(walked, checkout):
    made = [*(checkout / "autograder").iterdir(), checkout / "grades.csv", checkout / "dist"]
    ours = {str(checkout / name) for name in tracked("autograder/*")} | {str(checkout / "autograder" / "sandbox")}
    names = [str(path) for path in made if str(path) not in ours]
    said = subprocess.run(["git", "check-ignore", *names], cwd=checkout, capture_output=True, text=True).stdout.splitlines()
    assert said == names and len(names) >= 7, names


def test_formgrader_shows_the_texts_that_wait(walked, checkout):
    code = ("import json; from nbgrader.apps.api import NbGraderAPI; from nbgrader.coursedir import CourseDirectory; "
            "from traitlets.config.loader import PyFileConfigLoader as L; c = L('nbgrader_config.py').load_config(); "
            "print(json.dumps(NbGraderAPI(CourseDirectory(config=c), config=c).get_submissions('pipeline_parallelism')))")
    shown = json.loads(in_shell(checkout, f'python -c "{code}"').splitlines()[-1])
    assert {one["student"]: (one["score"], one["needs_manual_grade"], one["autograded"]) for one in shown} == {
        student: (total, True, True) for student, total in FIRST_TWO.items()}


def test_make_grade_grades_the_whole_class(checkout):
    said = in_shell(checkout, "make grade")
    results = json.loads((checkout / "build" / "sample_class" / "marks.json").read_text())
    assert {student: result["total"] for student, result in results.items()} == TOTALS and len(CLASS) == len(TOTALS)
    assert all(made.__doc__ in said for made in CLASS) and "Commonest messages" in said and "8 graded, 1 of them" in said
