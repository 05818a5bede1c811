"""Submissions as a test hands them in: the course's notebooks, solved or released, with some cells changed."""

import json
import shutil
from pathlib import Path

from course.hand_in import ASSIGNMENT

ROOT = Path(__file__).resolve().parent.parent


def hand_in(submitted: Path, student: str, kind: str = "solutions", only: tuple[str, ...] = ()) -> Path:
    """A student's folder with the notebooks of `solutions` or `notebooks`, or those of them that are named."""
    folder = submitted / student / ASSIGNMENT
    folder.mkdir(parents=True)
    for path in (ROOT / kind / ASSIGNMENT).glob("*.ipynb"):
        if not only or path.stem in only:
            shutil.copy(path, folder)
    return folder


def notebook(path: Path) -> dict:
    """The notebook as JSON."""
    return json.loads(path.read_text(encoding="utf-8"))


def save(path: Path, content: dict):
    """Write the notebook."""
    path.write_text(json.dumps(content), encoding="utf-8")


def grade_id(cell: dict) -> str | None:
    """The grade_id of a cell."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def place_of(content: dict, wanted: str) -> int:
    """Where the cell with this grade_id stands."""
    return next(place for place, cell in enumerate(content["cells"]) if grade_id(cell) == wanted)


def code(source: str, **metadata) -> dict:
    """A code cell of the learner's own."""
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def answer(folder: Path, wanted: str, source: str):
    """Write another answer into the cell with this grade_id."""
    for path in folder.glob("*.ipynb"):
        content = notebook(path)
        if wanted in map(grade_id, content["cells"]):
            content["cells"][place_of(content, wanted)]["source"] = source
            save(path, content)
            return
    raise LookupError(wanted)
