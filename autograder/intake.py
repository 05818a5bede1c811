"""A submission as data: its sources go, by grade_id, among the cells of our release; nothing else of it is believed.

Hostile files are data too: no link is followed, only regular files of a bounded size are read, and no cell is run here.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from autograder.files import MAX_BYTES, Rejected, kind_of, read_file, shown
from autograder.pictures import Album, Picture
from autograder.release import Release, is_answer
from course.hand_in import ASSIGNMENT, WITHOUT_POINTS

MAX_BRACKETS = 2_000_000  # so that the parsed file stays below a few hundred MB
MAX_SOURCE = 200_000  # characters of a cell
MAX_EXTRA = 300  # cells of the learner's own in a notebook
MAX_FILES, MAX_TOTAL = 40, 60_000_000  # notebooks of a folder that are looked at for their cells, and their bytes together


class Cell(NamedTuple):
    """A cell as it is graded. `grade_id` is None for the learner's own; `ours`: its source is that of the release.

    `pictures` are those that were pasted into a text.
    """

    grade_id: str | None
    source: str
    kind: str = "code"
    ours: bool = False
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Submission:
    """Name of a notebook -> its cells: all of ours that carry a grade_id, in our order, and the learner's own between them.

    `rejected` says of notebooks that could not be read why, `notes` what was not as it should be.
    """

    notebooks: Mapping[str, tuple[Cell, ...]]
    notes: tuple[str, ...] = ()
    rejected: Mapping[str, str] = field(default_factory=dict)


def read_submission(folder: Path, releases: Mapping[str, Release]) -> Submission:
    """Read a student's folder. Rejected when not one notebook of the course can be read in it."""
    notes, rejected, notebooks = [], {}, {}
    folder = _assignment_folder(Path(folder), notes)
    names = sorted(_listed(folder))
    found = {name: f"{name}.ipynb" for name in releases if f"{name}.ipynb" in names}

    def take(name, cells):
        """Once its cells are taken, a parsed file is let go: it may fill hundreds of MB."""
        notebooks[name] = tuple(_assemble(name, cells, releases[name], notes))

    for name, file in found.items():
        try:
            take(name, _read_cells(folder / file, file, notes))
        except Rejected as error:
            rejected[name] = str(error)
    left = [name for name in names if name not in found.values()]
    missing = [name for name in releases if name not in found]
    _by_content(folder, left[:MAX_FILES], {name: releases[name] for name in missing}, notes, take)
    notes += [f"{name}: not handed in" for name in releases if name not in notebooks and name not in rejected]
    notes += [f"{name}: rejected, {reason}" for name, reason in rejected.items()]
    if not notebooks:
        raise Rejected("; ".join(rejected.values()) or "no notebook of this course is in it")
    return Submission({name: notebooks[name] for name in releases if name in notebooks}, tuple(notes), rejected)


def _assignment_folder(folder, notes):
    """The folder that holds the notebooks: nbgrader's, one that is written otherwise, or the student's folder itself."""
    entries = _entries(folder)
    if ASSIGNMENT in entries:
        return _checked(folder / ASSIGNMENT)
    for name in sorted(entries):
        if _plain(name) == ASSIGNMENT:
            notes.append(f"its folder is named {shown(name)}")
            return _checked(folder / name)
    if any(name.lower().endswith(".ipynb") for name in entries):
        notes.append(f"its notebooks lie outside the folder {ASSIGNMENT}")
        return folder
    raise Rejected(f"there is no folder {ASSIGNMENT} in it")


def _checked(folder):
    _entries(folder)
    return folder


