"""Numbers, times and names in a sentence."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real


def counted(count: Real, what: str) -> str:
    """How many of what, one without its plural's ending.

    >>> counted(1, "micro-batch"), counted(2.5, "micro-batch"), counted(0, "slot")
    ('1 micro-batch', '2.5 micro-batches', '0 slots')
    """
    return f"{number(count)} {what}{'' if count == 1 else 'es' if what.endswith('ch') else 's'}"


def a_type(value: object) -> str:
    """The type of a value with its article.

    >>> a_type(3), a_type("F0"), a_type(None)
    ('an int', 'a str', 'None')
    """
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def nearest(name: object, names: Iterable[str], module: str, table: str) -> str:
    """What to say to a name that is none of `names`: at most three like it, and how to see all, which a module has in a table.

    >>> nearest("tow", ["one", "two"], "course.words", "NAMES")
    'near it: two. All of them: from course.words import NAMES; print(*NAMES)'
    """
    like = []
    if isinstance(name, str) and name:
        like = dict.fromkeys([*get_close_matches(name, names), *(other for other in names if other.startswith(name))])
    near = f"near it: {', '.join(list(like)[:3])}. " if like else ""
    return f"{near}All of them: from {module} import {table}; print(*{table})"


def listed(numbers: Iterable[int]) -> str:
    """Numbers in a row.

    >>> listed([4229120, 7])
    '4,229,120, 7'
    """
    return ", ".join(f"{number:,}" for number in numbers)


def gb(size: float) -> str:
    """Bytes as people read them.

    >>> gb(6_442_450_944), gb(67_108_864), gb(0)
    ('6.44 GB', '0.067 GB', '0 GB')
    """
    return "0 GB" if size == 0 else f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e9:.2g} GB"


def number(value: Real) -> str:
    """A time for reading: whole numbers as they are, others with four digits."""
    return str(int(value)) if value == int(value) else f"{float(value):.4g}"


def units(unit: str) -> str:
    """The unit after a number: `slots`, but `ms`."""
    return unit + "s" if len(unit) > 2 and not unit.endswith("s") else unit


def at(time: Real, unit: str) -> str:
    """A moment: `slot 3`, but `3.2 ms`."""
    return f"{unit} {number(time)}" if unit == "slot" else f"{number(time)} {unit}"


def between(start: Real, end: Real, unit: str) -> str:
    """A stretch of time: `slot 3 to 5`, but `3.2 to 5 ms`."""
    return f"{unit} {number(start)} to {number(end)}" if unit == "slot" else f"{number(start)} to {number(end)} {unit}"
