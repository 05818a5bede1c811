import json
import os
import shutil
import time

import pytest

from course import hand_in, progress
from course.exercises import EXERCISES
from course.hand_in import find_problems, notebooks_to_hand_in, write_zip
from course.progress import FILE, FIRST_NOTEBOOK, Progress, write_atomically
from tests.headless import ASSIGNMENT, ROOT


@pytest.fixture
def folder(tmp_path):
    """A folder as a learner has it: the notebooks, saved some time ago, each with its graded cells."""
    (tmp_path / FIRST_NOTEBOOK).write_text("{}")
    for name in notebooks_to_hand_in():
        cells = [{"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": entry.grade_id}}}
                 for entry in EXERCISES.values() if f"{entry.notebook}.ipynb" == name]
        (tmp_path / name).write_text(json.dumps({"cells": cells}))
        os.utime(tmp_path / name, (time.time() - 60, time.time() - 60))
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_verdicts_hints_and_predictions_are_kept(folder):
    record = Progress(folder)
    record.record_verdict("ex1-diagram", 8.0, 10.0, ["is-1f1b"])
    record.record_verdict("ex1-diagram", 3.0, 10.0)
    record.record_hint("ex1-diagram", 2)
    record.record_hint("ex1-diagram", 1)
    record.record_prediction("slots", 14, 60)
    found = Progress(folder).read()
    assert (found["verdicts"]["ex1-diagram"]["points"], found["verdicts"]["ex1-diagram"]["best"]) == (3.0, 8.0)
    assert found["hints"] == {"ex1-diagram": 2} and found["predictions"]["slots"]["guess"] == 14
    assert record.trouble == "" and FILE in names(folder) and len(names(folder)) == 2 + len(notebooks_to_hand_in())


@pytest.mark.parametrize("name", progress.GRADING)
def test_nothing_is_written_while_grading(folder, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    Progress(folder).record_verdict("ex1-diagram", 8.0, 10.0)
    assert FILE not in names(folder) and Progress(folder).read()["verdicts"] == {}


def test_nothing_is_written_outside_the_course(tmp_path):
    Progress(tmp_path).record_hint("ex1-diagram", 1)
    assert names(tmp_path) == []


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "\x00", '{"verdicts": 3}', "[" * 100_000,
                                     '{"verdicts": {"ex1-diagram": 3}}', '{"hints": {"ex1-diagram": "x"}}'])
def test_a_damaged_file_never_stops_the_learner(folder, content):
    (folder / FILE).write_text(content)
    record = Progress(folder)
    record.record_verdict("ex1-diagram", 8.0, 10.0)
    record.record_hint("ex1-diagram", 1)
    found = Progress(folder).read()
    assert found["verdicts"]["ex1-diagram"]["best"] == 8.0 and found["hints"]["ex1-diagram"] == 1


def test_a_full_disk_is_said_and_the_old_record_stays(folder, monkeypatch):
    Progress(folder).record_verdict("ex1-diagram", 8.0, 10.0)
    before = (folder / FILE).read_text()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(progress.os, "replace", full)
    record = Progress(folder)
    record.record_verdict("ex1-diagram", 10.0, 10.0)
    assert "No space left on device" in record.trouble
    assert (folder / FILE).read_text() == before and not [name for name in names(folder) if name.startswith(".")]


def test_a_write_that_is_interrupted_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "x").write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "x", "new")
    assert names(tmp_path) == ["x"] and (tmp_path / "x").read_text() == "old"


def test_a_ready_folder_becomes_one_zip_in_nbgraders_layout(folder):
    import zipfile
    assert find_problems(folder) == []
    with zipfile.ZipFile(write_zip(folder)) as archive:
        assert archive.namelist() == [f"pipeline_parallelism/{name}" for name in notebooks_to_hand_in()]
        assert archive.testzip() is None


def test_a_notebook_that_was_checked_after_it_was_saved_is_named(folder):
    Progress(folder).record_verdict("ex1-diagram", 8.0, 10.0)
    (problem,) = find_problems(folder)
    assert "1_gpipe_diagram.ipynb" in problem and "save it" in problem
    os.utime(folder / "1_gpipe_diagram.ipynb")
    assert find_problems(folder) == []


