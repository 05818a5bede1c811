"""The notebook build: expansion of tags, reproducible files, and a clear message for each fault in a source."""

import hashlib
import sys
from dataclasses import replace
from types import SimpleNamespace

import nbformat
import pytest

from tests.tiny_assignment import EXERCISES, SOURCE, copy_settings, write_source
from tools import notebooks
from tools.notebooks import RELEASED, SOLVED, build, keep_used
from tools.sources import SourceError, check_cells, read_cells


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    sources = tmp_path_factory.mktemp("sources")
    write_source(sources)
    return build(sources, EXERCISES)


def cells(files, folder):
    return nbformat.reads(files[f"{folder}/1_sum.ipynb"], as_version=4).cells


def test_one_source_gives_a_solved_and_a_released_notebook(files):
    assert sorted(files) == [f"{RELEASED}/1_sum.ipynb", f"{SOLVED}/1_sum.ipynb"]
    for text in files.values():
        nbformat.validate(nbformat.reads(text, as_version=nbformat.NO_CONVERT))


def test_two_builds_are_equal_to_the_byte(files, tmp_path):
    write_source(tmp_path)
    assert build(tmp_path, EXERCISES) == files


@pytest.mark.parametrize("folder", [SOLVED, RELEASED])
def test_short_tags_become_nbgrader_metadata(files, folder):
    keys = ("cell_type", "grade_id", "grade", "solution", "locked", "task", "points", "schema_version")
    found = [
        tuple(c.metadata.nbgrader.get(key) for key in keys) if "nbgrader" in c.metadata else None
        for c in cells(files, folder)
    ]
    #    cell type   grade_id        grade  solution locked task  points
    assert found == [
        None,
        ("code",     "setup",        False, False,   True,  False, None, 3),
        ("markdown", "sum-question", False, False,   True,  False, None, 3),
        ("code",     "sum-answer",   False, True,    False, False, None, 3),
        ("code",     "sum",          True,  False,   True,  False, 3,    3),
        ("markdown", "why",          True,  True,    False, False, 4,    3),
        None,
    ]  # fmt: skip


@pytest.mark.parametrize("folder", [SOLVED, RELEASED])
def test_notebooks_hold_no_outputs_and_nothing_that_changes(files, folder):
    notebook = nbformat.reads(files[f"{folder}/1_sum.ipynb"], as_version=4)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec == {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
    assert "version" not in notebook.metadata.language_info
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"nbgrader", "deletable", "editable"}
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


def test_cell_ids_come_from_the_grade_id_or_the_position(files):
    def digest(text):
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    wanted = ["1_sum:0", "setup", "sum-question", "sum-answer", "sum", "why", "1_sum:6"]
    for folder in (SOLVED, RELEASED):
        assert [cell.id for cell in cells(files, folder)] == [digest(text) for text in wanted]


def test_a_release_holds_the_stubs_and_nothing_of_the_solution(files):
    answer, text = cells(files, RELEASED)[3], cells(files, RELEASED)[5]
    assert answer.source == 'total = (\n    ...\n)\ndrawing = """\n...\n"""'
    assert text.source == "*Your answer here.*"
    released = files[f"{RELEASED}/1_sum.ipynb"]
    for secret in ("6 - 3", "a solution line", "a solution drawing", "model answer", "SOLUTION"):
        assert secret not in released
        assert secret in files[f"{SOLVED}/1_sum.ipynb"]


def test_locked_cells_cannot_be_edited_and_answers_cannot_be_deleted(files):
    released = {c.metadata.nbgrader.grade_id: c.metadata for c in cells(files, RELEASED) if "nbgrader" in c.metadata}
    for grade_id in ("setup", "sum-question", "sum"):
        assert (released[grade_id].deletable, released[grade_id].editable) == (False, False)
    for grade_id in ("sum-answer", "why"):
        assert released[grade_id].deletable is False
        assert "editable" not in released[grade_id]


