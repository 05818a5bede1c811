"""A figure as a file of its own."""

from pathlib import Path

from course.figures.figure import Figure
from course.figures.svg import size

INK = "#1f2328"


def standalone(figure: Figure, background: str | None = "white") -> str:
    """The SVG as a document: fixed size, dark text, and a background unless that is None."""
    width, height = size(figure.svg)
    paper = f'<rect width="100%" height="100%" fill="{background}"/>' if background else ""
    opening, _, rest = figure.svg.partition(">")
    opening = opening.replace(' width="100%"', f' width="{width:g}" height="{height:g}"')
    opening = opening.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" color="{INK}" ', 1)
    return f"{opening}>{paper}{rest}\n"


def save(figure: Figure, path, background: str | None = "white") -> None:
    """Write the figure to an .svg file, for a README or a slide."""
    Path(path).write_text(standalone(figure, background), encoding="utf-8")
