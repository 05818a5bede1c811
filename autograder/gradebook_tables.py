"""What must be in a gradebook before a mark can be: nbgrader's tables with our assignment in them, and one of our own."""

import nbformat
from nbgrader.api import Gradebook, get_alembic_version
from nbgrader.preprocessors import SaveCells
from sqlalchemy import Column, MetaData, String, Table, inspect, text

from autograder.release import FOLDER
from course.hand_in import ASSIGNMENT

COURSE = "pipeline-parallelism"
# of our own beside nbgrader's: the hash of each answer that a person may have looked at, "" while another is about to be shown
ANSWERS = Table("graded_answer", MetaData(), Column("student", String(128), primary_key=True),
                Column("grade_id", String(128), primary_key=True), Column("hash", String(64), nullable=False))


def prepare(url, releases):
    """Write what `nbgrader generate_assignment` would: assignment, notebooks and cells. RuntimeError where others hold marks."""
    with Gradebook(url, COURSE) as opened:
        _name_version(opened)
        ANSWERS.metadata.create_all(opened.engine)
        _write_cells(opened, url, releases)


def _name_version(opened):
    """nbgrader writes the version of its tables only when it makes the first of them: it is missing where that was cut off."""
    if not inspect(opened.engine).has_table("alembic_version"):
        opened.db.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    if not opened.db.execute(text("SELECT version_num FROM alembic_version")).all():
        opened.db.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": get_alembic_version()})
    opened.db.commit()


def _write_cells(opened, url, releases):
    assignment = opened.update_or_create_assignment(ASSIGNMENT)
    known = {notebook.name: notebook for notebook in assignment.notebooks}
    for path in sorted(FOLDER.glob("*.ipynb")):
        release = releases.get(path.stem)
        if release is None and path.stem not in known:
            opened.update_or_create_notebook(path.stem, ASSIGNMENT)
        elif release and not _is_same(known.get(path.stem), release):
            if assignment.submissions and path.stem not in known:
                raise RuntimeError(f"it holds submissions of an assignment without {path.stem}")
            SaveCells().preprocess(nbformat.from_dict(release.notebook), {"nbgrader": {
                "notebook": path.stem, "assignment": ASSIGNMENT, "db_url": url}})


def _is_same(notebook, release):
    """Whether the gradebook has the cells of this release."""
    if notebook is None:
        return False
    graded = {cell.name: cell.max_score for cell in notebook.grade_cells}
    return ({cell.name: cell.checksum for cell in notebook.source_cells} ==
            {name: cell.metadata.nbgrader.checksum for name, cell in release.cells.items()} and
            graded == {name: float(cell.metadata.nbgrader.points) for name, cell in release.cells.items()
                       if cell.metadata.nbgrader.grade})
