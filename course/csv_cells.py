"""The cells of a schedule's CSV text, and what to do about a cell that belongs elsewhere."""

import csv
import io
import re
from collections.abc import Iterator

from course.words import a_type

_COMMUNICATION = re.compile(r"\d+(?:SEND|RECV)_[FB]\d*|\d+(?:UNSHARD|RESHARD|REDUCE_GRAD)\d*", re.ASCII)
_OPERATION = re.compile(r"\d+[FBIW]\d+", re.ASCII)
_IDLE = {"none", "nan", "null", "na", "n/a", "-", ".", "_", "idle", "bubble"}


class CsvError(ValueError):
    """A text that is no schedule's CSV, with the place, counted from 0."""

    def __init__(self, row: int, column: int, text: str):
        super().__init__(f"row {row}, column {column}: {text} (rows and columns are counted from 0)")


def filled_cells(text: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Each row with its filled cells as (column, token), a row for each line. ValueError for what is no CSV text.

    >>> list(filled_cells("0F0,,0B0"))
    [(0, [(0, '0F0'), (2, '0B0')])]
    """
    if not isinstance(text, str):
        raise ValueError(f"a CSV text is wanted, a row a rank; this is {a_type(text)}: read the file as text first")
    body = text.removeprefix("\ufeff").rstrip("\r\n")
    if not body.strip(", \t\r\n\""):
        raise ValueError("the CSV text is empty: a row a rank is wanted, with cells such as 0F0,0B0")
    try:
        for row, cells in enumerate(csv.reader(io.StringIO(body, newline=""))):
            yield row, [(column, cell.strip()) for column, cell in enumerate(cells) if cell.strip()]
    except csv.Error as error:
        raise ValueError(f"not a CSV text: {error}") from None


def way_out(token: str, column: int, row: list[tuple[int, str]]) -> str:
    """What to do about a token that is no operation, in its row; empty where nothing is known of it."""
    if _COMMUNICATION.fullmatch(token):
        return ("; it is a communication of PyTorch's compute_comms form, and the compute-only one is read here: write the file "
                'with format="compute_only", or delete the cells that are no F, B, I or W')
    if token.startswith("(") or "OVERLAP" in token:
        return ("; it is operations that PyTorch overlaps, and a rank does one at a time here: write them as cells of their own, "
                "the forward first")
    if "," in token or "\n" in token or "\r" in token:
        return "; it is several cells, with a quotation mark before the first: delete the quotation marks"
    if any(_OPERATION.fullmatch(part) for part in re.split(r"[;\t| ]", token)):
        return "; cells are set apart by commas here: save the file with commas"
    if _OPERATION.fullmatch(token.upper()):
        return f"; kinds are written in capitals, {token.upper()}"
    if token.lower() in _IDLE:
        return "; leave the cell of an idle slot empty"
    if not any(_OPERATION.fullmatch(cell) for _, cell in row):
        return "; no cell of this row is an operation: delete a row of headings, there is one row a rank and nothing else"
    if column == 0:
        return "; the first cell of a row is its first operation: delete a column of names or numbers of ranks"
    return ""


def shortened(token: str, most: int = 40) -> str:
    """The token between quotation marks, its beginning where it is long."""
    return repr(token if len(token) <= most else token[:most] + "…")
