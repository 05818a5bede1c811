"""What all Explorers are: a page of controls, the answer to the last setting below them, a static form where neither is."""

from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets
from IPython.display import display

from course.widgets.in_cell import running
from course.widgets.still import Still

_HERE = Path(__file__).parent
_VIEW = "application/vnd.jupyter.widget-view+json"


class Live(anywidget.AnyWidget):
    """The widget: `wanted` is where the controls stand, `shown` the answer to the last setting that was worked out.

    `words` names the parts of the page, and the key that the choices set.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("elements.js", "answers.js", "explorer.js"))
    _css = "\n".join((_HERE / name).read_text("utf-8") for name in ("base.css", "explorer.css"))
    words = traitlets.Dict().tag(sync=True)
    choices = traitlets.List().tag(sync=True)
    sliders = traitlets.List().tag(sync=True)
    boxes = traitlets.List().tag(sync=True)
    wanted = traitlets.Dict().tag(sync=True, echo_update=False)
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self, start: dict, answer: Callable[[dict], dict], still: Still, **page):
        """`start` as the controls begin, `answer` works a setting out."""
        start = start | {"turn": 0}
        super().__init__(wanted=start, shown=answer(start), **page)
        self._answer, self._still = answer, still
        self.observe(self._work_out, "wanted")
        _replace(self)

    def _work_out(self, change):
        self.shown = self._answer(change["new"])

    def __repr__(self):
        return self._still.text

    def _ipython_display_(self):
        # Two outputs: where nothing can show the second one, the first stays; where it is shown it hides the first.
        display({"text/html": self._still.html, "text/plain": self._still.text}, raw=True)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        display({_VIEW: view, "text/html": "", "text/plain": "(the Explorer's sliders, in JupyterLab)"}, raw=True)


_in_cell: dict[str, tuple[str, list[Live]]] = {}  # cell id -> its last run and the Explorers made in it


def _replace(made):
    """Close what an earlier run of this cell has made: nobody sees it any more."""
    cell, run = running()
    if not cell:
        return
    before, there = _in_cell.get(cell, (run, []))
    if before != run:
        for old in there:
            old.close()
        there = []
    _in_cell[cell] = (run, [*there, made])
