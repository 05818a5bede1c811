"""Reads a notebook's Jupytext source and expands its short cell tags into nbgrader's metadata.

    # %% [markdown]                    free text           # %%                      free code
    # %% [markdown] locked="ID"        read-only text      # %% locked="ID"          read-only code
    # %% answer="ID"                   the learner's code; the solution stands between
                                       ### BEGIN SOLUTION and ### END SOLUTION
    # %% check="ID"                    judges answer ID; points from the table of exercises
    # %% [markdown] manual="ID"        the learner's text, marked by hand
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat.notebooknode import NotebookNode

MARKER = re.compile(r"# %%(?!%)")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
# tag -> (cell types it may stand on, grade, solution, locked)
TAGS = {
    "locked": (("markdown", "code"), False, False, True),
    "answer": (("code",), False, True, False),
    "check": (("code",), True, False, True),
    "manual": (("markdown",), True, True, False),
}


class SourceError(ValueError):
    """A notebook source that cannot be built; the message starts with file and line."""


@dataclass(frozen=True)
class Cell:
    """A cell of a source: where it starts, its tag and grade_id (None on a free cell), and its text."""

    place: str
    kind: str
    tag: str | None
    grade_id: str | None
    source: str


def read_cells(path: Path) -> list[Cell]:
    """The cells of a source, in order; a SourceError where a marker or a tag is not understood."""
    text = path.read_text(encoding="utf-8")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if MARKER.match(line)]
    cells = jupytext.reads(text, fmt="py:percent").cells
    if len(cells) != len(lines):
        raise SourceError(
            f"{path.name}:1: {len(cells)} cells, but {len(lines)} lines start with '# %%': "
            "every cell needs its marker, and no text may stand before the first one"
        )
    return [_tagged(cell, f"{path.name}:{line}") for cell, line in zip(cells, lines, strict=True)]


def _tagged(cell: NotebookNode, place: str) -> Cell:
    # Jupytext notes unusual blank lines in keys of its own
    tags = {key: value for key, value in cell.metadata.items() if not key.startswith("lines_to_")}
    unknown = sorted(set(tags) - set(TAGS))
    if unknown:
        raise SourceError(
            f"{place}: {unknown[0]}={tags[unknown[0]]!r} is no cell tag; tags are {', '.join(TAGS)}, "
            'written as tag="grade-id"'
        )
    if len(tags) > 1:
        raise SourceError(f"{place}: {' and '.join(sorted(tags))} on one cell; a cell has one tag at most")
    if cell.cell_type not in ("markdown", "code"):
        raise SourceError(f"{place}: a {cell.cell_type} cell; cells are code or [markdown]")
    for tag, grade_id in tags.items():
        if cell.cell_type not in TAGS[tag][0]:
            raise SourceError(f"{place}: {tag} stands on a {cell.cell_type} cell, not on {TAGS[tag][0][0]}")
        if not isinstance(grade_id, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", grade_id):
            raise SourceError(f"{place}: {grade_id!r} is no grade_id; use letters, digits, - and _")
        full_id = f"{grade_id}-answer" if tag == "answer" else grade_id
        return Cell(place, cell.cell_type, tag, full_id, cell.source)
    return Cell(place, cell.cell_type, None, None, cell.source)


def _check_regions(cell: Cell) -> None:
    """A solution region is closed, not nested, and stands only where the learner writes."""
    marks = [line.strip() for line in cell.source.splitlines() if "SOLUTION" in line]
    regions = [mark for mark in marks if "BEGIN SOLUTION" in mark or "END SOLUTION" in mark]
    if regions and cell.tag not in ("answer", "manual"):
        raise SourceError(f"{cell.place}: a solution outside an answer cell would be released to learners")
    if regions != [BEGIN, END] * (len(regions) // 2):
        raise SourceError(
            f"{cell.place}: solution marks must alternate, each alone on its line: {BEGIN!r}, then {END!r}; "
            f"found {regions}"
        )
    if cell.tag == "answer" and not regions:
        raise SourceError(f"{cell.place}: an answer cell without {BEGIN!r} ... {END!r} would be emptied")


def _check_table(cell: Cell, notebook: str, exercises: Mapping[str, Any], answers: set[str]) -> None:
    """A graded cell agrees with the table of exercises, and a check has its answer cell above it."""
    grade_id = str(cell.grade_id)
    if grade_id not in exercises:
        raise SourceError(f"{cell.place}: {cell.tag} {grade_id!r} is not in the table of exercises")
    exercise = exercises[grade_id]
    if exercise.notebook != notebook:
        raise SourceError(f"{cell.place}: the table puts {grade_id!r} into notebook {exercise.notebook!r}")
    points = exercise.points
    if isinstance(points, bool) or not isinstance(points, int | float) or points <= 0:
        raise SourceError(f"{cell.place}: the table gives {grade_id!r} {points!r} points; it must be above 0")
    if bool(exercise.manual) != (cell.tag == "manual"):
        marked = "by hand: tag it manual" if exercise.manual else "by its check: tag it check"
        raise SourceError(f"{cell.place}: the table says that {grade_id!r} is marked {marked}")
    if cell.tag == "check" and f"{grade_id}-answer" not in answers:
        raise SourceError(f"{cell.place}: check {grade_id!r} has no cell answer={grade_id!r} above it")


def check_cells(cells: list[Cell], notebook: str, exercises: Mapping[str, Any]) -> None:
    """Raise a SourceError for the first cell that nbgrader or the table of exercises would trip over."""
    seen: dict[str, Cell] = {}
    for cell in cells:
        _check_regions(cell)
        if cell.grade_id is None:
            continue
        if cell.grade_id in seen:
            raise SourceError(
                f"{cell.place}: grade_id {cell.grade_id!r} is taken by {seen[cell.grade_id].place}"
            )
        if cell.tag in ("check", "manual"):
            _check_table(cell, notebook, exercises, {i for i, c in seen.items() if c.tag == "answer"})
        seen[cell.grade_id] = cell
    for cell in seen.values():
        if cell.tag == "answer" and str(cell.grade_id).removesuffix("-answer") not in seen:
            raise SourceError(f"{cell.place}: answer {cell.grade_id!r} has no check cell below it")
    missing = [i for i, e in exercises.items() if e.notebook == notebook and i not in seen]
    if missing:
        raise SourceError(f"{notebook}.py:1: the table of exercises has {missing[0]!r} here, no cell does")


def _nbgrader_cell(cell: Cell, cell_id: str, exercises: Mapping[str, Any]) -> NotebookNode:
    new = nbformat.v4.new_code_cell if cell.kind == "code" else nbformat.v4.new_markdown_cell
    node = new(cell.source, id=cell_id)
    if cell.tag is not None:
        _, grade, solution, locked = TAGS[cell.tag]
        node.metadata["nbgrader"] = {
            "cell_type": cell.kind,
            "grade": grade,
            "grade_id": cell.grade_id,
            "locked": locked,
            "schema_version": 3,
            "solution": solution,
            "task": False,
        }
        if grade:
            node.metadata["nbgrader"]["points"] = exercises[str(cell.grade_id)].points
    return node


def _ids(cells: list[Cell], notebook: str) -> Iterator[str]:
    """Fixed cell ids, by grade_id or position: without them every build would differ."""
    for position, cell in enumerate(cells):
        yield hashlib.sha256((cell.grade_id or f"{notebook}:{position}").encode()).hexdigest()[:12]


def solved_notebook(path: Path, exercises: Mapping[str, Any]) -> NotebookNode:
    """The source at `path` as a notebook with solutions, nbgrader's metadata and no outputs."""
    cells = read_cells(path)
    check_cells(cells, path.stem, exercises)
    ids = _ids(cells, path.stem)
    nodes = [_nbgrader_cell(cell, cell_id, exercises) for cell, cell_id in zip(cells, ids, strict=True)]
    notebook = nbformat.v4.new_notebook(cells=nodes, metadata=METADATA)
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return notebook
