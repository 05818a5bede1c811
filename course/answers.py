"""What an answer may be: one encoder from a learner's value to plain data, on the learner's side in every path."""

import builtins
import contextlib
import copy
import dataclasses
import io
import itertools
import math
import signal
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, MappingView, Set
from decimal import Decimal
from fractions import Fraction
from numbers import Real

from course.numbers_of_answers import Refused, TooLarge, plain_number
from course.time_limit import TimeLimit, time_limit
from course.words import a_type

MAX_ITEMS, MAX_DEPTH, MAX_TEXT = 100_000, 20, 1_000_000
UNANSWERED = "..."  # what a released notebook holds in place of an answer, as the literal ... or as text


@dataclasses.dataclass(frozen=True)
class Raised:
    """In place of a value: the learner's code raised, ran out of time, or gave what is no plain data."""

    type: str
    text: str


class Record(dict):
    """Named values that a question hands to a learner's function: `layout.tp` and `layout["tp"]` alike. An answer holds none.

    >>> Record(tp=2, pp=4).pp
    4
    """

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here; there are {', '.join(self)}") from None

    def __setattr__(self, name, value):
        raise AttributeError(f"what is asked about cannot be changed: compute with its {name!r} and return what is asked for")

    def __hash__(self):  # so that a function that remembers its calls can be asked
        return hash(tuple(self))

    def __repr__(self):
        return f"Record({', '.join(f'{name}={value!r}' for name, value in self.items())})"


class Endless(Refused):
    """A generator or another iterator that gives more than an answer can have."""


class NoInput(Exception):
    """The learner's code called input(), where nobody can type."""


class OneLine(BaseException):
    """An error of which a notebook shows the type and the text, not the way to it."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class Interrupted(OneLine, KeyboardInterrupt):
    """The learner stopped what a cell had begun: it still stops the cells that wait, and says so in one line."""


class UnknownName(OneLine, ValueError):
    """No exercise and no prediction has this name."""


def encode(value):
    """Reduce a value to bool, int, float, str, None, list, dict and Fraction, of exactly these types.

    numpy scalars, arrays and tensors, tuples, ranges, deques, sets of numbers, views of dicts, bounded iterators, Decimal,
    dataclasses, mappings and data frames are reduced to these, `...` to "..."; an array of one item is that item. Refused names
    everything else, and numbers beyond LARGEST.

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
        return plain_number(value)
    if value is ...:
        return UNANSWERED
    if isinstance(value, str):
        return _text(value)
    if _is_numpy(value, "generic") and not isinstance(value, float):
        plain = value.item()  # of a longdouble it is one again
        return _encode(float(value) if type(plain) is type(value) else plain, counter, depth)
    if isinstance(value, Real | Decimal):
        return plain_number(value)
    if isinstance(value, Mapping):
        return {_key(key, counter, depth): _encode_named(item, counter, depth + 1) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _encode(getattr(value, field.name), counter, depth + 1)
                for field in dataclasses.fields(value)}
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_dict"):
        if not hasattr(value, "columns"):
            return _encode(value.tolist(), counter, depth + 1)
        return [_encode_line(number, line, counter, depth + 1) for number, line in enumerate(value.to_dict("records"), 1)]
    if isinstance(value, Iterator):
        value = list(itertools.islice(value, MAX_ITEMS))
        if len(value) == MAX_ITEMS:
            raise Endless(f"it went on for more than {MAX_ITEMS} items and was stopped")
    if isinstance(value, list | tuple | range | deque | MappingView):
        return [_encode(item, counter, depth + 1) for item in value]
    if isinstance(value, Set):
        items = [_encode(item, counter, depth + 1) for item in value]
        if all(isinstance(item, int | float | Fraction) for item in items):
            return sorted(items)
        raise Refused(f"{a_type(value)} has no order: give a list")
    if not isinstance(value, type) and callable(getattr(value, "tolist", None)):  # the arrays and tensors of any library
        plain = value.tolist()
        while isinstance(plain, list) and len(plain) == 1:
            plain = plain[0]
        return _encode(plain, counter, depth + 1)
    raise Refused(f"{a_type(value)} is not an answer: give numbers, text, lists or dicts")


