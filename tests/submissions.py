"""Submissions in folders, as a test hands them in: the course's notebooks, solved or released, with some cells changed."""

import json
import shutil
from pathlib import Path

from autograder.submissions import ROOT, find, grade_id_of, write_cell
from course.hand_in import ASSIGNMENT


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


def place_of(content: dict, grade_id: str) -> int:
    """Where the cell with this grade_id stands."""
    return find({"": content}, grade_id)[1]


def code(source: str, **metadata) -> dict:
    """A code cell of the learner's own."""
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def answer(folder: Path, grade_id: str, source: str):
    """Write another answer into the cell with this grade_id."""
    for path in folder.glob("*.ipynb"):
        content = notebook(path)
        if grade_id in map(grade_id_of, content["cells"]):
            write_cell({"": content}, grade_id, source)
            save(path, content)
            return
    raise LookupError(grade_id)
