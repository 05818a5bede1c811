"""`python -m autograder grade` over a class, in the sandbox: marks, report, exit codes, what it leaves behind."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest
from nbgrader.api import Gradebook

from autograder import grade as module
from autograder.__main__ import main
from autograder.gradebook import Book
from autograder.intake import Cell, Submission
from autograder.questions import grade as ask
from autograder.results import CHECKED, UNSANDBOXED
from autograder.sandbox import SandboxFailed, open_sandbox
from autograder.sessions import Sessions
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.bank import assert_verdict, judged_locally
from tests.banks import BANKS
from tests.graders import lives
from tests.submissions import ROOT, answer, hand_in, notebook, place_of, save

BUBBLE = "3_bubble_fraction"
FULL = {grade_id: entry.points for grade_id, entry in CHECKED.items()}
OF_BUBBLE = sum(points for grade_id, points in FULL.items() if CHECKED[grade_id].notebook == BUBBLE)
ENDLESS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"


def command(*arguments):
    return [sys.executable, "-m", "autograder", "grade", *map(str, arguments)]


def totals(root):
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return {student.id: student.score for student in book.students}


def results(root):
    return json.loads((root / "out.json").read_text())


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    """A class in the sandbox, good and bad in turn; (folder, exit code, what was printed, processes that it began)."""
    root = tmp_path_factory.mktemp("class")
    submitted = root / "submitted"
    hand_in(submitted, "1 solved")
    hand_in(submitted, "2 released", "notebooks")
    hand_in(submitted, "3 bubble", only=(BUBBLE,))
    (hand_in(submitted, "4 truncated", only=(BUBBLE,)) / f"{BUBBLE}.ipynb").write_text('{"cells": [')
    hand_in(submitted, "5 bubble", only=(BUBBLE,)).rename(submitted / "5 bubble" / "Pipeline Parallelism")
    folder = hand_in(submitted, "6 points", only=(BUBBLE,))
    content = notebook(folder / f"{BUBBLE}.ipynb")
    for grade_id in ("ex3-derive", "ex3-use"):
        check = content["cells"][place_of(content, grade_id)]
        check["metadata"]["nbgrader"]["points"] = 1000
        check["source"] = "1000.0"
        check["outputs"] = [{"output_type": "execute_result", "data": {"text/plain": "1000.0"}, "metadata": {}}]
    save(folder / f"{BUBBLE}.ipynb", content)
    answer(folder, "ex3-use-answer", "import os\nos._exit(0)")
    os.symlink(submitted / "1 solved", submitted / "7 link")
    (submitted / "a file.zip").write_bytes(b"")
    with subprocess.Popen(command(submitted, "--json", root / "out.json", "--jobs", "2"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        begun = set()
        while process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                begun |= set(psutil.Process(process.pid).children(recursive=True))
            time.sleep(0.1)
        said, errors = process.communicate()
    return SimpleNamespace(root=root, submitted=submitted, code=process.returncode, said=said, errors=errors, begun=begun)


def test_solved_notebooks_have_full_marks_and_released_ones_0(classroom):
    found = results(classroom.root)
    assert found["1 solved"] == {"status": "graded", "points": FULL, "total": sum(FULL.values()), "notes": [],
                                 "messages": {grade_id: [] for grade_id in FULL}, "steps": {}}, classroom.errors
    released = found["2 released"]
    assert (released["status"], released["points"], released["notes"]) == ("graded", dict.fromkeys(FULL, 0.0), [])
    assert released["messages"]["ex3-inverse"][0][0] == "unanswered"


def test_a_bad_submission_costs_its_neighbours_nothing(classroom):
    found = results(classroom.root)
    assert {student: (entry["status"], entry["total"]) for student, entry in found.items()} == {
        "1 solved": ("graded", sum(FULL.values())), "2 released": ("graded", 0), "3 bubble": ("graded", OF_BUBBLE),
        "4 truncated": ("rejected", 0), "5 bubble": ("graded", OF_BUBBLE), "6 points": ("graded", OF_BUBBLE - FULL["ex3-use"]),
        "7 link": ("rejected", 0)}
    assert classroom.code == 1


def test_json_gradebook_and_summary_say_the_same(classroom):
    found = results(classroom.root)
    assert totals(classroom.root) == {student: entry["total"] for student, entry in found.items()}
    for student, entry in found.items():
        assert student in classroom.said and all(note in classroom.said for note in entry["notes"])
    assert "5 graded, 0 of them not completely; 2 rejected." in classroom.said
    assert "is not a notebook" in classroom.said and "is a link, not a folder" in classroom.said
    assert "Traceback" not in classroom.errors and "namespaces" in classroom.errors


def test_json_says_what_the_points_of_a_part_are_made_of(classroom):
    of_solved, of_released = (results(classroom.root)[student] for student in ("1 solved", "2 released"))
    assert of_solved["steps"] == {} and set(of_released["steps"]) == set(FULL)
    for grade_id, steps in of_released["steps"].items():
        assert steps and sum(got for _, got, _ in steps) == of_released["points"][grade_id] == 0
        assert sum(of for *_, of in steps) == FULL[grade_id]


def test_nothing_is_left(classroom):
    assert classroom.begun and not any(map(lives, classroom.begun))
    assert sorted(os.listdir(classroom.root)) == ["autograded", "gradebook.db", "out.json", "submitted"]
    files = [path for path in (classroom.root / "autograded").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".ipynb"} and not [path for path in files if path.name.startswith(".")]


def test_graded_again_alone_and_without_a_sandbox_it_says_so(classroom, capsys):
    def kept(student):
        path = classroom.root / "autograded" / student / ASSIGNMENT / f"{BUBBLE}.ipynb"
        return notebook(path)["metadata"]["grading"]

    before, marks = {student: kept(student) for student in results(classroom.root)}, totals(classroom.root)
    out = classroom.root / "again.json"
    assert main(["grade", str(classroom.submitted), "--student", "3 bubble", "--no-sandbox", "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    out.unlink()
    assert list(found) == ["3 bubble"] and found["3 bubble"]["notes"][0] == UNSANDBOXED and UNSANDBOXED in capsys.readouterr().out
    assert totals(classroom.root) == marks
    assert kept("3 bubble") == {"seed": before["3 bubble"]["seed"], "sandboxed": False} and before["3 bubble"]["sandboxed"]
    assert kept("5 bubble") == before["5 bubble"]


def test_the_banks_have_the_same_verdict_in_the_sandbox():
    """Of each bank the first right and some wrong answers of every exercise, as cells of one notebook."""
    chosen = {}
    for bank in BANKS:
        for cases in (bank.RIGHT[:1], bank.RIGHT[1::7], bank.WRONG[::9]):
            for case in cases:
                if "tests." not in case.source:  # the sandbox has none of them
                    chosen.setdefault(case.grade_id, []).append(case)
    assert set(chosen) >= set(FULL) - {"ex6-table", "ex6-conclusions"}
    with open_sandbox() as sandbox, Sessions(sandbox) as sessions:
        for turn in range(max(map(len, chosen.values()))):
            cases = {grade_id: found[turn] for grade_id, found in chosen.items() if turn < len(found)}
            cells = {}
            for grade_id, case in cases.items():
                cells.setdefault(EXERCISES[grade_id].notebook, []).extend(
                    [Cell(f"{grade_id}-answer", case.source), Cell(grade_id, "", ours=True)])
            marks = ask(Submission(cells), sessions, 1, None)
            for grade_id, case in cases.items():
                verdict = judged_locally(case)
                assert_verdict(case, verdict)
                assert (marks[grade_id].points, marks[grade_id].messages) == (verdict.points, verdict.messages), str(case)


# Refusals


@pytest.mark.parametrize("arguments, reason", [
    (["nowhere"], "nowhere cannot be opened"), (["empty"], "there is no submission in"),
    (["class", "--student", "two"], "there is no submission of two in"), (["class", "--gradebook", "class"], "unable to open"),
    (["class", "--jobs", "0"], "--jobs")])
def test_what_cannot_be_graded_is_refused_in_one_line(tmp_path, monkeypatch, capsys, arguments, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    hand_in(tmp_path / "class", "one", only=(BUBBLE,))
    monkeypatch.setattr(module, "open_sandbox", lambda *_: pytest.fail("nothing is to be run"))
    assert main(["grade", *arguments]) == 2
    said = capsys.readouterr().err
    assert reason in said and said.count("\n") == 1 and "Traceback" not in said


def test_without_a_sandbox_nothing_is_graded_and_the_fix_is_named(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise SandboxFailed("it does not hold", "do this")

    monkeypatch.setattr(module, "open_sandbox", fail)
    hand_in(tmp_path / "submitted", "one", only=(BUBBLE,))
    assert main(["grade", str(tmp_path / "submitted")]) == 2
    said = capsys.readouterr().err
    assert "it does not hold" in said and "do this" in said and "--no-sandbox" in said
    assert not list((tmp_path / "autograded").iterdir())


def test_our_own_fault_in_one_submission_leaves_the_class(tmp_path, monkeypatch, capsys):
    for student in ("1", "2", "3"):
        hand_in(tmp_path / "submitted", student, "notebooks", only=(BUBBLE,))
    read = module.read_submission

    def broken(folder, releases):
        return read(folder, releases) if folder.name != "2" else 1 / 0

    monkeypatch.setattr(module, "read_submission", broken)
    assert main(["grade", str(tmp_path / "submitted"), "--no-sandbox", "--json", str(tmp_path / "out.json")]) == 1
    assert [entry["status"] for entry in results(tmp_path).values()] == ["graded", "rejected", "graded"]
    assert "ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize("fault", [RecursionError("deep"), MemoryError(), KeyError("x"), AttributeError("x")])
def test_whatever_writing_one_students_marks_raises_leaves_the_class(tmp_path, monkeypatch, capsys, fault):
    for student in ("1", "2", "3"):
        (tmp_path / "submitted" / student).mkdir(parents=True)  # nothing handed in
    written = Book._write_marks

    def broken(self, student, *marks):
        written(self, student, *marks) if student != "2" else raised(fault)

    monkeypatch.setattr(Book, "_write_marks", broken)
    assert main(["grade", str(tmp_path / "submitted"), "--no-sandbox", "--json", str(tmp_path / "out.json")]) == 1
    assert set(totals(tmp_path)) == {"1", "3"}
    assert "its marks were not written" in results(tmp_path)["2"]["notes"][1] and type(fault).__name__ in capsys.readouterr().out


def test_what_lies_in_one_students_place_costs_that_student(tmp_path, capsys):
    for student in ("1", "2", "3"):
        (tmp_path / "submitted" / student).mkdir(parents=True)
    (tmp_path / "autograded" / "1" / ASSIGNMENT).mkdir(parents=True)
    (tmp_path / "autograded" / "1" / ASSIGNMENT / "a.ipynb").write_text("[" * 100_000)
    (tmp_path / "autograded" / "2").write_text("a file")
    assert main(["grade", str(tmp_path / "submitted"), "--no-sandbox", "--json", str(tmp_path / "out.json")]) == 1
    assert set(totals(tmp_path)) == {"1", "3"}
    assert "is in the way" in results(tmp_path)["2"]["notes"][1] and "Traceback" not in capsys.readouterr().err


def raised(error):
    raise error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_keeps_what_is_graded_and_leaves_no_process(tmp_path, classroom, number):
    submitted = tmp_path / "submitted"
    shutil.copytree(classroom.submitted / "2 released" / ASSIGNMENT, submitted / "1 good" / ASSIGNMENT)
    for path in (submitted / "1 good" / ASSIGNMENT).glob("*.ipynb"):
        if path.stem != BUBBLE:
            path.unlink()
    answer(hand_in(submitted, "2 endless", only=(BUBBLE,)), "ex3-derive-answer", ENDLESS)
    process = subprocess.Popen(command(submitted, "--no-sandbox", "--jobs", "1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=ROOT)
    children = []
    while not (tmp_path / "autograded" / "1 good" / ASSIGNMENT / "6_experiment_table.ipynb").exists() or not children:
        assert process.poll() is None, process.communicate()
        children = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130 and "Traceback" not in errors, errors
    (kept,) = re.findall(r"interrupted; ([01]) of 2 submissions are graded.*; the same command goes on", errors)
    assert bool(totals(tmp_path)) >= (kept == "1")
    psutil.wait_procs(children, timeout=30)
    assert not [child for child in children if child.is_running()]
    assert set(totals(tmp_path)) <= {"1 good"}
