"""What matplotlib draws as plain SVG elements: no ids, no style sheet, and text in the colour of the page."""

import contextlib
import io
import logging
import re
from xml.etree import ElementTree

INK = "#010203"  # stands for the page's own colour until the SVG is written
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
LEFT_OUT = {"font-family", "clip-path", "id", "stroke-dashoffset", "style"}
FONT = 12


@contextlib.contextmanager
def drawn(width: float, height: float):
    """A matplotlib figure of this size in inches and its axes, all in INK and on nothing; no window, no pyplot."""
    # The first import on a machine may say on stderr that it builds its cache of fonts.
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        import matplotlib
        from matplotlib.figure import Figure

        ink = {f"{what}color": INK for what in ("text.", "axes.edge", "axes.label", "xtick.", "ytick.")}
        sizes = dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"), FONT)
        with matplotlib.rc_context(ink | sizes | {"svg.fonttype": "none", "svg.hashsalt": "course", "axes.facecolor": "none"}):
            picture = Figure(figsize=(width, height), facecolor="none", layout="constrained")
            yield picture, picture.add_subplot()
    finally:
        log.setLevel(level)


def plain(picture) -> str:
    """The elements of a matplotlib figure, to stand in an svg element of its size in points."""
    file = io.StringIO()
    picture.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    shapes = {element.get("id"): element for element in root.iter(f"{SVG}path") if element.get("id")}
    inside = {shape for defs in root.iter(f"{SVG}defs") for shape in defs.iter()}
    parts = [_element(element, shapes) for element in root.iter() if element not in inside]
    return "".join(parts).replace(INK, "currentColor")


def _element(element, shapes):
    kind = element.tag.removeprefix(SVG)
    given = _attributes(element)
    if kind == "use":
        shape = shapes[element.get(LINK).removeprefix("#")]
        place = f"translate({_short(given.pop('x'))} {_short(given.pop('y'))})"
        given = _attributes(shape) | {name: value for name, value in given.items() if name != LINK} | {"transform": place}
        kind = "path"
    if kind not in ("path", "text") or given.get("fill") == given.get("stroke", "none") == "none":
        return ""
    if kind == "path":
        given["d"] = _short(given["d"])
    written = "".join(f' {name}="{value}"' for name, value in given.items())
    return f"<text{written}>{_escaped(element.text)}</text>" if kind == "text" else f"<path{written}/>"


def _attributes(element):
    """The attributes and the parts of the style, as attributes."""
    style = dict(part.strip().split(": ", 1) for part in element.get("style", "").split(";") if part.strip())
    both = dict(element.items()) | style
    return {name: value.replace("px", "") if name == "font-size" else value for name, value in both.items()
            if name not in LEFT_OUT}


def _short(numbers):
    """The same with one digit after the point and no line breaks."""
    return " ".join(re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.1f}", numbers).split())


def _escaped(words):
    return (words or "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
