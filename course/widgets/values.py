"""What the controls of an Explorer can stand at."""

from collections.abc import Sequence
from numbers import Integral


def whole(name: str, value, least: int, most: int) -> int:
    """The value, of any integer type. ValueError names one that is no whole number of this range."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} = {value!r}: a whole number from {least} to {most} is needed")
    return int(value)


def along(key: str, words: str, values: Sequence, form: str = "{}") -> list:
    """A slider along these values, each written in this form: its key, words, least and most place, values."""
    return [key, words, 0, len(values) - 1, [[value, form.format(value)] for value in values]]
