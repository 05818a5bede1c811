"""What stands around the plot: title, legend, names of the rows, time axis."""

from course.figures.boxes import chunk_bars
from course.figures.layout import RIGHT, TOP, WIDTH
from course.figures.looks import LOOKS
from course.figures.svg import box, nice_step, path, text
from course.figures.words import number, place, units

LETTER = 6.4  # about the width of a letter of the legend


def heading(timeline, title) -> str:
    """The title on the left, what the boxes mean on the right."""
    schedule = timeline.schedule
    kinds = {op.kind for rank in schedule.ranks for op in rank} or {"F", "B"}
    entries = [(LOOKS[kind].name, LOOKS[kind], 0) for kind in LOOKS if kind in kinds]
    entries += [(f"chunk {chunk}", LOOKS["F"], chunk) for chunk in range(1, schedule.chunks)] + [("idle", None, 0)]
    right, parts = WIDTH - RIGHT, []
    for name, look, chunk in reversed(entries):
        right -= LETTER * len(name)
        parts.append(text(right, 19, name))
        right -= 22
        parts.append(_sample(right, 8, look, chunk, schedule.chunks))
        right -= 14
    return (text(8, 19, title, font_size=14, font_weight=600) if title else "") + "".join(reversed(parts))


def _sample(x, y, look, chunk, chunks):
    shape = box(x, y, 17, 14)
    if look is None:
        return path(shape, fill_opacity=0.05, stroke="currentColor", stroke_opacity=0.4)
    lines = look.hatch(x, y, 17, 14, look.step) if look.hatch else ""
    return (path(shape, fill=look.tint(chunk, chunks), stroke="#000", stroke_opacity=0.6, stroke_width=0.8)
            + path(lines, stroke="#000", stroke_opacity=0.26, stroke_width=0.9)
            + path(chunk_bars(x, y, 17, chunk), stroke="#000", stroke_width=1))


def row_names(timeline, layout) -> str:
    """`stage 0` and so on, left of the rows."""
    return "".join(text(8, layout.y(row) + 17, place(timeline, row)) for row in range(layout.rows))


def axis(timeline, layout, span, unit) -> str:
    """Ticks at round times, and one in bold where the timeline ends."""
    whole = unit == "slot"
    end, bottom = float(timeline.makespan), layout.bottom
    step = nice_step(span, (WIDTH - layout.left) / 44, whole)
    ticks = [index * step for index in range(int(span / step + 1e-9) + 1)]
    ticks = [tick for tick in ticks if abs(tick - end) * layout.per_unit > 26]
    marks = "".join(f"M{layout.x(tick):.1f} {bottom}v4" for tick in ticks)
    line = f"M{layout.left:.1f} {bottom}H{layout.x(span):.1f}"
    last = f"M{layout.x(end):.1f} {TOP - 3}V{bottom + 5}"
    names = [text(layout.x(tick), bottom + 17, number(tick)) for tick in ticks]
    names.append(text(layout.x(end), bottom + 17, number(timeline.makespan), font_weight="bold"))
    return (path(line + marks, fill="none", stroke="currentColor", stroke_opacity=0.55)
            + path(last, stroke="currentColor", stroke_width=1.6) * (end > 0)
            + f'<g text-anchor="middle">{"".join(names)}</g>' + text(8, bottom + 17, units(unit)))


