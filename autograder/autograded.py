"""The autograded notebook that formgrader and the feedback show: our release, the learner's text in it, outputs as plain text."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from textwrap import wrap
from urllib.parse import unquote

import nbformat
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode

from autograder.cells import is_check
from autograder.intake import Cell
from autograder.questions import Mark
from autograder.release import Release, grade_id_of, is_answer
from course.exercises import EXERCISES
from course.view import BAD, GOOD, points

UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\ue000-\U0010ffff]")
PARTED = "\N{ZERO WIDTH SPACE}"
# a browser reads over the line's end and the tab in a scheme, MathJax takes what it is given
SCHEME = re.compile("|".join(r"[\s\\]*".join(f"{name}:") for name in ("javascript", "vbscript", "data")), re.IGNORECASE)
TEX = re.compile(r"\\(?=(?:href|url|style|class|cssId|require|includegraphics|unicode)(?![a-zA-Z]))")  # MathJax: HTML from TeX
FENCE = re.compile(r"(?:`{3,}+|~{3,}+)(?=[^\S\n]*\S)")
# as `harmless` leaves what JupyterLab writes for a picture that is pasted
PASTED = re.compile(rf'!{PARTED}\[(?P<alt>[^\[\]\n]*)\]{PARTED}\(attachment:(?P<name>[^()\n"<>]*)(?:"[^"\n]*")?\)')
# Characters of an output or of an answer's cell; of an own cell, of all own cells of a notebook beside those of the release, and
# of a line of code: more than a person reads. For some texts nbconvert's time grows with the square of their length.
LONGEST, LONGEST_OWN, OWN_TOGETHER, LONGEST_LINE = 20_000, 10_000, 40_000, 2_000
WHOLE = "the whole is in the notebook as it was handed in"
MARGIN = 300  # calls: so much deeper than here may nbconvert be when formgrader calls it
WIDTH = 100  # characters of a line: what is longer runs out of the pages of feedback and formgrader, which break none


def autograded_notebook(release: Release, cells: Sequence[Cell], marks: Mapping[str, Mark], about: Mapping,
                        head: Sequence[str] = ()) -> NotebookNode:
    """The notebook with each check's points and messages; `about` goes into its metadata, `head` above its first cell.

    What a learner wrote is text here: no tag in it is one, nothing of the submission's metadata or outputs is taken over, and
    what is longer than a person reads is cut, with a remark. Pictures that a text shows are kept.
    """
    notebook = nbformat.from_dict({**release.notebook, "cells": [], "metadata": {**release.notebook.metadata, "grading": about}})
    # nbconvert's highlighter for IPython takes minutes for some cells of this length, and any language that a cell names
    notebook.metadata.language_info = {**notebook.metadata.get("language_info", {}), "pygments_lexer": "python3"}
    if head:
        notebook.cells.append(_markdown("\n\n".join(map(harmless, head)), "head"))
    room = OWN_TOGETHER + sum(len(cell.source) for cell in release.notebook.cells if not grade_id_of(cell))
    for place, cell in enumerate(cells):
        if cell.grade_id is None:
            if room >= 0 and (room := room - min(len(cell.source), LONGEST_OWN)) < 0:
                notebook.cells.append(_markdown(f"*(More cells of the learner's own are left out: {WHOLE}.)*", "left out"))
            if room >= 0:
                notebook.cells.append(_code(_code_of(cell.source, LONGEST_OWN), f"own {place}") if cell.kind == "code" else
                                      _own_text(cell, f"own {place}"))
            continue
        made = nbformat.from_dict(release.cells[cell.grade_id])
        if is_answer(made) and not cell.ours:
            if made.cell_type == "markdown":
                made.source, attachments = _text_of(cell, LONGEST)
                made |= {"attachments": attachments} if attachments else {}
            else:
                made.source = _code_of(cell.source, LONGEST)
        if is_check(cell):
            made.outputs = list(_outputs(marks.get(cell.grade_id), EXERCISES[cell.grade_id].points))
        notebook.cells.append(made)
    return notebook


def _code_of(source, longest):
    """Code for a reader. Blanks at the ends of lines go: a highlighter looks at them again and again."""
    lines = [line.rstrip() for line in printable(source.replace("\r\n", "\n").replace("\r", "\n"), longest).split("\n")]
    cut = [f"{line[:LONGEST_LINE]} # ... {len(line) - LONGEST_LINE:,} more characters" if len(line) > LONGEST_LINE else line
           for line in lines]
    remark = f"# (cut here: this cell has {len(source):,} characters; {WHOLE})"
    return "\n".join(cut + [remark] * (len(source) > longest or cut != lines))


def _text_of(cell, longest):
    """Markdown for a reader that nbconvert can show, and the attachments of its cell."""
    text, attachments = _with_pictures(harmless(cell.source, longest), cell.pictures)
    if len(cell.source) > longest:
        text += f"\n\n(cut here: this text has {len(cell.source):,} characters; {WHOLE})"
    if not (_is_shown(text) if not attachments else _can_be_shown(text, attachments)):
        lines = "\n".join(f"    {line}" for line in text.split("\n"))
        return f"*(Shown as it was typed: nbconvert cannot make a page of it.)*\n\n{lines}", {}
    return text, attachments


def _with_pictures(text, pictures):
    """The text with its pictures under names of ours, and a remark in the place of each that is not there."""
    attachments, names = {}, {picture.name: picture for picture in pictures}

    def shown(found):
        name = found["name"].strip()
        picture = names.get(name) or names.get(unquote(name))
        if picture is None:
            return f"{found[0]} (picture left out: it is not attached, or is no PNG or JPEG, or is too large or one too many)"
        name = f"picture-{list(names).index(picture.name) + 1}.{picture.kind.rpartition('/')[2]}"
        attachments[name] = {picture.kind: picture.data}
        return f"![{found['alt']}](attachment:{name})"

    return PASTED.sub(shown, text), attachments


def _can_be_shown(text, attachments):
    """Whether nbconvert makes a page of it, as feedback and formgrader do: what it fails at would end both."""
    def below(calls):
        renderer = IPythonRenderer(escape=False, attachments=attachments)
        return below(calls - 1) if calls else MarkdownWithMath(renderer).render(text)

    try:
        below(MARGIN)
    except Exception:  # whatever it is, nbconvert has it too
        return False
    return True


@lru_cache(2000)  # the texts of the lessons are the same in each submission
def _is_shown(text):
    return _can_be_shown(text, {})


def _markdown(source, name, attachments=None):
    return _cell("markdown", source, name, **({"attachments": attachments} if attachments else {}))


def _own_text(cell, name):
    text, attachments = _text_of(cell, LONGEST_OWN)
    return _markdown(text, name, attachments)


def _code(source, name):
    return _cell("code", source, name, outputs=[], execution_count=None)


def _cell(kind, source, name, **more):
    """A cell with an id that is the same each time; nbformat's own makers would look at each through its schema."""
    return nbformat.from_dict({"cell_type": kind, "id": hashlib.sha256(name.encode()).hexdigest()[:12], "metadata": {},
                               "source": source, **more})


