"""Curves over a few values, drawn by matplotlib: each with its own marker, dashes and colour; the text form is a table."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.figures.figure import Figure
from course.figures.layout import WIDTH
from course.figures.plain_svg import INK, drawn, plain
from course.figures.svg import document, text
from course.words import number

TOP, HEIGHT, POINT = 26, 300, 72  # the height of the title, of the plot; matplotlib's points in its inch
WIDE = 8  # the largest x over the least from which on the axis is one of doublings


class Pen(NamedTuple):
    """How one curve looks. Later markers are larger and open, so that two curves in one place are both seen."""

    colour: str
    marker: str
    size: float
    open: bool
    dashes: object


PENS = (Pen("#2F83BF", "o", 6, False, "-"), Pen("#D55E00", "s", 11, True, (0, (5, 3))),
        Pen("#009E73", "^", 9, True, (0, (1.5, 2.5))), Pen("#CC79A7", "D", 7, False, (0, (6, 2, 1.5, 2))),
        Pen("#2F83BF", "v", 9, True, (0, (3, 1.5))), Pen("#D55E00", "P", 8, False, "-"),
        Pen("#009E73", "X", 8, False, (0, (8, 2))), Pen("#CC79A7", "p", 11, True, (0, (1, 1.5))))
IN_A_LINE = 3  # names in a line of the legend, where there are more than four


def curves_figure(x: Sequence[float], curves: Mapping[str, Sequence[float | None]], title: str = "", x_name: str = "",
                  y_name: str = "", joined: bool = True) -> Figure:
    """One curve a name, a value for each of `x`; None is a gap. The y axis begins at 0. Not `joined`: points without lines.

    ValueError where a curve has not one value for each x. The text form is a table, a line a curve.
    """
    x = list(x)
    for name, values in curves.items():
        if len(values) != len(x):
            raise ValueError(f"the curve {name!r} has {len(values)} values for {len(x)} places: give one for each, or None")
    said = _table(x, curves, title, x_name, y_name)
    body = [text(8, 19, title, font_size=14, font_weight=600)] if title else []
    body.append(f'<g transform="translate(0 {TOP})">{_plot(x, curves, x_name, y_name, joined)}</g>')
    return Figure(document(WIDTH, TOP + HEIGHT, "".join(body), title or "Curves", said), said)


def _plot(x, curves, x_name, y_name, joined):
    with drawn(WIDTH / POINT, HEIGHT / POINT) as (picture, axes):
        for index, (name, values) in enumerate(curves.items()):
            pen = PENS[index % len(PENS)]
            heights = [float("nan") if value is None else float(value) for value in values]
            axes.plot(x, heights, label=name, color=pen.colour, marker=pen.marker, markersize=pen.size, linewidth=1.8,
                      linestyle=pen.dashes if joined else "none", fillstyle="none" if pen.open else "full",
                      markeredgewidth=1.6, clip_on=False)
        if joined and x and 0 < min(x) * WIDE <= max(x):
            axes.set_xscale("log", base=2)
        axes.set_xticks(x, [number(value) for value in x])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set(xlabel=x_name, ylabel=y_name)
        axes.spines[["top", "right"]].set_visible(False)
        for value in axes.get_yticks():
            axes.axhline(value, color=INK, alpha=0.12, linewidth=0.8, zorder=0, clip_on=False)
        if curves:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 0.98), ncols=len(curves) if len(curves) < 5 else IN_A_LINE,
                        frameon=False, handlelength=3.2)
        axes.set_ylim(top=max(axes.get_yticks()))
        return plain(picture)


def _table(x, curves, title, x_name, y_name):
    rows = [[x_name, *map(number, x)]]
    rows += [[name, *("-" if value is None else number(value) for value in values)] for name, values in curves.items()]
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{title}{' ' * bool(title and y_name)}{f'({y_name})' if y_name else ''}"] * bool(title or y_name)
    return "\n".join(lines + [" ".join([row[0].ljust(first), *(cell.rjust(width + 1) for cell, width in zip(row[1:], widths,
                                                                                                        strict=True))])
                              for row in rows])
