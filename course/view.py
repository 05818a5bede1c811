"""What a cell shows: HTML with the same in plain text, which is what a terminal and an untrusted notebook see."""

from dataclasses import dataclass
from html import escape

from course.checks.outcome import Outcome
from course.exercises import Verdict, exercise
from course.figures import Figure, timeline_figure

GOOD, BAD = "✓", "✗"
UNBROKEN = 20  # up to so many letters a cell of a table stays on one line, however narrow the page
# nbgrader's feedback pages take the triangle away
_FOLD = "style='display:list-item;cursor:pointer'"


@dataclass(frozen=True, repr=False)
class View:
    """HTML and its text form; a notebook shows the one, a terminal the other."""

    html: str
    text: str

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.text}


def paragraphs(*lines: str) -> View:
    """Plain sentences, one a line; what stands between backticks is code."""
    return View("".join(f"<p style='margin:.3em 0'>{_code(line)}</p>" for line in lines), "\n".join(lines))


def folded(summary: str, *lines: str) -> View:
    """Sentences behind a line to click on; the text form has them in full."""
    inner = paragraphs(*lines)
    return View(f"<details><summary {_FOLD}>{escape(summary)}</summary>{inner.html}</details>", inner.text)


def table(headers: list[str], rows: list[list], caption: str = "") -> View:
    """A table; cells are shown as they are given. Columns without a header name the rows. It scrolls in itself when too wide."""
    cells = [[str(cell) for cell in row] for row in rows]
    names = next((place for place, header in enumerate(headers) if header), len(headers))
    head = "".join(_cell("th" if header else "td", header, " scope='col'" * bool(header), "border-bottom:1px solid currentColor")
                   for header in headers)
    body = "".join("<tr>" + "".join(_body_cell(cell, place < names) for place, cell in enumerate(row)) + "</tr>" for row in cells)
    title = f"<caption style='text-align:left;font-weight:bold'>{escape(caption)}</caption>" if caption else ""
    html = (f"<div style='overflow-x:auto;margin:.4em 0'><table style='border-collapse:collapse;margin:0'>{title}"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [headers, *cells]]
    return View(html, "\n".join([caption] * bool(caption) + lines))


def _body_cell(words, names_row):
    style = "white-space:nowrap" if len(words) <= UNBROKEN else ""
    if names_row and any(map(str.isalnum, words)):
        return _cell("th", words, " scope='row'", f"font-weight:normal;{style}")
    return _cell("td", words, "", style)


def _cell(tag, words, scope, style):
    return f"<{tag}{scope} style='padding:.15em .6em;text-align:left;{style}'>{escape(words)}</{tag}>"


def together(*views: View | Figure) -> View:
    """Several views, one below the other."""
    return View("".join(view._repr_mimebundle_()["text/html"] for view in views), "\n\n".join(filter(None, map(repr, views))))


def points(number: float) -> str:
    """Points as people write them: `7`, `7.5`."""
    return f"{float(round(number, 2)):g}"


def verdict_view(verdict: Verdict) -> View:
    """A verdict as a learner reads it: points, what is right and what is not and why, the steps, the marked drawing."""
    full = verdict.points == verdict.maximum
    title = exercise(verdict.grade_id).title
    head = f"{title}{'' if title.endswith('?') else ':'} {points(verdict.points)} of {points(verdict.maximum)} points"
    return _judged(head, full, verdict, _steps_html(verdict))


def outcome_view(title: str, outcome: Outcome) -> View:
    """The same without points, for practice."""
    full = all(step.share == 1 for step in outcome.steps)
    return _judged(f"{title}: {'right' if full else 'not there yet'}", full, outcome, "")


def _judged(head, full, judged, below):
    head = f"{GOOD if full else BAD} {head}"
    signed = [(GOOD if message.good else BAD, message.text) for message in judged.messages]
    items = "".join(f"<li style='list-style:none;margin:.2em 0'><b>{sign}</b> {_code(text)}</li>" for sign, text in signed)
    html = f"<div role='status'><b>{escape(head)}</b><ul style='margin:.3em 0;padding-left:1em'>{items}</ul>{below}</div>"
    view = View(html, "\n".join([head] + [f"  {sign} {text}" for sign, text in signed]))
    if judged.drawing is None or not judged.drawing.work:
        return view
    # Without the summary line: makespan and bubble are the next questions.
    return together(view, timeline_figure(judged.drawing, title="Your drawing", marks=judged.marks, summary=False))


def _steps_html(verdict):
    if not verdict.steps:
        return ""
    rows = "".join(f"<li>{escape(step.name)}: {points(step.points * step.share)} of {points(step.points)}</li>"
                   for step in verdict.steps)
    return f"<details><summary {_FOLD}>How the points are counted</summary><ul style='margin:.2em 0'>{rows}</ul></details>"


def _code(text):
    """Escape, and set what stands between backticks as code."""
    parts = escape(text, quote=False).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
