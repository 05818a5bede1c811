"""Plain data as JSON and back, for answers that cross a process border; reading trusts nothing."""

import json
import math
from fractions import Fraction

from course.answers import MAX_DEPTH, MAX_ITEMS, Raised, Record
from course.numbers_of_answers import MAX_BITS, TooLarge, bounded

# Equal hashes are easily found for wide numbers and for tuples, and a dict or set of n of them takes n² steps: so few are read.
WIDE_BITS, MAX_WIDE = 30, 2000
SPARE = 4  # a dict or a fraction is several items and levels here, and one for the encoder


class WireError(ValueError):
    """A frame that is no plain data."""


def to_wire(value) -> str:
    """Plain data (or Raised, or a question's Records) as JSON text: what JSON lacks travels under a key of its own.

    >>> to_wire({"x": Fraction(1, 2)})
    '{"dict": [["x", {"fraction": [1, 2]}]]}'
    """
    return json.dumps(_out(value), allow_nan=False)


def from_wire(text: str, records: bool = False):
    """Plain data from JSON text. WireError for anything else: unknown tags, nan, too deep, too large, a number beyond LARGEST.

    Questions are read with `records`; in an answer a Record is an error.
    """
    try:
        return _in(json.loads(text, parse_constant=_no_constant), [SPARE * MAX_ITEMS, MAX_WIDE], 0, records)
    except RecursionError:
        raise WireError("nested too deep") from None
    except WireError:
        raise
    except TooLarge as error:
        raise WireError(str(error)) from None
    except ValueError as error:
        raise WireError(f"not JSON: {str(error)[:80]}") from None


def _no_constant(name):
    raise WireError(f"{name} is not a finite number")


def _out(value):
    if isinstance(value, Raised):
        return {"raised": [value.type, value.text]}
    if isinstance(value, Fraction):
        return {"fraction": [value.numerator, value.denominator]}
    if isinstance(value, dict):
        return {"record" if isinstance(value, Record) else "dict": [[_out(key), _out(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_out(item) for item in value]
    return value


def _in(value, left, depth, records):
    left[0] -= 1
    if left[0] < 0 or depth > SPARE * (MAX_DEPTH + 2):
        raise WireError("too large or too deep")
    if isinstance(value, list):
        return [_in(item, left, depth + 1, records) for item in value]
    if isinstance(value, dict):
        return _tagged(value, left, depth, records)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise WireError(f"{value} is not a finite number")
        return bounded(value)
    return bounded(_whole(value, left)) if isinstance(value, int) else value


def _whole(value, left):
    if value.bit_length() > MAX_BITS:
        raise WireError("a whole number with too many bits")
    _count_wide(left, value.bit_length() > WIDE_BITS)
    return value


def _count_wide(left, wide):
    left[1] -= wide
    if left[1] < 0:
        raise WireError(f"more than {MAX_WIDE} numbers of more than {WIDE_BITS} bits, or tuples as keys")


def _key(key, left):
    if not isinstance(key, list):
        return key
    _count_wide(left, True)  # all tuples of -1 and -2 have one hash
    return tuple(key)


def _tagged(value, left, depth, records):
    if len(value) != 1:
        raise WireError("a tagged value has one key")
    (tag, content), = value.items()
    if tag == "fraction" and isinstance(content, list) and len(content) == 2 and all(
            type(part) is int for part in content) and content[1] > 0:
        left[0] -= 2
        return bounded(Fraction(*(_whole(part, left) for part in content)))
    content = _in(content, left, depth + 1, records) if isinstance(content, list) else None
    if tag == "raised" and isinstance(content, list) and len(content) == 2 and all(type(part) is str for part in content):
        return Raised(*content)
    pairs = isinstance(content, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in content)
    if tag == "record" and records and pairs and all(type(key) is str for key, _ in content):
        return Record(content)
    if tag == "dict" and pairs:
        try:
            return {_key(key, left): item for key, item in content}
        except TypeError:
            raise WireError("a key that cannot be one") from None
    raise WireError(f"{str(tag)[:20]!r} is not a kind of plain data")