def _outputs(mark, most):
    """What stands under a check: its messages and the steps as a stream, then the points as nbgrader reads them."""
    if mark is None:
        return
    said = [f"{GOOD if message.good else BAD} {message.text}" for message in mark.messages] + list(mark.notes)
    if mark.points is not None and mark.points < most:
        said += [f"{points(mark.points)} of {points(most)} points{':' * bool(mark.steps)}", *map(_step_line, mark.steps)]
    lines = [part for text in said for line in text.split("\n")
             for part in wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)]
    if mark.printed.strip():
        lines += ["", "Printed by the cells above:", last_words(mark.printed.rstrip())]
    if lines:
        yield nbformat.from_dict({"output_type": "stream", "name": "stdout", "text": printable("\n".join(lines)) + "\n"})
    if mark.points is not None:
        yield nbformat.from_dict({"output_type": "execute_result", "data": {"text/plain": repr(mark.points)}, "metadata": {},
                                  "execution_count": None})


def _step_line(step):
    return f"{GOOD if step.share >= 1 else BAD} {step.name}: {points(step.points * step.share)} of {points(step.points)}"


def last_words(text: str) -> str:
    """What a terminal shows of printed text in the end: of a line that was written again and again, the last version.

    >>> last_words("1 of 2\\r2 of 2\\ndone\\r\\n")
    '2 of 2\\ndone\\n'
    """
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def printable(text: str, longest: int = LONGEST) -> str:
    """Text without what could steer a terminal or turn the writing's direction, of a bounded length."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:longest])


def harmless(text: str, longest: int = LONGEST) -> str:
    """Markdown in which no tag, no entity, no link of a script and no picture can stand: nbconvert would pass them on.

    A picture would be fetched when the page is opened, from wherever it lies. An invisible character parts what would be one;
    nothing else is changed. It also stands before the language of a block of code, which chooses what nbconvert does with it.

    >>> harmless("a < b").isascii(), harmless("<b>").replace("\\u200b", "") == "<b>"
    (True, True)
    """
    text = re.sub(r"<(?=[a-zA-Z/!?])", f"<{PARTED}", printable(text, longest))
    text = re.sub(r"&(?=#|\w+;)", f"&{PARTED}", text)
    text = re.sub(r"!(?=\[)", f"!{PARTED}", text)
    text = re.sub(rf"(!{PARTED}\[[^\[\]\n]*\])(?=\()", rf"\1{PARTED}", text)
    text = FENCE.sub(rf"\g<0>{PARTED}", text)
    text = TEX.sub(rf"\\{PARTED}", text)
    return SCHEME.sub(lambda found: found[0][:-1] + PARTED + ":", text)
