"""What Explorers show beside their pictures, as HTML: tables and buttons; and all of it where there is no kernel."""

import json
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from course.figures.figure import Figure

NEEDS_KERNEL = "The sliders need a kernel: open this notebook in JupyterLab and run this cell."
# JupyterLab says "Error displaying widget" where the kernel that knew it is gone; the picture above says what to do
_QUIET = ("<style>.jp-OutputArea-child:has(.lex-still) + .jp-OutputArea-child > .jp-OutputArea-output:not(:has(*))"
          "{display:none}</style>")
_CELL = "padding:.1em 1em .1em 0;text-align:left;vertical-align:top"


@dataclass(frozen=True, repr=False)
class Still:
    """The picture and its numbers without sliders, as HTML and as text."""

    html: str
    text: str


class Take(NamedTuple):
    """Words that are a button where there is a kernel: pressed, it changes the setting so."""

    words: str
    changes: dict

    def __str__(self):
        return self.words

    @property
    def data(self) -> str:
        """The changes as the page sends them back."""
        return json.dumps(self.changes)


def html_table(heads, rows, current=None, live=True) -> str:
    """A table whose first column names the rows; the row at index `current` is in bold and said to be the current one."""
    head = "".join(f"<th scope='col' style='{_CELL}'>{escape(name)}</th>" for name in heads)
    body = ""
    for place, (name, *values) in enumerate(rows):
        mark = " aria-current='true' style='font-weight:bold'" if place == current else ""
        cells = "".join(f"<td style='{_CELL}'>{_written(value, live)}</td>" for value in values)
        body += f"<tr{mark}><th scope='row' style='{_CELL}'>{_written(name, live)}</th>{cells}</tr>"
    return f"<table style='border-collapse:collapse'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" * bool(rows)


def _written(value, live):
    if live and isinstance(value, Take):
        return (f'<button type="button" data-lm-suppress-shortcuts="true" data-take="{escape(value.data)}">'
                f"{escape(value.words)}</button>")
    return escape(str(value))


def still_form(figure: Figure | None, numbers: str, lines: list[str], remarks: tuple[str, ...]) -> Still:
    """What stands where there is no kernel: the picture, its numbers as HTML and as lines, and a line that says so."""
    picture = figure._repr_html_() if figure else ""
    words = "".join(f"<p>{escape(line)}</p>" for line in (*remarks, NEEDS_KERNEL))
    text = "\n".join([*([figure.text] if figure else []), *lines, *remarks, NEEDS_KERNEL])
    return Still(f"<div class='lex-still'>{_QUIET}{picture}{numbers}{words}</div>", text)
