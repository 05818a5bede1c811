"""The Explorer of schedules: sliders for its sizes, its timeline and numbers below; what it shows is made in `exploration`."""

from functools import partial

from course.schedules import SCHEDULES
from course.widgets.exploration import EVERYTHING, LESSONS, Scope, explored, numbers_html, read_names, read_setting, still
from course.widgets.live import Live
from course.widgets.still import Still

_WORDS = {"group": "Explorer of schedules", "key": "schedule", "choice": "schedule", "grid": "timeline as text"}
_BOXES = [["memory", "memory under it"], ["grid", "as text"]]


class Explorer(Live):
    """The widget: `setting` as it begins, `scope` what there is to choose from and what is shown of it."""

    def __init__(self, setting, scope: Scope):
        super().__init__({**vars(setting), "backward": float(setting.backward)}, partial(answer, scope=scope),
                         still(setting, scope), words=_WORDS, boxes=_BOXES, sliders=scope.sliders(),
                         choices=[[name, SCHEDULES[name].title] for name in scope.schedules])


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
    return Explorer(setting, Scope(read_names(schedule, schedules), bool(formulas)))


def without_sliders(schedule, ranks, micro_batches, chunks, backward, schedules, formulas=True) -> Still:
    """The same without a widget. ValueError names a value that is none."""
    setting = read_setting(schedule, ranks, micro_batches, chunks, backward)
    return still(setting, Scope(read_names(schedule, schedules), bool(formulas)))
