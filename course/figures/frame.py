"""What stands around the plot: title, legend, names of the rows, time axis."""

from course.figures.boxes import chunk_bars
from course.figures.layout import RIGHT, WIDTH
from course.figures.looks import CHUNK, HATCH, IDLE, LOOKS, OUTLINE
from course.figures.svg import box, nice_step, path, text
from course.figures.words import place
from course.words import number, units

LETTER, SAMPLE, GAP = 6.8, 23, 12  # widths in the legend: about a letter, a sample, between entries
IN_SIGHT = 540  # what a page of 520 pixels shows before the figure is scrolled: it holds the first two entries
COLUMN = 250  # where the legend begins, so that those of figures one above the other begin at one place


def heading(timeline, title) -> tuple[str, float]:
    """The title on the left and what the boxes mean after it, below it where it is long; and the height of both."""
    entries = _legend(timeline.schedule)
    widths = [SAMPLE + LETTER * len(name) + GAP for name, _, _ in entries]
    left = max(COLUMN, 8 + 8 * len(title) + 2 * GAP)
    fits = left + sum(widths[:2]) <= IN_SIGHT + GAP and left + sum(widths) <= WIDTH - RIGHT + GAP
    left, line = (left, 19) if fits else (8, 41)
    parts = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    for name, look, chunk in entries:
        parts += [_sample(left, line - 11, look, chunk, timeline.schedule.chunks), text(left + SAMPLE, line, name)]
        left += SAMPLE + LETTER * len(name) + GAP
    return "".join(parts), line + 15


def _legend(schedule):
    """Name, look and chunk of what is in the picture."""
    kinds = {op.kind for rank in schedule.ranks for op in rank} or {"F", "B"}
    entries = [(LOOKS[kind].name, LOOKS[kind], 0) for kind in LOOKS if kind in kinds]
    entries += [(f"chunk {chunk}", LOOKS["F"], chunk) for chunk in range(1, schedule.chunks)]
    return [*entries, ("idle", None, 0)]


def _sample(x, y, look, chunk, chunks):
    shape = box(x, y, 17, 14)
    if look is None:
        return path(shape, **IDLE)
    lines = look.hatch(x, y, 17, 14, look.step) if look.hatch else ""
    return (path(shape, fill=look.tint(chunk, chunks), **OUTLINE) + path(lines, **HATCH)
            + path(chunk_bars(x, y, 17, chunk), **CHUNK))


def row_names(timeline, layout) -> str:
    """`stage 0` and so on, left of the rows."""
    return "".join(text(8, layout.y(row) + 17, place(timeline, row)) for row in range(layout.rows))


def axis(until, layout, span, unit) -> str:
    """Ticks at round times, and one in bold where the picture ends."""
    whole = unit == "slot"
    end, bottom = float(until), layout.bottom
    step = nice_step(span, (WIDTH - layout.left) / 44, whole)
    ticks = [index * step for index in range(int(span / step + 1e-9) + 1)]
    clear = max(26, 14 + 4 * len(number(until)))
    ticks = [tick for tick in ticks if abs(tick - end) * layout.per_unit > clear]
    marks = "".join(f"M{layout.x(tick):.1f} {bottom}v4" for tick in ticks)
    line = f"M{layout.left:.1f} {bottom}H{layout.x(span):.1f}"
    last = f"M{layout.x(end):.1f} {layout.top - 3}V{bottom + 5}"
    names = [text(layout.x(tick), bottom + 17, number(tick)) for tick in ticks]
    names.append(text(layout.x(end), bottom + 17, number(until), font_weight="bold"))
    return (path(line + marks, fill="none", stroke="currentColor", stroke_opacity=0.55)
            + path(last, stroke="currentColor", stroke_width=1.6) * (end > 0)
            + f'<g text-anchor="middle">{"".join(names)}</g>' + text(8, bottom + 17, units(unit)))


