"""Our release notebooks, which a submission's answers are put into: read once, looked through, never taken from a submission."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import compute_checksum, is_solution

from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT

FOLDER = Path(__file__).resolve().parent.parent / "notebooks" / ASSIGNMENT


class NoRelease(ValueError):
    """The release notebooks cannot be graded with; the text says which, why, and the way out."""


@dataclass(frozen=True)
class Release:
    """A release notebook: its cells that carry a grade_id, in their order, and the sources of its other code cells."""

    notebook: NotebookNode
    cells: Mapping[str, NotebookNode]
    others: frozenset[str]


def read_releases(folder: Path = FOLDER) -> dict[str, Release]:
    """Name -> Release of each notebook with exercises. NoRelease where one is missing or was worked in."""
    return {name: _read(folder / f"{name}.ipynb") for name in sorted({entry.notebook for entry in EXERCISES.values()})}


def _read(path):
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        raise NoRelease(f"{path} cannot be read ({error}): `make notebooks` writes it again") from None
    cells = {grade_id_of(cell): cell for cell in notebook.cells if grade_id_of(cell)}
    for grade_id, cell in cells.items():
        if cell.metadata.nbgrader.get("checksum") != compute_checksum(cell):
            raise NoRelease(f"{path} has been worked in (its cell {grade_id} is not as it was released): "
                            "`make notebooks` keeps a copy and writes it again")
    others = frozenset(cell.source.strip() for cell in notebook.cells if cell.cell_type == "code" and not grade_id_of(cell))
    return Release(notebook, cells, others)


def grade_id_of(cell: NotebookNode) -> str | None:
    """The grade_id of a cell of ours."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def is_answer(cell: NotebookNode) -> bool:
    """Whether a cell of ours is one that the learner writes in."""
    return bool(is_solution(cell))
