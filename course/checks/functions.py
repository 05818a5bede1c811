"""Asking a learner's function: at many points, what it cannot be asked said once, a slip named only when all values show it."""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from course.answers import UNANSWERED, Raised
from course.checks.outcome import Message, as_number, is_number, near, number_advice, show_found, show_value
from course.words import counted

TOGETHER = 20.0  # seconds that the calls of one function may take in all: several times what a right answer takes
FUTILE = ("TimeLimit", "Ended", "NotCallable")  # what the next call would only repeat
RELATIVE = 1e-9  # how far a float may be from an exact value
ROUNDED = 0.0051  # how far a fraction written with two digits may be from the exact one


class Slip(NamedTuple):
    """A wrong idea: what it gives for the same arguments (an exception where it gives nothing), and what to say of it."""

    code: str
    text: str
    formula: Callable


def ask(answer, points: Iterable[tuple]) -> dict[tuple, object]:
    """Arguments -> what the function returned, plain data or Raised, in the order asked.

    It stops after the first reply that the next would only repeat: no function, out of time, process ended; and when all calls
    together have taken too long. The first point
    is asked once more at the end: Raised("Changed", what it returned then) takes the place of a reply that is not the same.
    """
    replies, end = {}, time.monotonic() + TOGETHER
    for point in points:
        if time.monotonic() > end:
            replies[point] = Raised("TimeLimit", f"not asked any more, {counted(len(replies), 'call')} before it took more "
                                    f"than {TOGETHER:g} s together")
            return replies
        replies[point] = answer.call(*point)
        if (isinstance(replies[point], Raised) and replies[point].type in FUTILE) or replies[point] == UNANSWERED:
            return replies
    for point, first in list(replies.items())[:1]:
        if changed := _changed(first, answer.call(*point)):
            replies[point] = Raised("Changed", changed)
    return replies


def always_the_same(replies: Mapping[tuple, object]) -> bool:
    """Whether a function returns one list or text for all of several arguments: then it has computed nothing of them."""
    first = next(iter(replies.values()), None)
    return bool(first) and isinstance(first, list | str) and len(replies) > 1 and all(
        reply == first for reply in replies.values())


def _changed(first, again):
    """How a second reply to one call differs from the first; empty where it does not."""
    if first == again or (isinstance(first, Raised) and isinstance(again, Raised) and first.type == again.type):
        return ""
    shown = [show_value(reply) for reply in (first, again)]
    if shown[0] == shown[1]:
        shown = [f"{text}, {len(str(reply))} characters long" for text, reply in zip(shown, (first, again), strict=True)]
    if isinstance(first, list) and isinstance(again, list) and len(first) != len(again):
        shown = [counted(len(reply), "item") for reply in (first, again)]
    return f"{shown[0]} at first, and {shown[1]} when it was asked the same again"


class Named(str):
    """An argument that a message names in place of its value: `f(32, times)`."""

    __slots__ = ()
    __repr__ = str.__str__


def call(name: str, arguments: tuple) -> str:
    """The call as a message shows it: `f(4, 8)`."""
    return f"`{name}({', '.join(map(show_value, arguments))})`"


def no_reply(name: str, arguments: tuple, reply, wanted: str, others: Iterable = ()) -> Message | None:
    """The message for a reply that is nothing to judge; None for one that is. `wanted`: a sentence that says what is returned.

    `others` are all replies of the function: whether its `return` is missing, or passed by here, only they can tell.
    """
    at = call(name, arguments)
    if isinstance(reply, Raised):
        if reply.type == "NotCallable":
            if "ellipsis" in reply.text:
                return Message("unanswered", f"`{name}` is not answered yet. {wanted}")
            found = reply.text.removesuffix(" is there, not a function")
            return Message("not-a-function", f"`{name}` is a function here; found {found}. Write `def {name}(...):`. {wanted}")
        wanted = re.sub(r"^It (is|returns|gives)\b", f"Wanted: `{name}` returns", wanted)
        if reply.type == "Changed":
            return Message("changed", f"{at} returned {reply.text}. Something is kept between the calls: a list or a counter "
                           "outside the function, or a default such as `order=[]`. Make it anew inside.")
        if reply.type == "TimeLimit":
            known = next((sign for sign in ("import", "together") if sign in reply.text), None)
            return Message("too-slow", f"{at}: {reply.text}.{'' if known else ' Does a loop end?'}")
        if reply.type == "Ended":
            return Message("ended", f"{at} gave no answer: {reply.text}.")
        said = reply.text.rstrip(".")
        if reply.type == "Refused":
            return Message("refused", f"{at} returned what cannot be read: {said}. {wanted}")
        return Message("raised", f"{at} raised {reply.type}{': ' + said if said else ''}. {wanted}")
    if reply == UNANSWERED:
        return Message("unanswered", f"{at} returned `...`: `{name}` is not answered yet. {wanted}")
    if reply is None and any(other is not None for other in others):
        return Message("returned-none", f"{at} returned None here, and something else for other arguments. {wanted}")
    if reply is None:
        return Message("unanswered", f"{at} returned None: `{name}` is not answered yet, or its `return` is missing. {wanted}")
    return None


