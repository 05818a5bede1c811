"""Run a notebook from top to bottom without a browser, in a copy of its folder."""

import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
ASSIGNMENT = "pipeline_parallelism"


def names(kind: str) -> list[str]:
    """The notebooks of `solutions` or `notebooks`."""
    return sorted(path.name for path in (ROOT / kind / ASSIGNMENT).glob("*.ipynb"))


def run_notebook(kind: str, name: str, folder: Path, *more_cells: str):
    """The executed notebook; `more_cells` are run at its end. A cell that raises is an error here."""
    for source in (ROOT / kind / ASSIGNMENT).glob("*.ipynb"):
        shutil.copy(source, folder)
    notebook = nbformat.read(folder / name, as_version=4)
    notebook.cells += [nbformat.v4.new_code_cell(code) for code in more_cells]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def outputs(cell) -> list[str]:
    """The text forms of what a cell shows, in order."""
    return [output.text if output.output_type == "stream" else output.data.get("text/plain", "") for output in cell.outputs]


def results(notebook) -> dict[str, float]:
    """grade_id -> the number that nbgrader reads from each check's cell."""
    found = {}
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and graded.get("grade"):
            (result,) = [output for output in cell.outputs if output.output_type == "execute_result"]
            found[graded["grade_id"]] = float(result.data["text/plain"])
    return found
