"""Asking a learner's function: at many points, what it cannot be asked said once, a slip named only when all values show it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from course.answers import UNANSWERED, Raised
from course.checks.outcome import Message, as_number, show_value

FUTILE = ("TimeLimit", "Ended", "NotCallable")  # what the next call would only repeat
RELATIVE = 1e-9  # how far a float may be from an exact value


class Slip(NamedTuple):
    """A wrong idea: what it gives for the same arguments (an exception where it gives nothing), and what to say of it."""

    code: str
    text: str
    formula: Callable


def ask(answer, points: Iterable[tuple]) -> dict[tuple, object]:
    """Arguments -> what the function returned, plain data or Raised, in the order asked.

    It stops after the first reply that the next would only repeat: no function, out of time, process ended.
    """
    replies = {}
    for point in points:
        replies[point] = answer.call(*point)
        if (isinstance(replies[point], Raised) and replies[point].type in FUTILE) or replies[point] == UNANSWERED:
            break
    return replies


def call(name: str, arguments: tuple) -> str:
    """The call as a message shows it: `f(4, 8)`."""
    return f"`{name}({', '.join(map(show_value, arguments))})`"


def no_reply(name: str, arguments: tuple, reply, wanted: str) -> Message | None:
    """The message for a reply that is nothing to judge; None for one that is. `wanted`: a sentence that says what is returned."""
    at = call(name, arguments)
    if isinstance(reply, Raised):
        if reply.type == "NotCallable":
            if "ellipsis" in reply.text:
                return Message("unanswered", f"`{name}` is not answered yet. {wanted}")
            found = reply.text.removesuffix(" is there, not a function")
            return Message("not-a-function", f"`{name}` is a function here; found {found}. Write `def {name}(...):`. {wanted}")
        if reply.type == "TimeLimit":
            return Message("too-slow", f"{at}: {reply.text}. Does a loop end?")
        if reply.type == "Ended":
            return Message("ended", f"{at} gave no answer: {reply.text}.")
        if reply.type == "Refused":
            return Message("refused", f"{at} returned what cannot be read: {reply.text}. {wanted}")
        return Message("raised", f"{at} raised {reply.type}{': ' + reply.text if reply.text else ''}. {wanted}")
    if reply is None or reply == UNANSWERED:
        return Message("unanswered", f"{at} returned nothing: `{name}` is not answered yet, or its `return` is missing. {wanted}")
    return None


def same(value, target) -> bool:
    """Whether a reply is the target: numbers up to the rounding of floats, lists item by item, all else by equality."""
    if isinstance(target, list | tuple):
        return isinstance(value, list) and len(value) == len(target) and all(map(same, value, target))
    number = as_number(value) if not isinstance(value, str) else None
    if number is None or as_number(target) is None:
        return type(value) is type(target) and value == target
    try:
        return abs(number - target) <= RELATIVE * max(1, abs(target))
    except OverflowError:  # a whole number that no float can be compared with
        return False


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


def first_wrong(replies: Mapping[tuple, object], truth: Callable, like: Callable = same) -> tuple | None:
    """The arguments of the first reply that is not right; None when all are."""
    return next((point for point, reply in replies.items() if not like(reply, truth(*point))), None)


def judge_replies(name: str, replies: Mapping[tuple, object], truth: Callable, wanted: str, praise: str,
                  slips: Sequence[Slip] = (), advice: str = "", like: Callable = same) -> Message:
    """One message about all replies of a function: praise, a slip by its name, or where it is wrong and what is asked for."""
    wrong = first_wrong(replies, truth, like)
    if wrong is None:
        return Message(f"{name}-right", praise, good=True)
    usable = {point: reply for point, reply in replies.items() if no_reply(name, point, reply, wanted) is None}
    slip = slip_of(usable, truth, slips, like) if usable else None
    if slip:
        return Message(slip.code, f"`{name}`: {slip.text}")
    trouble = no_reply(name, wrong, replies[wrong], wanted)
    return trouble or Message(f"{name}-wrong", f"{call(name, wrong)} returned {show_value(replies[wrong])}: not right. "
                              f"{advice or wanted}")


def _given(formula, point):
    try:
        return formula(*point)
    except (ArithmeticError, ValueError):
        return None
