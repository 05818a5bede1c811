"""What the time of a step is spent on: a bar a layout, stacked from its parts, on one axis of seconds."""

from collections.abc import Mapping, Sequence

from course.figures.figure import Figure
from course.figures.frame import axis
from course.figures.layout import BAR, RIGHT, WIDTH, Layout, left_of
from course.figures.looks import HATCH, IDLE, OUTLINE, Look
from course.figures.svg import box, document, falling, path, rising, text

TOP, LETTER, SAMPLE, GAP, COLUMNS = 50, 6.8, 23, 12, 50
TOTAL = 54  # room for the sums behind the bars
LIMIT = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.4, "stroke_dasharray": "5 3"}


def _crossed(*place):
    return rising(*place) + falling(*place)


PART_LOOKS = {
    "compute": Look("compute", "#56B4E9"),
    "bubble": Look("bubble", "none"),
    "tp": Look("TP", "#E69F00", falling, 7),
    "pp": Look("PP", "#009E73", rising, 9),
    "dp": Look("DP", "#CC79A7", _crossed, 9),
}
LETTERS = {"compute": "C", "bubble": ".", "tp": "T", "pp": "P", "dp": "D"}  # of the text form


def parts_figure(rows: Sequence[tuple[str, Mapping[str, float]]], title: str = "", limit: float | None = None,
                 limit_name: str = "") -> Figure:
    """One bar for each (name, part -> seconds), in the order of `PART_LOOKS`, with its sum; a dashed line at `limit` seconds.

    The text form has a letter for each part, C compute, T, P, D, and `.` for the bubble, and the numbers.
    """
    totals = [sum(parts.values()) for _, parts in rows]
    span = max([*totals, limit or 0]) or 1.0
    left = left_of(max((name for name, _ in rows), key=len, default=""))
    layout = Layout(TOP, left, (WIDTH - RIGHT - TOTAL - left) / span, len(rows))
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body.append(_legend(limit_name if limit else ""))
    for row, ((name, parts), total) in enumerate(zip(rows, totals, strict=True)):
        body += [text(8, layout.y(row) + 17, name), *_bar(parts, layout, row),
                 text(WIDTH - 6, layout.y(row) + 17, f"{total:.2f} s", font_weight="bold", text_anchor="end")]
    if limit:
        body.append(path(f"M{layout.x(limit):.1f} {TOP - 5}V{layout.bottom}", **LIMIT))
    body.append(axis(span, layout, span, "s"))
    said = _text_form(rows, totals, span, title, limit, limit_name)
    return Figure(document(WIDTH, layout.bottom + 28, "".join(body), title or "What a step is spent on", said), said)


def _bar(parts, layout, row):
    begin, drawn = 0.0, []
    for name, look in PART_LOOKS.items():
        seconds = parts.get(name, 0)
        if seconds > 0:
            drawn.append(_box(layout.x(begin), layout.y(row), seconds * layout.per_unit, BAR, look))
            begin += seconds
    return drawn


def _box(x, y, width, height, look):
    """One part: its colour and hatch; the bubble looks like idle cells."""
    shape = box(x, y, width, height)
    if look.colour == "none":
        return path(shape, **IDLE)
    lines = look.hatch(x, y, width, height, look.step) if look.hatch else ""
    return path(shape, fill=look.colour, **OUTLINE) + path(lines, **HATCH)


def _legend(limit_name):
    left, drawn = 8.0, []
    for look in PART_LOOKS.values():
        drawn += [_box(left, 28, 17, 14, look), text(left + SAMPLE, 39, look.name)]
        left += SAMPLE + LETTER * len(look.name) + GAP
    if limit_name:
        drawn += [path(f"M{left + 9:.1f} 26V44", **LIMIT), text(left + SAMPLE, 39, limit_name)]
    return "".join(drawn)


def _text_form(rows, totals, span, title, limit, limit_name):
    wide = max((len(name) for name, _ in rows), default=0)
    lines = [title] if title else []
    for (name, parts), total in zip(rows, totals, strict=True):
        bar, done = "", 0.0
        for part in PART_LOOKS:
            done += parts.get(part, 0)
            bar = bar.ljust(round(COLUMNS * done / span), LETTERS[part])
        said = ", ".join(f"{PART_LOOKS[part].name} {parts[part]:.3g}" for part in PART_LOOKS if parts.get(part, 0) > 0)
        lines.append(f"{name.ljust(wide)} |{bar.ljust(COLUMNS)}| {total:.2f} s: {said}")
    if limit:
        lines.append(f"{limit_name or 'limit'}: {limit:.2f} s")
    return "\n".join(lines)