@pytest.mark.parametrize(("content", "words"), [
    (None, "is not in"), ("{", "cannot be read"), ("[]", "cannot be read"), ('{"cells": []}', "has lost its cell ex1-diagram"),
    ('{"cells": [3]}', "has lost its cell"), ('{"cells": 3}', "cannot be read"), ("[" * 100_000, "cannot be read"),
    ('{"cells": [{"metadata": null}, {"metadata": {"nbgrader": []}}]}', "has lost its cell"),
])
def test_what_cannot_be_handed_in_is_named(folder, content, words):
    path = folder / "1_gpipe_diagram.ipynb"
    path.unlink() if content is None else path.write_text(content)
    (problem,) = find_problems(folder)
    assert "1_gpipe_diagram.ipynb" in problem and words in problem


def test_the_learner_is_told_what_the_zip_holds(folder):
    Progress(folder).record_verdict("ex1-diagram", 10, 10)
    Progress(folder).record_verdict("ex1-bubbles", 2, 4)
    said = "\n".join(hand_in.describe_contents(folder))
    assert "1_gpipe_diagram.ipynb as it was saved 1 minute ago" in said and "The GPipe diagram" not in said
    assert "Counting the bubble in 1_gpipe_diagram, 2 of 4 points" in said and "Spot the error in 1_gpipe_diagram, never" in said


@pytest.mark.parametrize(("source", "written"), [
    (hand_in.STUB, False), ("", False), (" \n", False), ([hand_in.STUB, "\n"], False), (None, False),
    ("It drains.", True), (["It ", "drains."], True), (f"{hand_in.STUB}\n\nIt drains.", True)])
def test_a_text_that_a_person_marks_is_written_or_not(folder, source, written):
    entry = next(entry for entry in EXERCISES.values() if entry.manual)
    cell = {"source": source, "metadata": {"nbgrader": {"grade_id": entry.grade_id}}}
    (folder / f"{entry.notebook}.ipynb").write_text(json.dumps({"cells": [cell]}))
    assert hand_in.is_written(folder, entry) == written
    said = "\n".join(hand_in.describe_contents(folder))
    assert (f"{entry.title} in {entry.notebook}, nothing is written" in said) == (not written)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"cells": [3]}', '{"cells": []}'])
def test_where_there_is_no_such_cell_no_text_is_written(folder, content):
    entry = next(entry for entry in EXERCISES.values() if entry.manual)
    path = folder / f"{entry.notebook}.ipynb"
    path.unlink() if content is None else path.write_text(content)
    assert not hand_in.is_written(folder, entry)


def test_the_stub_is_what_nbgrader_puts_there():
    settings = (hand_in.Path(__file__).parent.parent / "nbgrader_config.py").read_text(encoding="utf-8")
    assert f'c.ClearSolutions.text_stub = "{hand_in.STUB}"' in settings


def test_a_zip_that_cannot_be_written_leaves_none(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hand_in.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_zip(folder)
    assert not [name for name in names(folder) if "zip" in name]


@pytest.mark.parametrize(("kind", "open_ones"), [("solutions", False), ("notebooks", True)])
def test_a_cell_that_was_emptied_after_its_check_is_named(folder, kind, open_ones):
    for name in notebooks_to_hand_in():
        shutil.copy(ROOT / kind / ASSIGNMENT / name, folder)
    judged = [entry for entry in EXERCISES.values() if not entry.manual]
    for entry in judged:
        Progress(folder).record_verdict(entry.grade_id, entry.points, entry.points)
    said = "\n".join(hand_in.describe_contents(folder))
    assert said.count("holds a `...`") == len(judged) * open_ones, said
    assert ("Every exercise has full points" in said) != open_ones


def test_where_no_zip_is_written_an_older_one_is_named(folder):
    assert hand_in.old_zip(folder) == []
    write_zip(folder)
    (said,) = hand_in.old_zip(folder)
    assert hand_in.ZIP in said and "older" in said
