"""What an answer may be: one encoder from a learner's value to plain data, on the learner's side in every path."""

import contextlib
import copy
import dataclasses
import io
import itertools
import math
import signal
import threading
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, MappingView
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

MAX_ITEMS, MAX_DEPTH, MAX_TEXT, MAX_BITS = 100_000, 20, 1_000_000, 4096
UNANSWERED = "..."  # what a released notebook holds in place of an answer, as the literal ... or as text


@dataclasses.dataclass(frozen=True)
class Raised:
    """In place of a value: the learner's code raised, ran out of time, or gave what is no plain data."""

    type: str
    text: str


class Refused(TypeError):
    """A value that is not plain data; the text names its type."""


class TimeLimit(BaseException):
    """A call that took too long; no Exception, so that a learner's `except Exception` lets it through."""


def encode(value):
    """Reduce a value to bool, int, float, str, None, list, dict and Fraction, of exactly these types.

    numpy scalars and arrays, tuples, ranges, deques, views of dicts, bounded iterators, Decimal, dataclasses, mappings and
    data frames are reduced to these, `...` to "...". Refused names everything else.

    >>> encode((1, range(2), Fraction(1, 3)))
    [1, [0, 1], Fraction(1, 3)]
    """
    return _encode(value, itertools.count(), 0)


def _encode(value, counter, depth):
    if next(counter) >= MAX_ITEMS:
        raise Refused(f"the answer has more than {MAX_ITEMS} items")
    if depth > MAX_DEPTH:
        raise Refused(f"the answer is nested more than {MAX_DEPTH} deep")
    if value is None or value is True or value is False:
        return value
    if type(value) in (int, float):
        return _number(value)
    if value is ...:
        return UNANSWERED
    if isinstance(value, str):
        return _text(value)
    if _is_numpy(value, "generic") and not isinstance(value, float):
        return _encode(value.item(), counter, depth)
    if isinstance(value, Real | Decimal):
        return _number(value)
    if isinstance(value, Mapping):
        return {_key(key, counter, depth): _encode(item, counter, depth + 1) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _encode(getattr(value, field.name), counter, depth + 1)
                for field in dataclasses.fields(value)}
    if _is_numpy(value, "ndarray"):
        return _encode(value.tolist(), counter, depth + 1)
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_dict"):
        if not hasattr(value, "columns"):
            return _encode(value.tolist(), counter, depth + 1)
        return [_encode_line(number, line, counter, depth + 1) for number, line in enumerate(value.to_dict("records"), 1)]
    if isinstance(value, list | tuple | range | deque | MappingView | Iterator):
        return [_encode(item, counter, depth + 1) for item in value]
    raise Refused(f"{_a(value)} is not an answer: give numbers, text, lists or dicts")


def _encode_line(number, line, counter, depth):
    """A line of a data frame; what is refused in it is named by its place."""
    next(counter)
    cells = {}
    for key, cell in line.items():
        try:
            cells[_key(key, counter, depth)] = _encode(cell, counter, depth + 1)
        except Refused as error:
            raise Refused(f"row {number}, column {str(key)[:40]}: {error}") from None
    return cells


def _a(value):
    """The type of a value with its article."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def _text(value):
    if len(value) > MAX_TEXT:
        raise Refused(f"the text is longer than {MAX_TEXT} characters")
    return str.__str__(value).encode("utf-8", "replace").decode()  # a lone surrogate could not be shown


def _number(value):
    if isinstance(value, float):
        value = float.__float__(value)  # the base class's own method: a subclass may lie
        if not math.isfinite(value):
            raise Refused(f"{value} is not a finite number")
        return value
    if isinstance(value, Integral):
        value = int.__int__(value) if isinstance(value, int) else int(value)
        if value.bit_length() > MAX_BITS:
            raise Refused(f"the whole number has more than {MAX_BITS} bits")
        return value
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise Refused(f"{value} is not a finite number")
        if abs(value.adjusted()) > MAX_BITS // 4:
            raise Refused("the number has too many digits")
        return Fraction(value)
    if isinstance(value, Rational):
        pair = Fraction.as_integer_ratio(value) if isinstance(value, Fraction) else (value.numerator, value.denominator)
        return Fraction(*map(_number, pair))
    return _number(float(value))


def _key(key, counter, depth):
    key = _encode(key, counter, depth + 1)
    return tuple(key) if isinstance(key, list) else key


def _is_numpy(value, base):
    return any(kind.__module__ == "numpy" and kind.__name__ == base for kind in type(value).__mro__)


class LocalAnswer:
    """An answer that lies in this process: what a check asks in a notebook.

    `seconds` limits each call and reading, where the main thread can be alarmed; `limited` says whether it can.
    """

    def __init__(self, value, seconds: float = 5.0):
        self._value, self._seconds, self.printed = value, seconds, ""

    @property
    def limited(self) -> bool:
        """Whether a call that never ends would be stopped."""
        return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()

    def value(self):
        """The answer as plain data, or Raised."""
        return self._guarded(lambda: self._value)

    def call(self, *arguments):
        """What the answer returns for these arguments, as plain data, or Raised; stdout, stderr and warnings are kept apart."""
        if not callable(self._value):
            return Raised("NotCallable", f"{_a(self._value)} is there, not a function")
        return self._guarded(lambda: self._value(*copy.deepcopy(arguments)))

    def _guarded(self, produce):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with _time_limit(self._seconds if self.limited else None):
                    return _outcome(produce)
        except TimeLimit:
            return Raised("TimeLimit", f"it ran for more than {self._seconds:g} s and was stopped")
        finally:
            self.printed = (self.printed + out.getvalue())[:MAX_TEXT]


def _outcome(produce):
    try:
        return encode(produce())
    except (KeyboardInterrupt, TimeLimit):
        raise
    except Refused as error:
        return Raised("Refused", str(error))
    except BaseException as error:  # SystemExit and the like are the learner's, and must not end the kernel
        return Raised(type(error).__name__, _describe(error))


def _describe(error):
    try:
        return _text(str(error))[:300]
    except (KeyboardInterrupt, TimeLimit):
        raise
    except BaseException:  # an exception of the learner's own whose text cannot be made
        return ""


@contextlib.contextmanager
def _time_limit(seconds):
    if seconds is None:
        yield
        return

    def stop(*_):
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
