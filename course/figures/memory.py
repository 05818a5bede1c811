"""Memory over time: what each rank holds, as steps under a timeline, on the timeline's axis."""

import math
from collections.abc import Sequence

from course.figures.figure import Figure
from course.figures.frame import axis
from course.figures.layout import RIGHT, WIDTH, Layout, left_of
from course.figures.svg import document, path, text
from course.words import number

TOP, HEIGHT = 34, 26  # the first row, the height of a row's highest level
LETTER = 5.6  # the width of a letter in the small words
AREA = {"fill": "#CC79A7", "fill_opacity": 0.55, "stroke": "#CC79A7"}
FLOOR = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.28, "stroke_width": 0.8}
ROOM = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.4, "stroke_dasharray": "5 3"}
BARS = " ▁▂▃▄▅▆▇█"
ONE = {"micro-batches": "micro-batch", "chunks": "chunk"}
COLUMNS = 60  # of the text form, where slots would be too many or too few

Steps = Sequence[tuple[float, float]]


def memory_figure(steps: Sequence[Steps], end, title: str = "", unit: str = "micro-batches", time_unit: str = "slot",
                  scale=None, capacity=None, place: str = "stage", full=None) -> Figure:
    """What each rank holds until `end`: `steps` has, per rank, (time, level from then on), as Timeline.held has it.

    All rows have one scale of levels, up to the highest; up to `full`, written at each row, where figures shall share one.
    Figures with one time `scale`, the time at the right edge, share one axis, a timeline's figure included. `capacity` is drawn
    as a line that must not be crossed. The text form has a row of bars a rank, one for each slot where they are not too many,
    and the peak.
    """
    names = [f"{place} {rank}" for rank in range(len(steps))]
    peaks = [max((level for _, level in row), default=0) for row in steps]
    top = max([*peaks, capacity or 0, full or 0]) or 1
    span = float(max(end, scale or 0)) or 1.0
    left = left_of(names[-1] if names else place)
    layout = Layout(TOP if title else 8, left, (WIDTH - RIGHT - left) / span, len(steps))
    areas = "".join(_area(row, end, layout, rank, HEIGHT / top) for rank, row in enumerate(steps))
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body += [path(areas, **AREA), path(_levels(0, end, layout), **FLOOR)]
    if capacity is not None:
        body.append(path(_levels(HEIGHT * capacity / top, end, layout), **ROOM))
    if full is not None:
        body.append(path(_levels(HEIGHT, span, layout), **FLOOR))
        body += [text(WIDTH - RIGHT + 3, layout.y(rank) + 6, number(top), font_size=9.5) for rank in range(layout.rows)]
    word = "peak " if max(map(len, map(number, peaks)), default=0) * LETTER + 5 * LETTER < left - 10 else ""
    for rank, (name, peak) in enumerate(zip(names, peaks, strict=True)):
        body += [text(8, layout.y(rank) + 13, name),
                 text(8, layout.y(rank) + 25, word + number(peak), font_size=10.5, font_weight=600)]
    body.append(axis(end, layout, span, time_unit))
    said = _text_form(steps, names, peaks, top, end, title, unit, time_unit, capacity, full)
    return Figure(document(WIDTH, layout.bottom + 28, "".join(body), title or "Memory over time", said), said)


def _floor(layout, rank):
    return layout.y(rank) + HEIGHT + 1


def _levels(height, end, layout):
    """A line at this height over the floor of each row."""
    return "".join(f"M{layout.x(0):.1f} {_floor(layout, rank) - height:.1f}H{layout.x(end):.1f}" for rank in range(layout.rows))


def _area(row, end, layout, rank, per_level):
    """The path of one rank's steps, closed along its floor."""
    if not row:
        return ""
    floor, at_once = _floor(layout, rank), dict(row)  # of steps at one time the last one stays
    steps = "".join(f"H{layout.x(time):.1f}V{floor - float(level) * per_level:.1f}" for time, level in at_once.items())
    return f"M{layout.x(row[0][0]):.1f} {floor:.1f}{steps}H{layout.x(end):.1f}V{floor:.1f}z"


def _text_form(steps, names, peaks, top, end, title, unit, time_unit, capacity, full):
    lines, columns = [title] if title else [], _columns(end, time_unit)
    for row, name, peak in zip(steps, names, peaks, strict=True):
        lines.append(f"{name.ljust(len(names[-1]))} |{_bars(row, top, end, columns)}| peak {_of(peak, unit)}")
    if capacity is not None:
        lines.append(f"room for {_of(capacity, unit)}")
    if full is not None:
        lines.append(f"a bar of full height: {_of(top, unit)}")
    return "\n".join(lines)


def _of(level, unit):
    """A level with its unit, which is named in its plural."""
    return f"{number(level)} {ONE.get(unit, unit) if level == 1 else unit}"


def _columns(end, time_unit):
    """One for each slot, measured ones rounded; where there are no slots, or many, as many as fit a line."""
    return round(end) if time_unit == "slot" and 1 <= round(end) <= COLUMNS else COLUMNS


def _bars(row, top, end, columns):
    """The highest level in each of the columns that the time is cut into, as a bar; the lowest bar is for all above 0."""
    bars, following, level = [], 0, 0
    for column in range(columns):
        begin, stop = column * end / columns, (column + 1) * end / columns
        while following < len(row) and row[following][0] <= begin:
            level, following = row[following][1], following + 1
        highest = level
        while following < len(row) and row[following][0] < stop:
            level, following = row[following][1], following + 1
            highest = max(highest, level)
        bars.append(BARS[math.ceil(float(highest) * (len(BARS) - 1) / float(top) - 1e-9)])
    return "".join(bars)
