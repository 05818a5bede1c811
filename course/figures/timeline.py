"""A timeline as a picture: a row a rank, a box an operation, time to the right."""

from collections.abc import Sequence

from course.figures.boxes import Box, faults, idle_cells, labels, placed, shapes, shows_hatches, tooltips
from course.figures.figure import Figure
from course.figures.frame import axis, heading, row_names
from course.figures.idle import hovers, idle_lines
from course.figures.layout import RIGHT, WIDTH, Layout, left_of, slot_of
from course.figures.svg import document, text
from course.figures.words import place, read_marks, summary_line, text_form
from course.timeline import Timeline
from course.waiting import Wait

LINE = 17
MOST_MISSING = 6
TOO_NARROW = "The boxes are too narrow here for outlines, hatches and labels."


def timeline_figure(timeline: Timeline, title: str = "", marks=(), unit: str = "slot", scale=None, slot=None,
                    summary: bool = True, grid: bool = True, waits: Sequence[Wait] = ()) -> Figure:
    """Draw a timeline: drawn by hand, simulated or measured.

    `marks` are Violations or pairs (rank, index in that rank's order): they get an outline and a sign, and what
    is missing is listed. `unit` names the unit of time. Figures with one `scale`, the time at the right edge, share
    one axis. `slot` is the time of one cell of the text form. `summary=False` leaves makespan, bubble and peaks for
    the learner to find. `grid=False` leaves the grid out of the text form, for a picture that changes as one looks at it.
    `waits`, as `course.waiting.waits` finds them, say on hover and in the text form why a rank is idle.
    """
    marks = read_marks(timeline, marks, unit)
    span = max(float(timeline.makespan), float(scale or 0)) or 1.0
    layout, boxes, body = plot(timeline, title, marks, unit, span, waits)
    notes = _notes(timeline, marks, unit, summary, shows_hatches(boxes))
    said = text_form(timeline, title, marks, unit, slot or slot_of(timeline), summary, grid, idle_lines(timeline, waits, unit))
    return finished(layout, body, notes, f"{title or 'Timeline'}, {layout.rows} rows", said)


def finished(layout: Layout, body: list[str], notes: Sequence[tuple[str, str]], label, said) -> Figure:
    """The figure: the elements of its plot, and under the axis the notes, lines each with its weight."""
    lines = [text(8, layout.bottom + 40 + LINE * line, words, font_weight=weight) for line, (words, weight) in enumerate(notes)]
    return Figure(document(WIDTH, layout.bottom + 28 + LINE * len(notes), "".join(body + lines), label, said), said)


def plot(timeline: Timeline, title, marks, unit, span, waits=(), right=RIGHT, until=None) -> tuple[Layout, list[Box], list[str]]:
    """The plot with title and axis: where things stand, the boxes, and the elements; `right` is left free behind time `span`."""
    rows = len(timeline.schedule.ranks)
    left = left_of(place(timeline, max(0, rows - 1)))
    head, top = heading(timeline, title)
    layout = Layout(top, left, (WIDTH - right - left) / span, rows)
    boxes = placed(timeline, layout)
    return layout, boxes, [
        head, row_names(timeline, layout), idle_cells(timeline, layout, slot_of(timeline)),
        shapes(boxes, timeline.schedule.chunks), labels(timeline, boxes), hovers(waits, layout, unit),
        tooltips(timeline, boxes, unit), axis(timeline.makespan, layout, until or span, unit), faults(timeline, layout, marks)]


def _notes(timeline, marks, unit, summary, hatched):
    """The lines under the axis, each with its weight: what is missing, what is too small to see, then the summary."""
    missing = [f"! {mark.message}" for mark in marks if mark.position is None]
    if len(missing) > MOST_MISSING:
        missing[MOST_MISSING - 1:] = [f"! and {len(missing) - MOST_MISSING + 1} more that are missing"]
    small = [] if hatched else [TOO_NARROW]
    return [(line, "bold") for line in missing] + [(line, "normal") for line in small + [summary_line(timeline, unit)] * summary]
