"""A grid to draw a schedule in, and the same drawing as text: the text in the cell is the answer, the grid writes it."""

import re
from pathlib import Path

import anywidget
import traitlets

from course.drawing import STUB, UNMARKED, DrawingError, read_drawing, salvage_drawing
from course.widgets.in_cell import running

MOST_SLOTS = 200
_HERE = Path(__file__).parent
# one module for the page, which cannot import a file from beside it
_SCRIPTS = ("elements.js", "rows.js", "drawing.js", "page.js", "write_cell.js", "grid_editor.js")
_HOW = ("A grid editor, shown by JupyterLab and Notebook: run this cell there to draw with mouse or keys.\n"
        "Without it, write the drawing between the quotes.")


class GridEditor(anywidget.AnyWidget):
    """The widget: `text` is the drawing as it stands in the grid, `saved` what the cell held when it last ran."""

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)
    _css = "\n".join((_HERE / name).read_text("utf-8") for name in ("base.css", "grid_editor.css"))
    text = traitlets.Unicode().tag(sync=True)
    saved = traitlets.Unicode().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    stages = traitlets.Int().tag(sync=True)
    slots = traitlets.Int().tag(sync=True)
    micro_batches = traitlets.Int().tag(sync=True)

    def __repr__(self):
        return f"{self.text or '(nothing drawn yet)'}\n\n{_HOW}"


def grid_editor(text, stages: int = 4, slots: int = 14, micro_batches: int = 4) -> GridEditor:
    """An editor that starts with the drawing in `text`; if that cannot be read, with an empty grid and a line why.

    What was drawn in the same cell and never written into it is kept when the cell runs again.
    """
    for name, value in (("stages", stages), ("slots", slots), ("micro_batches", micro_batches)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} = {value!r}: a whole number of at least 1 is needed")
    rows, note = _read(STUB if text is ... else text, stages)
    drawn = written(rows)
    editor = GridEditor(text=drawn, saved=drawn, source=text if isinstance(text, str) else "", note=note,
                        stages=stages, slots=max(slots, *map(len, rows)), micro_batches=micro_batches)
    _keep_draft(editor)
    return editor


def written(rows) -> str:
    """The rows as text, cells in columns: `?` for a cell not marked, left off at the end of a row; "" if none is marked.

    >>> print(written([["F0", "", "B0"], [], ["."]]))
    F0 ?  B0
    ?
    .
    """
    rows = [[cell or UNMARKED for cell in row] for row in rows]
    for row in rows:
        while len(row) > 1 and row[-1] == UNMARKED:
            row.pop()
    if all(cell == UNMARKED for row in rows for cell in row):
        return ""
    width = max(len(cell) for row in rows for cell in row)
    return "\n".join(" ".join(cell.ljust(width) for cell in row or [UNMARKED]).rstrip() for row in rows)


def _read(text, stages):
    """The cells of a text, a list a stage, and what there is to say about it."""
    empty = [[] for _ in range(stages)]
    try:
        drawing = read_drawing(text, stages)
    except DrawingError as error:
        if error.code == "empty":
            return empty, ""
        reason = re.sub("`(.*?)`", r"“\1”", str(error))
        rows = salvage_drawing(text, stages) if isinstance(text, str) else []
        if max(map(len, rows), default=0) > MOST_SLOTS or all(cell == UNMARKED for row in rows for cell in row):
            return empty, f"The text in the cell could not be read, so the grid starts empty. {reason}"
        return rows + empty[len(rows):], f"Not all of the text could be read; what is no cell is not marked here. {reason}"
    if drawing.slots > MOST_SLOTS:
        return empty, (f"The drawing in the cell has {drawing.slots} slots, more than the {MOST_SLOTS} that fit here, "
                       "so the grid starts empty. Change the text itself.")
    return [list(row) for row in drawing.rows] + empty[len(drawing.rows):], ""


_in_cell: dict[str, GridEditor] = {}  # cell id -> the editor it showed last


def _keep_draft(editor):
    cell, _ = running()
    if not cell:
        return
    before = _in_cell.get(cell)
    if before and before.source == editor.source and before.text != before.saved and before.stages == editor.stages:
        editor.text, editor.slots = before.text, max(before.slots, editor.slots)
        editor.note = "Your drawing is still here, but not in the cell yet: press “Write into the cell”."
    _in_cell[cell] = editor
