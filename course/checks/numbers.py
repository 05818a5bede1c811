"""Judging an answer that is one number: reading it, and the slips that every question for a bubble fraction shares."""

from collections.abc import Callable

from course.checks.outcome import Message, Step, as_number, near, show_value, unreadable


def number_step(step: str, worth: float, value, name: str, judge: Callable) -> tuple[Step, Message]:
    """The points for one number and what to say of it; `judge` gives the message, good or not, of one that could be read."""
    found = unreadable(value, name, "It is a number, such as 1/2.")
    number = as_number(value)
    if not found and number is None:
        found = Message("not-a-number", f"`{name}` is a number, such as 1/2; found {show_value(value)}.")
    found = found or judge(number)
    return Step(step, worth, found.good), found


def fraction_slip(value, right) -> Message | None:
    """The useful share, or a percentage, in place of a bubble fraction."""
    if near(value, 1 - right):
        return Message("useful-share", "This is the useful share, busy over total. The bubble is the rest.")
    if near(value, 100 * right, 0.5):
        return Message("percent", "This is in percent. A fraction is asked for: divide by 100.")
    return None
