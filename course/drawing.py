"""A drawing as a learner types it: text in, cells out, every unreadable token named with its row."""

import re
from dataclasses import dataclass

from course.schedule import Operation
from course.words import a_type

IDLE, CONTINUED, UNMARKED = ".", "~", "?"
STUB = "..."
# possessive, so that a long row of blanks is gone through once
_LABEL = re.compile(r"^\s*+(?:(?:stage|rank|gpu|device)\s*+)?([0-9]{0,6}+)\s*+[:|]\s*+", re.IGNORECASE)
# a token, the blanks after it, and the token behind them
_GAP = re.compile(r"(?<!\S)([^\s,|]{1,20}+)( +)(?=([^\s,|]{1,20}))")
_READABLE = re.compile(r"\d{0,6}[FBIW]\d{1,6}", re.ASCII)


class DrawingError(ValueError):
    """A drawing that cannot be read: `code` says the kind, the text names row and token."""

    def __init__(self, code: str, text: str):
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Drawing:
    """The cells of a drawing, a row a rank: tokens in capitals, `.`, `~` or `?`.

    `notes` are (code, text) pairs that say what was read leniently, one a kind.
    """

    rows: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def slots(self) -> int:
        """The length of the longest row."""
        return max(map(len, self.rows))

    @property
    def names_stages(self) -> bool:
        """Whether a token names its stage, as `2F0` does."""
        return any(cell[0].isdigit() for row in self.rows for cell in row)

    def operations(self, row: int) -> list[tuple[Operation, int, int]]:
        """The operations of one row, each with the slot it starts in and the slot before which it has ended."""
        found = []
        for slot, cell in enumerate(self.rows[row]):
            if cell == CONTINUED:
                operation, start, _ = found.pop()
                found.append((operation, start, slot + 1))
            elif cell not in (IDLE, UNMARKED):
                found.append((Operation.parse(cell, stage=row), slot, slot + 1))
        return found


def salvage_drawing(text: str, stages: int) -> list[list[str]]:
    """The cells of a text that cannot be read as a whole: `?` for what is no cell, rows beyond the stages left off.

    >>> salvage_drawing("F0 Q F1\\n. F0\\nF0", 2)
    [['F0', '?', 'F1'], ['.', 'F0']]
    """
    return [[cell if cell == IDLE or _READABLE.fullmatch(cell) else UNMARKED
             for cell in _tokens(_LABEL.sub("", line).upper())] for line in _lines(text)[:stages]]


def _lines(text):
    lines = [line.partition("#")[0] for line in text.splitlines()]
    return [line for line in lines if line.strip() not in ("", STUB)]


def _tokens(body):
    return re.split(r"[\s,|]+", body.strip(" \t,|"))


def read_drawing(text, stages: int | None = None) -> Drawing:
    """Read a text grid: one line a rank, cells apart by white space, at most `stages` rows.

    Row labels such as `stage 0:`, blank lines, the stub `...`, `#` and what follows it, tabs and small letters are
    read for what they mean. DrawingError otherwise.

    >>> read_drawing("stage 0: F0 . b0").rows
    (('F0', '.', 'B0'),)
    """
    if not isinstance(text, str):
        raise DrawingError("not-text", f"The drawing is a text, one line a stage; this is {a_type(text)}. "
                           "Write it between triple quotes.")
    lines = _lines(text)
    if not lines:
        raise DrawingError("empty", "The drawing is empty: write one line a stage, such as `F0 F1 .`, stage 0 first.")
    notes = {}
    while stages is not None and len(lines) > stages and not set(_tokens(_LABEL.sub("", lines[-1]))) - {IDLE, UNMARKED}:
        notes["idle-row"] = [f"Row {len(lines) - 1} has no operation, and there are only {stages} stages: it was left out."]
        lines.pop()
    if stages is not None and len(lines) > stages:
        first = (_LABEL.sub("", lines[stages]).split() or [""])[0]
        raise DrawingError("rows", f"There are {len(lines)} rows, but only {stages} stages: row {stages}, counted "
                           f"from 0 (it begins with `{first}`), is one too many. One line a stage, stage 0 first.")
    labels = [match[1] for match in map(_LABEL.match, lines) if match and match[1]]
    order = sorted(range(len(lines)), key=lambda row: int(labels[row])) if len(labels) == len(set(labels)) == len(lines) else []
    if order != sorted(order):
        notes["labels"] = [f"The rows were put in the order of their labels, `{labels[order[0]]}` first."]
        lines = [lines[row] for row in order]
    rows = []
    for number, line in enumerate(lines):
        row, row_notes = _read_row(number, line)
        rows.append(row)
        for code, note in row_notes:
            notes.setdefault(code, []).append(note)
    indents = [len(line.expandtabs()) - len(line.expandtabs().lstrip()) for line in lines]
    if max(indents) - min(indents) >= 2:
        row = indents.index(max(indents))
        notes["blanks"] = [f"Row {row} is moved to the right by spaces: they are no cells, its first token counts as slot 0. "
                           "Write a `.` for each idle cell."]
    elif hole := _hole(lines):
        notes["gap"] = ["Row {}: {} spaces stand between `{}` and `{}`. Spaces are no cells: write a `.` for each idle "
                        "cell.".format(*hole)]
    return Drawing(tuple(rows), tuple((code, _first_of(texts)) for code, texts in notes.items()))


def _hole(lines):
    """(row, width, token before, token after) of the first gap in which a token and the gaps beside it would fit; or None."""
    gaps = [(row, *gap) for row, line in enumerate(lines) if "\t" not in line for gap in _GAP.findall(_LABEL.sub("", line))]
    usual = min((len(blanks) for _, _, blanks, _ in gaps), default=0)
    return next(((row, len(blanks), before, after) for row, before, blanks, after in gaps if len(blanks) >= 2 * usual + 2), None)


def _first_of(texts):
    more = f" (So were {len(texts) - 1} more like it.)" if len(texts) > 1 else ""
    return texts[0] + more


def _read_row(number, line):
    body = _LABEL.sub("", line)
    cells, notes = [], []
    for written in _tokens(body):
        cell = written.upper()
        if cell == CONTINUED and (not cells or cells[-1] in (IDLE, UNMARKED)):
            raise DrawingError("token", f"Row {number}, slot {len(cells)}: `~` says that the operation on its left "
                               "goes on, but there is none. Write `.` for an idle cell.")
        if cell not in (IDLE, CONTINUED, UNMARKED) and not _READABLE.fullmatch(cell):
            raise DrawingError("token", f"Row {number}, slot {len(cells)}: `{_short(written)}` is not a cell. Write F and a "
                               "micro-batch (`F0`), B and a micro-batch (`B0`), or `.` for idle, with a space between cells.")
        if cell != written:
            notes.append(("lower-case", f"Row {number}: `{written}` was read as `{cell}`; tokens are written in capitals."))
        cells.append(cell)
    if "\t" in body.strip():
        before = body.strip().split("\t")[0].split()[-1]
        notes.append(("tab", f"Row {number}: the tab after `{before}` was read as one gap between two cells, "
                      "however wide it looks. Spaces show what is counted."))
    return tuple(cells), notes


def _short(token, limit=20):
    return token if len(token) <= limit else token[:limit] + "…"