def _encode_named(value, counter, depth):
    """An item of a mapping: a number that is not finite, or too large, comes as its text and costs only what is named so."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    try:
        return _encode(value, counter, depth)
    except TooLarge as error:
        if isinstance(value, Real | Decimal):
            return error.shown
        raise


def _encode_line(number, line, counter, depth):
    """A line of a data frame; what is refused in it is named by its place."""
    next(counter)
    cells = {}
    for key, cell in line.items():
        try:
            missing = isinstance(cell, float) and math.isnan(cell)  # so pandas fills what a row does not say
            cells[_key(key, counter, depth)] = None if missing else _encode(cell, counter, depth + 1)
        except Refused as error:
            raise Refused(f"row {number}, column {str(key)[:40]}: {error}") from None
    return cells


def _text(value):
    if len(value) > MAX_TEXT:
        raise Refused(f"the text is longer than {MAX_TEXT} characters")
    return str.__str__(value).encode("utf-8", "replace").decode()  # a lone surrogate could not be shown


def _key(key, counter, depth):
    key = _encode(key, counter, depth + 1)
    return tuple(key) if isinstance(key, list) else key


def _is_numpy(value, base):
    return any(kind.__module__ == "numpy" and kind.__name__ == base for kind in type(value).__mro__)


class LocalAnswer:
    """An answer that lies in this process: what a check asks in a notebook.

    `seconds` limits each call and reading, where the main thread can be alarmed; `limited` says whether it can. `computing`
    limits the seconds of the processor as well. Who stops it by hand gets Interrupted.
    """

    def __init__(self, value, seconds: float = 2.0, computing: float | None = None):
        self._value, self._seconds, self._computing, self.printed = value, seconds, computing, ""

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
            return Raised("NotCallable", f"{a_type(self._value)} is there, not a function")
        return self._guarded(lambda: self._value(*copy.deepcopy(arguments)), _cell_of(self._value))

    def _guarded(self, produce, cell=None):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with _no_input(), time_limit(*(self._seconds, self._computing) if self.limited else (None, None)):
                    return _outcome(produce, cell)
        except TimeLimit as limit:
            return Raised("TimeLimit", str(limit))
        except KeyboardInterrupt:
            raise Interrupted("your answer was still being computed. Does a loop of it end?") from None
        finally:
            self.printed = (self.printed + out.getvalue())[:MAX_TEXT]


def _outcome(produce, cell):
    try:
        return encode(produce())
    except (KeyboardInterrupt, TimeLimit):
        raise
    except Refused as error:
        return Raised("TimeLimit" if isinstance(error, Endless) else "Refused", str(error))
    except BaseException as error:  # SystemExit and the like are the learner's, and must not end the kernel
        return Raised(type(error).__name__, ", ".join(filter(None, (_describe(error), _line(error, cell)))))


def _cell_of(function):
    """The name under which Python knows the cell that a function was written in; None where it stands in no cell."""
    with contextlib.suppress(Exception):
        name = getattr(function, "__wrapped__", function).__code__.co_filename
        return name if name.startswith("<") or "ipykernel_" in name else None


def _line(error, cell):
    """Where in this cell the error came from; empty where the cell had no part in it."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if cell and frame.f_code.co_filename == cell]
    return f"in line {lines[-1]} of its cell" if lines else ""


@contextlib.contextmanager
def _no_input():
    def refuse(*_, **__):
        raise NoInput("`input()` cannot be used here, what a function needs comes as its arguments")

    before, builtins.input = builtins.input, refuse
    try:
        yield
    finally:
        builtins.input = before


def _describe(error):
    try:
        return _text(str(error))[:300]
    except (KeyboardInterrupt, TimeLimit):
        raise
    except BaseException:  # an exception of the learner's own whose text cannot be made
        return ""