ANSWER = SOURCE[SOURCE.index('# %% answer="sum"') : SOURCE.index('# %% check="sum"')]
CHECK = SOURCE[SOURCE.index('# %% check="sum"') : SOURCE.index('# %% [markdown] manual="why"')]
FAULTS = {
    "unknown tag": (SOURCE.replace('locked="setup"', 'lock="setup"'), "1_sum.py:10: lock='setup' is no cell tag"),
    "free title": (SOURCE.replace('# %% locked="setup"', "# %% Setup"), "1_sum.py:10: title='Setup' is no cell tag"),
    "two tags": (SOURCE.replace('locked="setup"', 'locked="setup" check="sum"'), "1_sum.py:10: check and locked"),
    "tag on the wrong cell": (
        SOURCE.replace('# %% answer="sum"', '# %% [markdown] answer="sum"'),
        "1_sum.py:21: answer stands on a markdown cell, not on code",
    ),
    "bad grade_id": (SOURCE.replace('locked="setup"', 'locked="set up"'), "1_sum.py:10: 'set up' is no grade_id"),
    "text before the first cell": (SOURCE.replace("# %% [markdown]\n# # A sum", "# # A sum"), "1_sum.py:1: 7 cells"),
    "duplicate": (SOURCE.replace('locked="sum-question"', 'locked="setup"'), "1_sum.py:18: grade_id 'setup' is taken"),
    "check twice": (SOURCE + "\n" + CHECK, "1_sum.py:43: grade_id 'sum' is taken by 1_sum.py:33"),
    "check without answer": (SOURCE.replace(ANSWER, ""), "1_sum.py:21: check 'sum' has no cell answer='sum' above it"),
    "check above its answer": (SOURCE.replace(ANSWER, "") + ANSWER, "1_sum.py:21: check 'sum' has no cell answer"),
    "answer without check": (SOURCE.replace(CHECK, ""), "1_sum.py:21: answer 'sum-answer' has no check cell"),
    "unknown check": (SOURCE.replace('="sum"', '="sums"'), "1_sum.py:33: check 'sums' is not in the table"),
    "unknown text": (SOURCE.replace('="why"', '="reason"'), "1_sum.py:37: manual 'reason' is not in the table"),
    "exercise left out": (SOURCE[: SOURCE.index("# %% [markdown] manual")], "1_sum.py:1: the table of exercises has 'why'"),
    "no end": (SOURCE.replace("    ### END SOLUTION\n", ""), "1_sum.py:21: solution marks must alternate"),
    "nested": (SOURCE.replace("    6 - 3", "    ### BEGIN SOLUTION\n    6 - 3"), "1_sum.py:21: solution marks must alternate"),
    "no region": (SOURCE.replace(ANSWER, '# %% answer="sum"\ntotal = 3\n\n'), "1_sum.py:21: an answer cell without"),
    "solution outside": (
        SOURCE + "\n### BEGIN SOLUTION\ntotal = 3\n### END SOLUTION\n",
        "1_sum.py:40: a solution outside an answer cell would be released",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, message", FAULTS.values(), ids=FAULTS)
def test_a_fault_in_a_source_is_one_message_with_its_place(text, message, tmp_path):
    path = write_source(tmp_path, text)
    with pytest.raises(SourceError) as fault:
        check_cells(read_cells(path), "1_sum", EXERCISES)
    assert str(fault.value).startswith(message)


@pytest.mark.parametrize(
    "grade_id, change, message",
    [
        ("sum", {"points": 0}, "1_sum.py:33: the table gives 'sum' 0 points"),
        ("sum", {"points": None}, "1_sum.py:33: the table gives 'sum' None points"),
        ("sum", {"manual": True}, "1_sum.py:33: the table says that 'sum' is marked by hand: tag it manual"),
        ("why", {"manual": False}, "1_sum.py:37: the table says that 'why' is marked by its check: tag it check"),
        ("sum", {"notebook": "2_other"}, "1_sum.py:33: the table puts 'sum' into notebook '2_other'"),
    ],
)
def test_a_fault_in_the_table_names_the_cell(grade_id, change, message, tmp_path):
    path = write_source(tmp_path)
    table = EXERCISES | {grade_id: replace(EXERCISES[grade_id], **change)}
    with pytest.raises(SourceError) as fault:
        check_cells(read_cells(path), "1_sum", table)
    assert str(fault.value).startswith(message)


def test_a_stub_that_is_no_python_is_refused(tmp_path):
    write_source(tmp_path, SOURCE.replace("total = (\n", "total = (\n    0 if\n"))
    with pytest.raises(SourceError, match=r"'sum-answer' is not Python once its solution is replaced by '...'"):
        build(tmp_path, EXERCISES)


def test_what_nbgrader_refuses_is_told(tmp_path):
    write_source(tmp_path, SOURCE + "\n### BEGIN HIDDEN TESTS\n")
    with pytest.raises(SourceError, match=r"(?s)nbgrader refused the notebooks.*[Hh]idden test"):
        build(tmp_path, EXERCISES)


def test_no_source_is_told(tmp_path):
    with pytest.raises(SourceError, match="no notebook sources"):
        build(tmp_path, EXERCISES)
    write_source(tmp_path, "# %% [markdown]\n# Nothing\n", name="0_other")
    with pytest.raises(SourceError, match="names '1_sum', which has no source"):
        build(tmp_path, EXERCISES)


def test_check_lists_what_is_stale_and_writes_nothing(tmp_path, monkeypatch, capsys):
    # seven builds: without the process of three seconds that only tells a database's version
    monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "any")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setitem(sys.modules, "course.exercises", SimpleNamespace(EXERCISES=EXERCISES))
    copy_settings(tmp_path)
    source = write_source(tmp_path / SOLVED)

    def said(*arguments, rc):
        assert notebooks.main(list(arguments)) == rc
        return capsys.readouterr().out.splitlines()

    assert said("--check", rc=1)[:2] == [f"stale: {SOLVED}/1_sum.ipynb", f"stale: {RELEASED}/1_sum.ipynb"]
    assert not (tmp_path / "notebooks").exists()
    assert said(rc=0) == [
        f"wrote {SOLVED}/1_sum.ipynb",
        f"wrote {RELEASED}/1_sum.ipynb",
        "0 of 2 notebooks were up to date",
    ]
    assert said("--check", rc=0) == ["2 of 2 notebooks were up to date"]

    source.write_text(SOURCE.replace("6 - 3", "7 - 4"), encoding="utf-8")
    assert said("--check", rc=1)[0] == f"stale: {SOLVED}/1_sum.ipynb"  # the release is the same
    assert said(rc=0)[0] == f"wrote {SOLVED}/1_sum.ipynb"

    (tmp_path / RELEASED / "Untitled.ipynb").write_text("a learner's own", encoding="utf-8")
    assert said("--check", rc=1)[0] == f"no source makes {RELEASED}/Untitled.ipynb: delete it"
    said(rc=0)
    assert (tmp_path / RELEASED / "Untitled.ipynb").exists()

    source.write_text(SOURCE.replace('="why"', '="reason"'), encoding="utf-8")
    assert notebooks.main([]) == 1
    assert capsys.readouterr().err.startswith("1_sum.py:37: manual 'reason' is not in the table")


def test_a_notebook_in_which_somebody_has_worked_is_kept_before_it_is_written_over(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "fresh.ipynb").write_text('{"cells": [{"execution_count": null}]}')
    (folder / "used.ipynb").write_text('{"cells": [{"execution_count": 3}]}')
    keep_used(tmp_path, ["notebooks/fresh.ipynb", "notebooks/used.ipynb", "notebooks/new.ipynb"])
    (kept,) = (tmp_path / "build" / "used").iterdir()
    assert kept.name.endswith("-used.ipynb") and kept.read_text() == (folder / "used.ipynb").read_text()
