"""Statements to call true or false: an answer is a dict from the statement's letter to True or False."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from course.answers import UNANSWERED
from course.checks.outcome import Message, Outcome, Step, show_value, unreadable

WORDS = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False}


class Claim(NamedTuple):
    """A statement, whether it is true, and why; `code` names the misconception behind the wrong verdict."""

    text: str
    true: bool
    code: str
    why: str


def judge_claims(answer, name: str, claims: Mapping[str, Claim], points) -> Outcome:
    """A tenth of the points for each right verdict, the rest for all of them together; a wrong one gets its reason."""
    given = answer.value()
    wanted = f'It is a dict such as {{"a": True, "b": False}}, with the letters {", ".join(claims)}.'
    if isinstance(given, dict) and set(map(str, given.values())) <= {UNANSWERED}:
        given = None
    trouble = unreadable(given, name, wanted)
    if isinstance(given, list) and len(given) == len(claims):
        given = dict(zip(claims, given, strict=True))
    if not trouble and not isinstance(given, dict):
        trouble = Message("not-a-dict", f"`{name}`: found {show_value(given)}. {wanted}")
    if trouble:
        return Outcome(_steps(dict.fromkeys(claims, False), points), (trouble,))
    given = {str(key).strip().lower().rstrip(")."): value for key, value in given.items()}
    verdicts = {key: _verdict(given.get(key)) for key in claims}
    right = {key: verdicts[key] is claim.true for key, claim in claims.items()}
    messages = [_message(key, claim, given.get(key), verdicts[key]) for key, claim in claims.items()]
    extra = sorted(set(given) - set(claims))
    if extra:
        messages.append(Message("unknown-key", f"There is no statement {extra[0]!r}: the letters are {', '.join(claims)}."))
    return Outcome(_steps(right, points), tuple(messages))


def _steps(right, points):
    each = Fraction(points) / 10
    return (*(Step(f"statement {key}", each, found) for key, found in right.items()),
            Step("all of them", points - each * len(right), all(right.values())))


def _verdict(value):
    """True or False, also as a word or as 1 and 0; None for anything else."""
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _message(key, claim, value, verdict):
    if value is None or value == UNANSWERED:
        return Message("unanswered", f"Statement {key} is not answered yet.")
    if verdict is None:
        return Message("not-true-or-false", f"Statement {key}: True or False is asked for, found {show_value(value)}.")
    right = verdict is claim.true
    return Message("claim-right" if right else claim.code, f"Statement {key} is {str(claim.true).lower()}: {claim.why}", right)
