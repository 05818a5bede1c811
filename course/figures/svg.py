"""The little SVG that the figures need: attributes, no ids and no style sheet, so that no figure disturbs a page."""

import math
import re
from html import escape

FONT = 'font-family="system-ui, sans-serif" font-size="12"'
_OPENING = re.compile(r'<svg viewBox="0 0 (\S+) (\S+)"[^>]*?( role="img"[^>]*)?>')


def document(width, height, body, label="", description="") -> str:
    """One svg element that takes the width it is given; label and description are for screen readers."""
    role = f' role="img" aria-label="{escape(label)}"' if label else ""
    described = f"<desc>{escape(description)}</desc>" if description else ""
    return (f'<svg viewBox="0 0 {width:g} {height:g}" width="100%" style="max-width:{width * 1.15:.0f}px;'
            f'min-width:{width * 0.7:.0f}px" fill="currentColor" {FONT}{role}>{described}{body}</svg>')


def size(svg) -> tuple[float, float]:
    """Width and height of what `document` made."""
    match = _OPENING.match(svg)
    return float(match[1]), float(match[2])


def inner(svg, top) -> str:
    """What `document` made, as a part of a larger picture, `top` units down."""
    opening = rf'<svg viewBox="0 0 \1 \2" y="{top:g}" width="\1" height="\2"\3>'
    return _OPENING.sub(opening, svg, count=1)


def text(x, y, words, **attributes) -> str:
    """A line of text; attribute names are written with _ for -."""
    return f'<text x="{x:.1f}" y="{y:.1f}"{_written(attributes)}>{escape(words)}</text>'


def box(x, y, width, height) -> str:
    """The path of a rectangle."""
    return f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"


def path(d, **attributes) -> str:
    """A path element, nothing where there is nothing to draw."""
    return f'<path d="{d}"{_written(attributes)}/>' if d else ""


def _written(attributes):
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())


def rising(x, y, width, height, step) -> str:
    """Hatch lines that rise to the right, clipped to a rectangle. Lines, because a pattern needs an id."""
    lines = []
    for index in range(math.ceil((x + y) / step), math.ceil((x + width + y + height) / step)):
        total = index * step
        left = max(x, total - y - height)
        run = min(x + width, total - y) - left
        lines.append(f"M{left:.1f} {total - left:.1f}l{run:.1f} {-run:.1f}")
    return "".join(lines)


def falling(x, y, width, height, step) -> str:
    """Hatch lines that fall to the right, clipped to a rectangle."""
    lines = []
    for index in range(math.ceil((x - y - height) / step), math.ceil((x + width - y) / step)):
        difference = index * step
        left = max(x, difference + y)
        run = min(x + width, difference + y + height) - left
        lines.append(f"M{left:.1f} {left - difference:.1f}l{run:.1f} {run:.1f}")
    return "".join(lines)


def nice_step(span, most, whole=False) -> float:
    """The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most `most` parts."""
    least = span / max(1, most)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
    return max(1, round(step)) if whole else step