def _entries(folder):
    """The names in a real folder, not behind a link."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise Rejected(f"{shown(folder.name)} is {kind_of(os.lstat(folder).st_mode)}, not a folder")
        return os.listdir(folder)
    except OSError as error:
        raise Rejected(f"{shown(folder.name)} cannot be opened: {error.strerror}") from None


def _listed(folder):
    return [name for name in _entries(folder) if name.lower().endswith(".ipynb") and not name.startswith(".")]


def _plain(name):
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _by_content(folder, files, missing: Mapping[str, Release], notes, take: Callable[[str, list], None]):
    """Take the notebooks that are there under another name: most of their grade_ids are those of one that is missing."""
    found, left = set(), MAX_TOTAL
    for file in files:
        cells = ()  # the last file's are let go before this one is parsed
        wanted = [name for name in missing if name not in found and left > 0]
        try:
            size = os.lstat(folder / file).st_size
            left -= size * (size <= MAX_BYTES)  # larger ones are not read
            cells = _read_cells(folder / file, file, said := []) if wanted else []
        except Rejected as error:
            notes.append(f"{shown(file)} was not read: {error}")
            continue
        ids = {_grade_id(cell) for cell in cells}
        name = max(wanted, key=lambda name: len(ids & set(missing[name].cells)), default=None)
        if name and 2 * len(ids & set(missing[name].cells)) >= len(missing[name].cells):
            found.add(name)
            notes += [*said, f"{name}: handed in as {shown(file)}"]
            take(name, cells)
        elif file not in WITHOUT_POINTS:
            notes.append(f"{shown(file)} was not graded: it is no notebook with exercises, a second copy of one, or one too many")


def _read_cells(path, file, notes):
    """The list of cells in a notebook's file. Rejected with the reason where there is none."""
    text = _decoded(read_file(path), file, notes)
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        raise Rejected(f"{shown(file)} holds more than {MAX_BRACKETS:,} lists and objects")
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise Rejected(f"{shown(file)} is nested too deep") from None
    except ValueError as error:
        raise Rejected(f"{shown(file)} is not a notebook: {str(error)[:80]}") from None
    notebook = notebook if isinstance(notebook, dict) else {}
    cells = notebook.get("cells")
    if cells is None and isinstance(sheets := notebook.get("worksheets"), list):
        notes.append(f"{shown(file)} is in the format of nbformat 3")
        cells = [cell for sheet in sheets if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
                 for cell in sheet["cells"]]
    if not isinstance(cells, list):
        raise Rejected(f"{shown(file)} is not a notebook: it has no list of cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def _decoded(data, file, notes):
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        notes.append(f"{shown(file)} is written in {encoding}")
        return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append(f"{shown(file)} is not UTF-8: read as latin-1")
        return data.decode("latin-1")


def _grade_id(cell):
    for key in ("metadata", "nbgrader", "grade_id"):
        cell = cell.get(key) if isinstance(cell, dict) else None
    return cell if isinstance(cell, str) else None


def _source(cell, name, notes):
    """The text of a cell; empty where it has none, or one that is too long."""
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return ""
    if len(source) > MAX_SOURCE:
        notes.append(f"{name}: a cell of {len(source):,} characters was left out; {MAX_SOURCE:,} are allowed")
        return ""
    return source.encode("utf-8", "replace").decode()  # a lone surrogate could be neither sent nor written


def _assemble(name, found: Iterable[dict], release: Release, notes):
    """All of our cells with a grade_id, the learner's text in those that are answers, and before each the learner's own cells."""
    answers, own, waiting, seen, twice, count, album = {}, {}, [], set(), {}, 0, Album()
    for cell in found:
        grade_id = _grade_id(cell)
        if grade_id in seen:
            twice[grade_id] = True
        elif grade_id in release.cells:
            seen.add(grade_id)
            own[grade_id], waiting = waiting, []
            if is_answer(release.cells[grade_id]):
                source = _source(cell, name, notes)
                answers[grade_id] = source, album.take(cell.get("attachments"), source)
        elif source := _source(cell, name, notes).rstrip():
            count += 1
            if count <= MAX_EXTRA:
                kind = "code" if cell.get("cell_type") == "code" else "markdown"
                waiting.append(Cell(None, source, kind, kind == "code" and source.strip() in release.others,
                                    album.take(cell.get("attachments"), source)))
    notes += [f"{name}: the cell {grade_id} is there more than once, the first counts" for grade_id in twice]
    if count > MAX_EXTRA:
        notes.append(f"{name}: {count} cells of the learner's own, and the first {MAX_EXTRA} are read")
    lost = [grade_id for grade_id, cell in release.cells.items() if grade_id not in seen]
    if lost:
        notes.append(f"{name}: put back {', '.join(lost)}")
    for grade_id, cell in release.cells.items():
        yield from own.get(grade_id, ())
        source, pictures = answers.get(grade_id, (cell.source, ()))
        yield Cell(grade_id, source, cell.cell_type, source == cell.source, pictures)
    yield from waiting
