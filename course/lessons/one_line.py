"""What a notebook's own displays say of values that they cannot take: one line in place of a traceback."""

import inspect
from collections.abc import Callable
from functools import wraps

from course.real_run import no_run
from course.schedules.entry import need_sizes

LARGEST = 1000  # sizes from here on make pictures that nobody can read, and runs without end
ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)


class NoValue(ValueError):
    """A value that cannot be: it stops the cell, in one line."""

    def _render_traceback_(self):
        return [str(self)]


def shown(function: Callable) -> Callable:
    """Decorate what a cell shows: a line about the values that it cannot take stands in place of the result."""
    strict = given(function)

    @wraps(function)
    def careful(*values, **named):
        try:
            return strict(*values, **named)
        except NoValue as error:
            return no_run(str(error))
    return careful


def given(function: Callable) -> Callable:
    """Decorate what a cell computes with: values that it cannot take are a NoValue, which is one line as well."""
    @wraps(function)
    def careful(*values, **named):
        try:
            return function(*values, **named)
        except ERRORS as error:
            raise NoValue(_said(function, error)) from None
    return careful


def need(**sizes):
    """ValueError for the first size that is no whole number from 1 to LARGEST: names it, its value and the rule."""
    need_sizes(**sizes)
    for name, value in sizes.items():
        if value > LARGEST:
            raise ValueError(f"{name} = {value}: at most {LARGEST} can be shown")


def _said(function, error):
    name, text = function.__name__, str(error).rstrip(".")
    if type(error) is ValueError:
        return f"`{name}`: {text}."
    return f"`{name}` cannot take these values ({type(error).__name__}: {text}). It is `{name}{_wanted(function)}`."


def _wanted(function):
    """The names of the parameters, those that may be left out with what they are then."""
    parts = [str(parameter.replace(annotation=parameter.empty)) for parameter in inspect.signature(function).parameters.values()]
    return f"({', '.join(parts)})"
