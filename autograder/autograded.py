"""The autograded notebook that formgrader and the feedback show: our release, the learner's text in it, outputs as plain text."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.cells import is_check
from autograder.intake import Cell
from autograder.questions import Mark
from autograder.release import Release, is_answer
from course.view import BAD, GOOD

UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\ue000-\U0010ffff]")
PARTED = "\N{ZERO WIDTH SPACE}"
LONGEST = 20_000  # characters of an output
WIDTH = 100  # characters of a line: what is longer runs out of the pages of feedback and formgrader, which break none


def autograded_notebook(release: Release, cells: Sequence[Cell], marks: Mapping[str, Mark], about: Mapping,
                        head: Sequence[str] = ()) -> NotebookNode:
    """The notebook with each check's points and messages; `about` goes into its metadata, `head` above its first cell.

    What a learner wrote is text here: no tag in it is one, and nothing of the submission's metadata or outputs is taken over.
    """
    notebook = nbformat.from_dict({**release.notebook, "cells": [], "metadata": {**release.notebook.metadata, "grading": about}})
    if head:
        notebook.cells.append(_markdown("\n\n".join(map(harmless, head)), "head"))
    for place, cell in enumerate(cells):
        if cell.grade_id is None:
            make = _code if cell.kind == "code" else _markdown
            notebook.cells.append(make(harmless(cell.source) if make is _markdown else cell.source, f"own {place}"))
            continue
        made = nbformat.from_dict(release.cells[cell.grade_id])
        if is_answer(made):
            made.source = harmless(cell.source) if made.cell_type == "markdown" and not cell.ours else cell.source
        if is_check(cell):
            made.outputs = list(_outputs(marks.get(cell.grade_id)))
        notebook.cells.append(made)
    return notebook


def _markdown(source, name):
    return _cell("markdown", source, name)


def _code(source, name):
    return _cell("code", source, name, outputs=[], execution_count=None)


def _cell(kind, source, name, **more):
    """A cell with an id that is the same each time; nbformat's own makers would look at each through its schema."""
    return nbformat.from_dict({"cell_type": kind, "id": hashlib.sha256(name.encode()).hexdigest()[:12], "metadata": {},
                               "source": source, **more})


def _outputs(mark):
    """What stands under a check: its messages as a stream, then the points as nbgrader reads them."""
    if mark is None:
        return
    said = [f"{GOOD if message.good else BAD} {message.text}" for message in mark.messages] + list(mark.notes)
    lines = [part for text in said for line in text.split("\n")
             for part in wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)]
    if mark.printed.strip():
        lines += ["", "Printed by the cells above:", last_words(mark.printed.rstrip())]
    if lines:
        yield nbformat.from_dict({"output_type": "stream", "name": "stdout", "text": printable("\n".join(lines)) + "\n"})
    if mark.points is not None:
        yield nbformat.from_dict({"output_type": "execute_result", "data": {"text/plain": repr(mark.points)}, "metadata": {},
                                  "execution_count": None})


def last_words(text: str) -> str:
    """What a terminal shows of printed text in the end: of a line that was written again and again, the last version.

    >>> last_words("1 of 2\\r2 of 2\\ndone\\r\\n")
    '2 of 2\\ndone\\n'
    """
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def printable(text: str, longest: int = LONGEST) -> str:
    """Text without what could steer a terminal or turn the writing's direction, of a bounded length."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:longest])


def harmless(text: str) -> str:
    """Markdown in which no tag, no entity and no link of a script can stand: nbconvert would pass them on.

    An invisible character parts what would be one; nothing else is changed.

    >>> harmless("a < b").isascii(), harmless("<b>").replace("\\u200b", "") == "<b>"
    (True, True)
    """
    text = re.sub(r"<(?=[a-zA-Z/!?])", f"<{PARTED}", printable(text))
    text = re.sub(r"&(?=#|\w+;)", f"&{PARTED}", text)
    return re.sub(r"(?i)(javascript|vbscript|data)([\s\\]*:)", rf"\1{PARTED}\2", text)
