"""Judging an answer that is one number: reading it, and the slips that every question for a bubble fraction shares."""

from collections.abc import Callable

from course.checks.outcome import Message, Step, as_number, near, number_advice, show_found, show_value, unreadable

# What a value that is no fraction at all may come from; nobody can see it in the value alone.
CUT = "Where a `//` or an `int(...)` cuts off what stands behind the point, `/` keeps it."


def number_step(step: str, worth: float, value, name: str, judge: Callable, like: str = "1/2") -> tuple[Step, Message]:
    """The points for one number and what to say of it, after its name and value.

    `judge` gives the message, good or not; `like` is an example of what is asked for.
    """
    found = unreadable(value, name, f"It is a number, such as {like}.")
    number = as_number(value)
    if not found and number is None:
        said = f"`{name}` is a number, such as {like}; found {show_found(value)}. {number_advice(value)}"
        found = Message("not-a-number", said.rstrip())
    if not found:
        found = judge(number)
        shown = "" if found.good else f" = {show_value(value)}"
        found = found._replace(text=f"`{name}`{shown}: {found.text}")
    return Step(step, worth, found.good), found


def fraction_slip(value, right) -> Message | None:
    """The useful share, a percentage, two digits, or nothing at all, in place of a bubble fraction."""
    if near(value, 1 - right):
        return Message("useful-share", "this is the useful share, busy over total. The bubble is the rest.")
    if near(value, 100 * right, 0.5):
        return Message("percent", "this is in percent. A fraction is asked for: divide by 100.")
    if near(value, right, 0.01):
        return Message("rounded-too-far", "rounded too far to tell right from nearly right. Write a fraction, or three digits "
                       "after the point.")
    if value == 0:
        return Message("whole-division", f"this would be no bubble at all. {CUT}")
    return None
