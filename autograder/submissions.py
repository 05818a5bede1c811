"""Made-up submissions: the course's notebooks as plain data, and the edits that turn them into what people hand in."""

import copy
import json
from pathlib import Path

from course.hand_in import ASSIGNMENT

ROOT = Path(__file__).resolve().parents[1]
Notebooks = dict[str, dict | bytes]  # by file name: a notebook, or the bytes of a file that is none


def solved() -> Notebooks:
    """The notebooks with our answers."""
    return _read(ROOT / "solutions" / ASSIGNMENT)


def released() -> Notebooks:
    """The notebooks as learners get them."""
    return _read(ROOT / "notebooks" / ASSIGNMENT)


def _read(folder):
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.ipynb"))}


def grade_id_of(cell: dict) -> str | None:
    """The grade_id of a cell of the course's own notebooks."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def find(notebooks: Notebooks, grade_id: str) -> tuple[list[dict], int]:
    """The cells of a notebook and the place among them of the first with this grade_id."""
    return next((notebook["cells"], place) for notebook in notebooks.values() if isinstance(notebook, dict)
                for place, cell in enumerate(notebook["cells"]) if grade_id_of(cell) == grade_id)


def write_cell(notebooks: Notebooks, grade_id: str, source: str):
    """Put other text into a cell; the answer of exercise X has the grade_id X-answer."""
    cells, place = find(notebooks, grade_id)
    cells[place]["source"] = source


def append_to_cell(notebooks: Notebooks, grade_id: str, source: str):
    """Put more lines at the end of a cell."""
    cells, place = find(notebooks, grade_id)
    write_cell(notebooks, grade_id, f"{''.join(cells[place]['source'])}\n{source}")


def add_cell(notebooks: Notebooks, before: str, source: str):
    """Put a code cell of the learner's own before the cell with a grade_id."""
    cells, place = find(notebooks, before)
    cells.insert(place, {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})


def delete_cell(notebooks: Notebooks, grade_id: str):
    """Take a cell out."""
    cells, place = find(notebooks, grade_id)
    del cells[place]


def repeat_cell(notebooks: Notebooks, grade_id: str, source: str):
    """Put a copy of a cell, with its grade_id and another text, at the end of its notebook."""
    cells, place = find(notebooks, grade_id)
    cells.append(copy.deepcopy(cells[place]) | {"source": source})


def truncate(notebooks: Notebooks, name: str):
    """Cut a notebook's file in half, as a full disk does."""
    data = as_bytes(notebooks[name])
    notebooks[name] = data[:len(data) // 2]


def as_bytes(notebook: dict | bytes) -> bytes:
    """The file of a notebook."""
    return notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()


def write_submission(folder: Path, notebooks: Notebooks):
    """Write the files of a submission into a new folder."""
    folder.mkdir(parents=True)
    for name, notebook in notebooks.items():
        (folder / name).write_bytes(as_bytes(notebook))
