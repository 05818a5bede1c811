"""A figure that appears slot by slot: an SVG file that moves by itself, and stands still for who wants no motion."""

from collections.abc import Sequence

from course.figures.figure import GAP, Figure, stack
from course.figures.layout import RIGHT, ROW, WIDTH
from course.figures.save import standalone
from course.figures.svg import box, path, size

UNDER = 28  # what a figure of rows has below them: the time axis
SHOWN = 0.75  # the share of the time in which it appears; then it stands


def appearing(figures: Sequence[Figure], rows: int, left: float, slots: int, seconds: float = 12) -> str:
    """Figures of `rows` rows above each other as an SVG document that is uncovered from `left`, time 0, in `slots` steps.

    It begins anew every `seconds`. A page that shows it as a picture needs no script.
    """
    covers, top = [], 0
    for figure in figures:
        height = size(figure.svg)[1]
        bottom = top + height - UNDER
        upper = bottom - rows * ROW - 4
        covers.append(path(box(left, upper, WIDTH - left, bottom - upper - 1), fill="white")
                      + path(f"M{left:.1f} {upper:.1f}V{bottom:.1f}", stroke="#D55E00", stroke_width="2"))
        top += height + GAP
    document = standalone(stack(*figures))
    style = (f"<style>.cover{{animation:uncover {seconds:g}s steps({slots}) infinite}}"
             f"@keyframes uncover{{{SHOWN:.0%},to{{transform:translateX({WIDTH - RIGHT - left:.1f}px)}}}}"
             "@media (prefers-reduced-motion:reduce){.cover{display:none}}</style>")
    return document.replace("</svg>\n", f'{style}<g class="cover">{"".join(covers)}</g></svg>\n')
