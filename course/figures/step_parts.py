"""What the time of a step is spent on, or a memory filled with: a bar a row, stacked from its parts, on one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course.figures.figure import Figure
from course.figures.frame import axis
from course.figures.layout import BAR, RIGHT, WIDTH, Layout, left_of
from course.figures.looks import HATCH, IDLE, OUTLINE, Look
from course.figures.svg import box, document, falling, path, rising, text

TOP, LETTER, SAMPLE, GAP, COLUMNS = 50, 6.8, 23, 12, 50
LIMIT = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.4, "stroke_dasharray": "5 3"}


def _crossed(*place):
    return rising(*place) + falling(*place)


@dataclass(frozen=True)
class Parts:
    """What bars are stacked from: the looks by part, in order, the letters of the text form, the unit of the axis."""

    looks: Mapping[str, Look]
    letters: Mapping[str, str]
    unit: str


AXIS_LOOKS = {"tp": Look("TP", "#E69F00", falling, 7), "pp": Look("PP", "#009E73", rising, 9),
              "dp": Look("DP", "#CC79A7", _crossed, 9)}
AXIS_LETTERS = {"tp": "T", "pp": "P", "dp": "D"}
STEP = Parts({"compute": Look("compute", "#56B4E9"), "bubble": Look("bubble", "none"), **AXIS_LOOKS},
             {"compute": "C", "bubble": ".", **AXIS_LETTERS}, "s")
TRAFFIC = Parts(AXIS_LOOKS, AXIS_LETTERS, "GB")
MEMORY = Parts({"state": Look("parameters and optimizer", "#F0E442", rising, 12), "activations": Look("activations", "#CC79A7")},
               {"state": "P", "activations": "A"}, "GB")


def parts_figure(rows: Sequence[tuple[str, Mapping[str, float]]], title: str = "", limit: float | None = None,
                 limit_name: str = "", parts: Parts = STEP) -> Figure:
    """One bar for each (name, part -> amount), in the order of the parts, with its sum; a dashed line at `limit`.

    The text form has a letter for each part, such as C compute, T, P, D, and `.` for the bubble, and the numbers.
    """
    totals = [sum(row.values()) for _, row in rows]
    span = max([*totals, limit or 0]) or 1.0
    left = left_of(max((name for name, _ in rows), key=len, default=""))
    sums = [f"{total:.2f} {parts.unit}" for total in totals]
    room = 12 + 7 * max(map(len, sums), default=0)  # for the sums behind the bars
    layout = Layout(TOP, left, (WIDTH - RIGHT - room - left) / span, len(rows))
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body.append(_legend(parts.looks, limit_name if limit else ""))
    for row, ((name, held), total) in enumerate(zip(rows, sums, strict=True)):
        body += [text(8, layout.y(row) + 17, name), *_bar(held, parts.looks, layout, row),
                 text(WIDTH - 6, layout.y(row) + 17, total, font_weight="bold", text_anchor="end")]
    if limit:
        body.append(path(f"M{layout.x(limit):.1f} {TOP - 5}V{layout.bottom}", **LIMIT))
    body.append(axis(span, layout, span, parts.unit))
    said = _text_form(rows, sums, span, title, limit, limit_name, parts)
    return Figure(document(WIDTH, layout.bottom + 28, "".join(body), title or "What a step is spent on", said), said)


def _bar(held, looks, layout, row):
    begin, drawn = 0.0, []
    for name, look in looks.items():
        amount = held.get(name, 0)
        if amount > 0:
            drawn.append(_box(layout.x(begin), layout.y(row), amount * layout.per_unit, BAR, look))
            begin += amount
    return drawn


def _box(x, y, width, height, look):
    """One part: its colour and hatch; the bubble looks like idle cells."""
    shape = box(x, y, width, height)
    if look.colour == "none":
        return path(shape, **IDLE)
    lines = look.hatch(x, y, width, height, look.step) if look.hatch else ""
    return path(shape, fill=look.colour, **OUTLINE) + path(lines, **HATCH)


def _legend(looks, limit_name):
    left, drawn = 8.0, []
    for look in looks.values():
        drawn += [_box(left, 28, 17, 14, look), text(left + SAMPLE, 39, look.name)]
        left += SAMPLE + LETTER * len(look.name) + GAP
    if limit_name:
        drawn += [path(f"M{left + 9:.1f} 26V44", **LIMIT), text(left + SAMPLE, 39, limit_name)]
    return "".join(drawn)


def _text_form(rows, sums, span, title, limit, limit_name, parts):
    wide = max((len(name) for name, _ in rows), default=0)
    lines = [title] if title else []
    for (name, held), total in zip(rows, sums, strict=True):
        bar, done = "", 0.0
        for part, letter in parts.letters.items():
            done += held.get(part, 0)
            bar = bar.ljust(round(COLUMNS * done / span), letter)
        said = ", ".join(f"{look.name} {held[part]:.3g}" for part, look in parts.looks.items() if held.get(part, 0) > 0)
        lines.append(f"{name.ljust(wide)} |{bar.ljust(COLUMNS)}| {total}{': ' * bool(said)}{said}")
    if limit:
        lines.append(f"{limit_name or 'limit'}: {limit:.2f} {parts.unit}")
    return "\n".join(lines)
