"""What a check says: earned steps, messages with codes, and the drawing that the faults are marked in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from course.answers import UNANSWERED, Raised
from course.numbers_of_answers import LARGEST
from course.timeline import Timeline

DECIMAL_COMMA = re.compile(r"([-+]?\d+),(\d+)(?=\s*%?\s*$)", re.ASCII)
WORD = re.compile(r"[^\W\d_eE]|[^\W\d_]{2}")  # a letter, but for the e of a power of ten
MOST_DIGITS = 1000  # of a number that is written as text, and of its power of ten


class Message(NamedTuple):
    """One thing to say; `code` names its kind in every language, `good` whether it is praise."""

    code: str
    text: str
    good: bool = False


class Step(NamedTuple):
    """A documented part of the points: what it is for, what it is worth, whether (or how much of it) was earned."""

    name: str
    points: float
    share: float


@dataclass(frozen=True)
class Outcome:
    """The result of a check: points are the sum of the steps earned."""

    steps: tuple[Step, ...]
    messages: tuple[Message, ...]
    drawing: Timeline | None = None
    marks: tuple[tuple[int, int], ...] = field(default=())

    @property
    def points(self) -> float:
        """What was earned, as a plain float."""
        return float(sum(Fraction(step.points) * Fraction(step.share) for step in self.steps))

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the messages, in order."""
        return tuple(message.code for message in self.messages)


def remarks(messages: Iterable[Message], steps: Iterable[Step]) -> list[Message]:
    """The messages about what costs nothing: no faults where all steps are earned."""
    full = all(step.share == 1 for step in steps)
    return [message._replace(good=message.good or full) for message in messages]


def unreadable(value, name: str, wanted: str) -> Message | None:
    """The message for an answer that is not there or could not be taken, None for one that can be looked at."""
    if isinstance(value, Raised):
        said = value.text.rstrip(".")
        if value.type == "Refused":
            return Message("refused", f"`{name}`: {said}. {wanted}")
        return Message("raised", f"`{name}` could not be read: {value.type}: {said}. {wanted}")
    if value is None or (isinstance(value, str) and value.strip() == UNANSWERED):
        return Message("unanswered", f"`{name}` is not answered yet. {wanted}")
    return None


def one_row(value):
    """The dict in a list of this one dict, which a data frame of one row comes as; all else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) else value


def as_number(value):
    """A number, also one written as text (`"3/7"`, `"3 / 7"`, `"42.9%"`, `"0,429"`); None for what is none, not finite or
    beyond LARGEST, and for text whose comma may be of thousands or of decimals.

    >>> as_number("42.5%"), as_number("1e999999"), as_number("1e9_999999"), as_number(True)
    (Fraction(17, 40), None, None, None)
    >>> as_number("0,5"), as_number("1,375")
    (Fraction(1, 2), None)
    """
    if isinstance(value, str):
        text = "/".join(part.strip() for part in value.split("/"))
        powers = re.findall(r"[eE]([+-]?\d+)", text[:MOST_DIGITS])
        if len(text) > MOST_DIGITS or "_" in text or any(abs(int(power)) > MOST_DIGITS for power in powers):
            return None  # to make a Fraction of it could take for ever
        if not _of_thousands(text):
            text = DECIMAL_COMMA.sub(r"\1.\2", text.strip())
        try:
            value = Fraction(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
        except (ValueError, ZeroDivisionError):
            return None
    return value if is_number(value) and abs(value) <= LARGEST else None


def _of_thousands(text):
    """Whether a comma in a number may part its thousands: three digits stand behind it, and not only 0 before it."""
    match = DECIMAL_COMMA.match(text.strip())
    return bool(match) and len(match[2]) == 3 and int(match[1]) != 0


def number_advice(value) -> str:
    """What to say of text in place of a number, as a sentence; empty for what is no text, and for text without a word."""
    if not isinstance(value, str):
        return ""
    if len(value) <= MOST_DIGITS and _of_thousands(value):
        return "Is its comma one of thousands or of decimals? Write a point for decimals, and nothing for thousands."
    return "That is text; give the number alone, without a word or a unit." if WORD.search(value) else ""


def is_number(value) -> bool:
    """Whether plain data is a number; True and False are none."""
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def near(value, target, tolerance=0.002) -> bool:
    """Whether a number is the target, up to the rounding of a value written with two or three digits."""
    try:
        return is_number(value) and abs(value - target) <= tolerance
    except OverflowError:  # a whole number that no float can be compared with
        return False


def show_value(value) -> str:
    """A value as a message shows it: its repr with fractions as people write them, cut after 40 characters.

    >>> show_value([Fraction(3, 8), "F0"])
    "[3/8, 'F0']"
    """
    if isinstance(value, Raised):
        return f"{value.type}: {value.text}"
    text = re.sub(r"Fraction\((-?\d+), (\d+)\)", lambda pair: pair[1] if pair[2] == "1" else f"{pair[1]}/{pair[2]}", repr(value))
    return text if len(text) <= 40 else text[:40] + "…"


def show_found(value) -> str:
    """The same after `returned` or `found`: tuples and arrays are read as lists, so a list is called one."""
    return f"{'a list, ' * isinstance(value, list)}{show_value(value)}"