def same(value, target) -> bool:
    """Whether a reply is the target: numbers, also written as text, up to the rounding of floats; lists item by item.

    A number is also the list of this one item: an array of one is no longer told from its item.
    """
    if isinstance(target, list | tuple):
        listed = value if isinstance(value, list) else [value]
        return len(listed) == len(target) and all(map(same, listed, target))
    if not is_number(target):
        return type(value) is type(target) and value == target
    return near(as_number(value), target, Fraction(RELATIVE) * max(1, abs(Fraction(target))))


def close(value, target) -> bool:
    """Whether a reply is this fraction or factor, also where it is written with two digits."""
    return near(as_number(value), target, ROUNDED)


def rounded(replies: Mapping[tuple, object], truth: Callable) -> list[Message]:
    """A note on replies that are right, where they are only close."""
    return [Message("rounded", "Rounded values are taken. Others compute with them: return the value as it is.", good=True)
            ] * (first_wrong(replies, truth, close) is None and first_wrong(replies, truth, _single) is not None)


def _single(value, target):
    """Up to the rounding of floats in single precision, a tensor's."""
    return near(as_number(value), target, 1e-6)


def slip_of(replies: Mapping[tuple, object], truth: Callable, slips: Sequence[Slip], like: Callable = same) -> Slip | None:
    """The first wrong idea that gives every reply that could be judged, and tells itself apart from what is right.

    Replies that the idea gives nothing for must be right or nothing too.
    """
    for slip in slips:
        given = {point: _given(slip.formula, point) for point in replies}
        if all(reply_is is None or like(replies[point], reply_is) for point, reply_is in given.items()) and any(
                reply_is is not None and not like(reply_is, truth(*point)) for point, reply_is in given.items()):
            return slip
    return None


def fits_slip(slip: Slip, replies: Mapping[tuple, object], like: Callable = same) -> bool:
    """Whether the wrong idea gives every one of these replies."""
    given = {point: _given(slip.formula, point) for point in replies}
    return all(reply_is is not None and like(replies[point], reply_is) for point, reply_is in given.items())


def first_wrong(replies: Mapping[tuple, object], truth: Callable, like: Callable = same) -> tuple | None:
    """The arguments of the first reply that is not right; None when all are."""
    return next((point for point, reply in replies.items() if not like(reply, truth(*point))), None)


def judge_replies(name: str, replies: Mapping[tuple, object], truth: Callable, wanted: str, praise: str,
                  slips: Sequence[Slip] = (), advice: str = "", like: Callable = same) -> Message:
    """One message about all replies of a function: praise, a slip by its name, or where it is wrong and what is asked for."""
    wrong = first_wrong(replies, truth, like)
    if wrong is None:
        return Message(f"{name}-right", f"`{name}`: {praise}", good=True)
    usable = {point: reply for point, reply in replies.items() if no_reply(name, point, reply, wanted) is None}
    slip = slip_of(usable, truth, slips, like) if usable else None
    if slip:
        return Message(slip.code, f"`{name}`: {slip.text}")
    trouble = no_reply(name, wrong, replies[wrong], wanted, replies.values())
    trouble = trouble or _no_such_kind(name, wrong, replies[wrong], truth(*wrong), wanted)
    return trouble or Message(f"{name}-wrong", f"{call(name, wrong)} returned {show_found(replies[wrong])}: not right. "
                              f"{advice or wanted}")


def _no_such_kind(name, arguments, reply, target, wanted):
    """The message for a reply that is not of the kind that is asked for, one number or a list of them; None for another."""
    at = f"{call(name, arguments)} returned"
    if isinstance(target, list | tuple) and (isinstance(reply, str | dict) or (
            isinstance(reply, list) and reply and None in map(as_number, reply))):
        return Message("not-a-list-of-numbers", f"{at} {show_found(reply)}; a list of numbers is wanted. {wanted}")
    if not is_number(target):
        return None
    if isinstance(reply, bool):
        return Message("truth-value", f"{at} {reply}, a truth value, as a comparison gives one. {wanted}")
    if isinstance(reply, str) and as_number(reply) is None and (advice := number_advice(reply)):
        return Message("number-as-words", f"{at} {show_value(reply)}. {advice} {wanted}")
    if isinstance(reply, list) and len(reply) == 1:
        return Message("list-of-one", f"{at} a list of one, {show_value(reply)}: return the number itself, without brackets, a "
                       "comma behind it or a `for`.")
    parts = list(reply.values()) if isinstance(reply, dict) else reply if isinstance(reply, list) else []
    numbers = [*map(as_number, parts)]
    if len(parts) > 1 and None not in numbers and same(sum(map(Fraction, numbers)), target):
        return Message("total-of-parts", f"{at} {show_found(reply)}: one number is wanted, the total of them. Add them up.")
    return None


def _given(formula, point):
    try:
        return formula(*point)
    except (ArithmeticError, ValueError):
        return None
