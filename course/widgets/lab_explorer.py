"""The open lab's Explorer: one schedule, sliders for its times; what it shows is made in `lab_exploration`."""

from functools import partial

from course.schedule import Schedule
from course.timeline import Timeline
from course.widgets.lab_exploration import explored_lab, still_lab
from course.widgets.lab_setting import LabSetting, LabSubject, lab_sliders, lab_subject, read_lab_setting
from course.widgets.live import Live
from course.widgets.still import Still

_WORDS = {"group": "Open lab", "grid": "timeline as text"}
_BOXES = [["memory", "memory under it"], ["grid", "as text"]]


class LabExplorer(Live):
    """The widget: `setting` as it begins, `subject` what it looks at."""

    def __init__(self, setting: LabSetting, subject: LabSubject):
        super().__init__(setting.wanted(), partial(lab_answer, subject=subject), still_lab(setting, subject), words=_WORDS,
                         boxes=_BOXES, sliders=lab_sliders(setting), choices=[])


def lab_answer(wanted: dict, subject: LabSubject) -> dict:
    """What the page shows for a setting that came from it: HTML of pictures and numbers, remarks, a summary to be read out."""
    turn = wanted.get("turn")
    try:
        setting = read_lab_setting(**{name: value for name, value in wanted.items() if name != "turn"})
    except (ValueError, TypeError) as error:
        return {"turn": turn, "picture": "", "grid": "", "numbers": "", "remarks": [str(error)], "summary": str(error)}
    found = explored_lab(setting, subject)
    return {"turn": turn, "picture": found.figure.svg, "grid": found.figure.text if setting.grid else "",
            "numbers": found.numbers, "remarks": list(found.remarks), "summary": found.summary}


def lab_explorer(subject: Schedule | Timeline, **times) -> LabExplorer:
    """The open lab on this schedule. When its cell runs again, the one that it showed before is closed.

    `times` are those to begin with: forward, input_grad, weight_grad, latency. ValueError names a value that is none.
    """
    found = lab_subject(subject)
    return LabExplorer(_setting(found, times), found)


def lab_without_sliders(subject: Schedule | Timeline, **times) -> Still:
    """The same without a widget. ValueError names a value that is none."""
    found = lab_subject(subject)
    return still_lab(_setting(found, times), found)


def _setting(subject, times):
    """The times to begin with; what nothing is said of is as it was drawn, or as usual."""
    usual = subject.setting()
    return read_lab_setting(**{name: getattr(usual, name) if time is None else time for name, time in times.items()})
