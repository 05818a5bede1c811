"""The Explorer: sliders for the sizes of a schedule, its timeline and numbers below; what it shows is made in `exploration`."""

from pathlib import Path

import anywidget
import traitlets
from IPython import get_ipython
from IPython.display import display

from course.schedules import SCHEDULES
from course.widgets.exploration import EVERYTHING, LESSONS, Scope, Still, explored, numbers_html, read_names, read_setting, still

_HERE = Path(__file__).parent
_VIEW = "application/vnd.jupyter.widget-view+json"


class Explorer(anywidget.AnyWidget):
    """The widget: `wanted` is where the sliders stand, `shown` the answer to the last setting that was worked out."""

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("elements.js", "explorer.js"))
    _css = (_HERE / "explorer.css").read_text("utf-8")
    choices = traitlets.List().tag(sync=True)
    sliders = traitlets.List().tag(sync=True)
    wanted = traitlets.Dict().tag(sync=True, echo_update=False)
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self, setting, scope: Scope):
        """`setting` as it begins, `scope` what there is to choose from and what is shown of it."""
        start = {**vars(setting), "backward": float(setting.backward), "turn": 0}
        choices = [[name, SCHEDULES[name].title] for name in scope.schedules]
        super().__init__(choices=choices, sliders=scope.sliders(), wanted=start, shown=answer(start, scope))
        self._scope, self._still = scope, still(setting, scope)
        self.observe(self._work_out, "wanted")

    def _work_out(self, change):
        self.shown = answer(change["new"], self._scope)

    def __repr__(self):
        return self._still.text

    def _ipython_display_(self):
        # Two outputs: where nothing can show the second one, the first stays; where it is shown it hides the first.
        display({"text/html": self._still.html, "text/plain": self._still.text}, raw=True)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        display({_VIEW: view, "text/html": "", "text/plain": "(the Explorer's sliders, in JupyterLab)"}, raw=True)


def answer(wanted: dict, scope: Scope = EVERYTHING) -> dict:
    """What the page shows for a setting that came from it: HTML of picture and numbers, remarks, a summary to be read out."""
    turn = wanted.get("turn")
    try:
        setting = read_setting(**{name: value for name, value in wanted.items() if name != "turn"})
    except (ValueError, TypeError) as error:
        return {"turn": turn, "picture": "", "grid": "", "numbers": "", "remarks": [str(error)], "summary": str(error)}
    found = explored(setting, scope)
    drawn = found.figure
    return {"turn": turn, "picture": drawn.svg if drawn else "", "grid": drawn.text if drawn and setting.grid else "",
            "numbers": numbers_html(found.rows), "remarks": list(found.remarks), "summary": found.summary}


def explorer(schedule="1f1b", ranks=4, micro_batches=8, chunks=1, backward=1, schedules=LESSONS, formulas=True) -> Explorer:
    """An Explorer that starts with these sizes. When its cell runs again, the one that it showed before is closed.

    `formulas=False` leaves the closed forms for the learner to find. ValueError names a value that is none.
    """
    setting = read_setting(schedule, ranks, micro_batches, chunks, backward)
    made = Explorer(setting, Scope(read_names(schedule, schedules), bool(formulas)))
    _replace(made)
    return made


def without_sliders(schedule, ranks, micro_batches, chunks, backward, schedules, formulas=True) -> Still:
    """The same without a widget. ValueError names a value that is none."""
    setting = read_setting(schedule, ranks, micro_batches, chunks, backward)
    return still(setting, Scope(read_names(schedule, schedules), bool(formulas)))


_in_cell: dict[str, tuple[str, list[Explorer]]] = {}  # cell id -> its last run and the Explorers made in it


def _replace(made):
    """Close what an earlier run of this cell has made: nobody sees it any more."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell, run = (parent.get("metadata") or {}).get("cellId"), (parent.get("header") or {}).get("msg_id")
    if not cell:
        return
    before, there = _in_cell.get(cell, (run, []))
    if before != run:
        for old in there:
            old.close()
        there = []
    _in_cell[cell] = (run, [*there, made])
