"""A picture and its text form in one value, which a notebook shows by itself."""

from dataclasses import dataclass
from html import escape

from course.figures.svg import document, inner, size

GAP = 10


@dataclass(frozen=True, repr=False)
class Figure:
    """One SVG element, to stand in a page, and the same in plain text, for a terminal or a reader."""

    svg: str
    text: str

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        # Below the svg's least width the figure scrolls in itself: small labels would be no labels.
        # An untrusted notebook strips svg elements and keeps the words in them: then only the text form has a size.
        plain = f'<foreignObject><pre style="font-size:13px;white-space:pre">{escape(self.text)}</pre></foreignObject>'
        return f'<div style="overflow-x:auto;font-size:0px"><svg display="none">{plain}</svg>{self.svg}</div>'

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._repr_html_(), "text/plain": self.text}


def stack(*figures: Figure) -> Figure:
    """Figures one above the other as one figure, such as the predicted timeline over the measured one."""
    if not figures:
        raise ValueError("stack() has nothing to stack: give it at least one figure")
    top, parts = 0, []
    for figure in figures:
        width, height = size(figure.svg)
        parts.append(inner(figure.svg, top))
        top += height + GAP
    width = max(size(figure.svg)[0] for figure in figures)
    text = "\n\n".join(figure.text for figure in figures)
    return Figure(document(width, top - GAP, "".join(parts)), text)
