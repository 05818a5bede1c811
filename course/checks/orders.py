"""Reading a learner's order of operations: a list of tokens, however it is written."""

import re
from collections.abc import Sequence

from course.checks.outcome import show_value
from course.drawing import IDLE
from course.schedule import Operation

TOKEN = re.compile(r"(\d{0,6})([FBIW])(\d{1,6})")


class NoOrder(ValueError):
    """A value that is no order; the text says why, `code` names the kind."""

    def __init__(self, code: str, text: str):
        super().__init__(text)
        self.code = code


def read_order(value, stage: int | None = None) -> tuple[Operation, ...]:
    """The operations of one rank, from plain data. `stage` is that of tokens that name none; None where each must.

    A list of tokens, one text of them, (kind, micro-batch) or (stage, kind, micro-batch) lists; small letters are read as
    capitals, idle cells are left out. NoOrder names the first item that is no token.

    >>> read_order("f0 . B0", stage=1) == read_order([["F", 0], ["B", 0]], stage=1)
    True
    """
    if isinstance(value, str):
        value = re.split(r"[\s,|]+", value.strip(" \t\n,|[]"))
    if not isinstance(value, Sequence):
        raise NoOrder("not-a-list", f"a list of tokens is asked for, found {show_value(value)}")
    return tuple(operation for position, item in enumerate(value) if (operation := _read(item, stage, position)))


def _read(item, stage, position):
    example = "`F0` or `B0`" if stage is not None else "`0F0` or `4B0`: <stage><kind><micro-batch>"
    text = "".join(map(str, item)) if isinstance(item, list) and 2 <= len(item) <= 3 else item
    if not isinstance(text, str):
        raise NoOrder("not-a-token", f"item {position}, {show_value(item)}, is no token; write {example}")
    text = text.strip().upper()
    if text in (IDLE, ""):
        return None
    match = TOKEN.fullmatch(text)
    if not match:
        raise NoOrder("not-a-token", f"item {position}, {show_value(item)}, is no token; write {example}")
    if not match[1] and stage is None:
        raise NoOrder("no-stage", f"item {position}, {show_value(item)}, does not say its stage; write {example}")
    return Operation(int(match[1]) if match[1] else stage, match[2], int(match[3]))
