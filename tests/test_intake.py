"""A submission is data: what is believed of it, what comes back, and what is rejected with its reason."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import intake
from autograder.files import MAX_BYTES, Rejected
from autograder.intake import MAX_EXTRA, MAX_SOURCE, read_submission
from autograder.release import NoRelease, read_releases
from course.hand_in import ASSIGNMENT, WITHOUT_POINTS, notebooks_to_hand_in
from tests.submissions import ROOT, answer, code, hand_in, notebook, place_of, save

NAME = "1_gpipe_diagram"
RELEASES = read_releases()
ONE = {NAME: RELEASES[NAME]}


@pytest.fixture
def folder(tmp_path):
    return hand_in(tmp_path, "one", only=(NAME,))


def read(folder, releases=ONE):
    return read_submission(folder.parent, releases)


def cells(folder):
    return read(folder).notebooks[NAME]


def ids(found):
    return [cell.grade_id for cell in found if cell.grade_id]


def source(found, grade_id):
    return next(cell.source for cell in found if cell.grade_id == grade_id)


def changed(folder, change):
    """The submission with its notebook changed in place."""
    path = folder / f"{NAME}.ipynb"
    content = notebook(path)
    change(content)
    save(path, content)
    return read(folder)


def test_a_release_comes_back_as_it_is(tmp_path):
    for name, release in RELEASES.items():
        found = read(hand_in(tmp_path, name, "notebooks", only=(name,)), {name: release}).notebooks[name]
        assert ids(found) == list(release.cells)
        assert all(cell.ours for cell in found if cell.kind == "code" or cell.grade_id)


def test_answers_are_the_learners_and_locked_cells_are_ours(folder):
    def change(content):
        for cell in content["cells"]:
            cell["source"] = ["changed = ", "1"]

    found = changed(folder, change).notebooks[NAME]
    for grade_id, cell in ONE[NAME].cells.items():
        assert source(found, grade_id) == ("changed = 1" if cell.metadata.nbgrader.solution else cell.source)


def test_own_cells_keep_their_order_and_their_place(folder):
    def change(content):
        place = place_of(content, "ex1-bubbles-answer")
        content["cells"][place:place] = [code("first = 1"), code("second = 2")]
        content["cells"].append(code("last = 3"))

    found = changed(folder, change).notebooks[NAME]
    sources = [cell.source for cell in found]
    place = sources.index("first = 1")
    assert sources[place + 1] == "second = 2" and found[place + 2].grade_id == "ex1-bubbles-answer"
    assert sources[-1] == "last = 3" and not found[-1].ours


def test_of_copies_the_first_counts_and_it_is_said(folder):
    def change(content):
        content["cells"] += [code("bubbles_per_stage = 0", nbgrader={"grade_id": "ex1-bubbles-answer"})] * 1000

    found = changed(folder, change)
    assert "6" in source(found.notebooks[NAME], "ex1-bubbles-answer")
    assert ids(found.notebooks[NAME]) == list(ONE[NAME].cells)
    assert sum("ex1-bubbles-answer" in note and "first counts" in note for note in found.notes) == 1


def test_missing_cells_come_back_and_reordered_ones_go_to_their_place(folder):
    def change(content):
        content["cells"] = [cell for cell in content["cells"][::-1] if "ex1-diagram" not in json.dumps(cell["metadata"])]

    found = changed(folder, change)
    assert ids(found.notebooks[NAME]) == list(ONE[NAME].cells)
    assert source(found.notebooks[NAME], "ex1-diagram-answer") == ONE[NAME].cells["ex1-diagram-answer"].source
    assert any("put back" in note and "ex1-diagram-answer" in note for note in found.notes)


def test_nothing_but_a_grade_id_is_believed(folder):
    def change(content):
        content["metadata"] = {"kernelspec": {"name": "mine"}}
        for cell in content["cells"]:
            if "nbgrader" in cell["metadata"]:
                cell["metadata"]["nbgrader"] |= {"points": 1e9, "solution": True, "locked": False, "grade": False}
            cell["cell_type"] = "markdown"

    found = changed(folder, change)
    assert source(found.notebooks[NAME], "ex1-diagram") == ONE[NAME].cells["ex1-diagram"].source
    assert [cell.kind for cell in found.notebooks[NAME] if cell.grade_id] == [cell.cell_type for cell in ONE[NAME].cells.values()]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_are_read(folder, encoding):
    path = folder / f"{NAME}.ipynb"
    path.write_text(path.read_text(encoding="utf-8"), encoding=encoding)
    found = read(folder)
    assert ids(found.notebooks[NAME]) == list(ONE[NAME].cells)
    assert [encoding in note for note in found.notes] == [True] * (encoding != "utf-8-sig")


def test_what_is_no_utf_8_is_latin_1(folder):
    answer(folder, "ex1-bubbles-answer", "name = 'é'")
    path = folder / f"{NAME}.ipynb"
    path.write_bytes(json.dumps(notebook(path), ensure_ascii=False).encode("latin-1", "ignore"))
    found = read(folder)
    assert source(found.notebooks[NAME], "ex1-bubbles-answer") == "name = 'é'" and "latin-1" in found.notes[0]


@pytest.mark.parametrize("version", [3, 99])
def test_other_formats_are_read_where_there_are_cells(folder, version):
    def change(content):
        content["nbformat"] = version
        if version == 3:
            content["worksheets"] = [{"cells": [{**cell, "input": cell.pop("source")} for cell in content.pop("cells")]}]

    found = changed(folder, change).notebooks[NAME]
    assert "6" in source(found, "ex1-bubbles-answer")


@pytest.mark.parametrize("content, reason", [
    (b"", "not a notebook"), (b"[]", "no list of cells"), (b"null", "no list of cells"), (b"7", "no list of cells"),
    (b'{"cells": 5}', "no list of cells"), (b'{"cells": [', "not a notebook"), (os.urandom(1000), "not a notebook"),
    (b"\xff\xfe" + os.urandom(999), "not a notebook"), (b"[" * 200_000, "nested too deep"),
    (b'{"cells":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deep"), (b"[]," * 2_000_001, "lists and objects"),
    (b'{"cells": [' + b"9" * 5000 + b"]}", "not a notebook"), (b" " * (MAX_BYTES + 1), "20 MB are allowed"),
], ids=range(13))
def test_what_is_no_notebook_is_rejected_with_its_reason(folder, content, reason):
    (folder / f"{NAME}.ipynb").write_bytes(content)
    with pytest.raises(Rejected, match=reason):
        read(folder)


def test_outputs_count_for_the_size_alone(folder):
    changed(folder, lambda content: content["cells"][place_of(content, "ex1-bubbles")]["outputs"].append({"text": "x" * 10**7}))
    assert ids(cells(folder)) == list(ONE[NAME].cells)
    changed_file = folder / f"{NAME}.ipynb"
    with changed_file.open("a") as file:
        file.truncate(50_000_000)
    with pytest.raises(Rejected, match="has 50 MB, and 20 MB are allowed"):
        read(folder)


@pytest.mark.parametrize("make, kind", [
    (lambda path: path.symlink_to(ROOT / "solutions" / ASSIGNMENT / path.name), "a link"),
    (lambda path: path.symlink_to("nowhere"), "a link"), (os.mkdir, "a folder"), (os.mkfifo, "a pipe"),
])
def test_only_regular_files_are_opened(folder, make, kind):
    path = folder / f"{NAME}.ipynb"
    path.unlink()
    make(path)
    with pytest.raises(Rejected, match=f"is {kind}, not a file"):
        read(folder)


@pytest.mark.parametrize("level", ["student", ASSIGNMENT])
def test_a_folder_behind_a_link_is_not_entered(folder, tmp_path, level):
    link = tmp_path / "two" if level == "student" else folder.parent.parent / "two" / ASSIGNMENT
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(folder.parent if level == "student" else folder)
    with pytest.raises(Rejected, match="is a link, not a folder"):
        read_submission(tmp_path / "two", ONE)


def test_one_notebook_that_cannot_be_read_leaves_the_others(tmp_path):
    folder = hand_in(tmp_path, "one")
    (folder / f"{NAME}.ipynb").write_text("{")
    (folder / "2_1f1b_phases.ipynb").unlink()
    found = read(folder, RELEASES)
    assert set(found.rejected) == {NAME} and len(found.notebooks) == 4
    assert any("2_1f1b_phases: not handed in" in note for note in found.notes)


@pytest.mark.parametrize("name", ["Pipeline Parallelism", "PIPELINE_PARALLELISM", "pipeline-parallelism"])
def test_a_folder_with_spaces_or_another_case_is_found(folder, name):
    folder.rename(folder.with_name(name))
    found = read_submission(folder.parent, ONE)
    assert NAME in found.notebooks and name in found.notes[0]


def test_notebooks_beside_the_folder_are_found(folder):
    (folder / f"{NAME}.ipynb").rename(folder.parent / f"{NAME}.ipynb")
    folder.rmdir()
    assert NAME in read(folder).notebooks


def test_a_renamed_notebook_is_known_by_its_cells_and_a_strange_one_is_named(folder):
    (folder / f"{NAME}.ipynb").rename(folder / "my diagram (1).IPYNB")
    save(folder / "notes.ipynb", {"cells": [code("x = 1")]})
    found = read(folder)
    assert "6" in source(found.notebooks[NAME], "ex1-bubbles-answer")
    assert any("my diagram" in note for note in found.notes) and any("notes.ipynb" in note for note in found.notes)


def test_of_notebooks_under_other_names_only_so_much_is_read(folder, monkeypatch):
    (folder / f"{NAME}.ipynb").rename(folder / "z.ipynb")
    (folder / "a.ipynb").write_bytes(b" " * (MAX_BYTES + 1))
    (folder / "b.ipynb").write_bytes(b" " * 10_000)
    assert NAME in read(folder).notebooks
    monkeypatch.setattr(intake, "MAX_TOTAL", 10_000)
    with pytest.raises(Rejected):
        read(folder)


def test_the_right_name_comes_before_the_right_cells(folder):
    save(folder / "0 better.ipynb", notebook(ROOT / "notebooks" / ASSIGNMENT / f"{NAME}.ipynb"))
    assert "6" in source(cells(folder), "ex1-bubbles-answer")


def test_too_many_own_cells_and_too_long_ones_are_left_out(folder):
    def change(content):
        content["cells"][:0] = [code(f"x = {number}") for number in range(3000)]
        content["cells"][place_of(content, "ex1-bubbles-answer")]["source"] = "#" * (MAX_SOURCE + 1)

    found = changed(folder, change)
    assert sum(cell.grade_id is None for cell in found.notebooks[NAME]) == MAX_EXTRA
    assert source(found.notebooks[NAME], "ex1-bubbles-answer") == ""
    assert source(found.notebooks[NAME], "ex1-diagram-answer") != ONE[NAME].cells["ex1-diagram-answer"].source
    assert any("3" in note and str(MAX_EXTRA) in note for note in found.notes)


def test_notebooks_without_points_are_no_fault(folder):
    assert {path.name for path in (ROOT / "notebooks" / ASSIGNMENT).glob("*.ipynb")} == {
        *WITHOUT_POINTS, *notebooks_to_hand_in()}
    before = read(folder).notes
    for name in WITHOUT_POINTS:
        save(folder / name, {"cells": [code("1 + 1")], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert read(folder).notes == before


def test_a_lone_surrogate_can_be_written(folder):
    answer(folder, "ex1-bubbles-answer", "x = '\ud800'")
    assert source(cells(folder), "ex1-bubbles-answer").encode() == b"x = '?'"


def test_nothing_of_the_course_is_rejected(tmp_path):
    (tmp_path / "one").mkdir()
    with pytest.raises(Rejected, match=f"there is no folder {ASSIGNMENT}"):
        read_submission(tmp_path / "one", ONE)
    (tmp_path / "one" / ASSIGNMENT).mkdir()
    with pytest.raises(Rejected, match="no notebook of this course"):
        read_submission(tmp_path / "one", ONE)


def test_a_release_that_was_worked_in_is_refused(tmp_path):
    folder = hand_in(tmp_path, "released", "notebooks")
    read_releases(folder)
    answer(folder, "ex1-bubbles-answer", "bubbles_per_stage = 6")
    with pytest.raises(NoRelease, match=r"ex1-bubbles-answer .* `make notebooks`"):
        read_releases(folder)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(["cells", "metadata", "nbgrader", "grade_id", "source", "cell_type"]),
                                         inner, max_size=4), max_leaves=20)


@settings(max_examples=40, deadline=None)
@given(st.lists(JSON, max_size=6), JSON)
def test_whatever_stands_in_the_cells_our_cells_are_all_there(tmp_path_factory, strange, metadata):
    folder = hand_in(tmp_path_factory.mktemp("fuzz"), "one", only=(NAME,))
    content = notebook(folder / f"{NAME}.ipynb")
    content["cells"][3:3] = strange
    content["cells"][-1]["metadata"] = metadata
    save(folder / f"{NAME}.ipynb", content)
    found = cells(folder)
    assert ids(found) == list(ONE[NAME].cells) and all(type(cell.source) is str for cell in found)
