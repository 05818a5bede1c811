"""Statements to call true or false: an answer is a dict from the statement's letter to True or False."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from course.answers import UNANSWERED
from course.checks.outcome import Message, Outcome, Step, remarks, show_value, unreadable

WORDS = {"true": True, "t": True, "yes": True, "1": True, "false": False, "f": False, "no": False, "0": False}


class Claim(NamedTuple):
    """A statement, whether it is true, and why; `code` names the misconception behind the wrong verdict, `look` asks on."""

    text: str
    true: bool
    code: str
    why: str
    look: str


def judge_claims(answer, name: str, claims: Mapping[str, Claim], points) -> Outcome:
    """A tenth of the points for each right verdict, the rest for all of them together.

    A right one gets its reason, a wrong one the question that leads to it: all called True must not tell what is true.
    """
    given = _by_key(answer.value(), claims)
    wanted = f'It is a dict such as {{"a": True, "b": False}}, with the letters {", ".join(claims)}.'
    if isinstance(given, dict) and set(map(str, given.values())) <= {UNANSWERED}:
        given = None
    trouble = unreadable(given, name, wanted)
    if not trouble and not isinstance(given, dict):
        trouble = Message("not-a-dict", f"`{name}`: found {show_value(given)}. {wanted}")
    if trouble:
        return Outcome(_steps(dict.fromkeys(claims, False), points), (trouble,))
    given = {str(key).strip().lower().rstrip(")."): value for key, value in given.items()}
    verdicts = {key: _verdict(given.get(key)) for key in claims}
    right = {key: verdicts[key] is claim.true for key, claim in claims.items()}
    messages = [_message(key, claim, given.get(key), verdicts[key]) for key, claim in claims.items()]
    extra = sorted(set(given) - set(claims))
    steps = _steps(right, points)
    if extra:
        messages += remarks([Message("unknown-key", f"There is no statement {extra[0]!r}: the letters are {', '.join(claims)}.")],
                            steps)
    return Outcome(steps, tuple(messages))


def _by_key(given, claims):
    """Verdicts in a row, or pairs of key and verdict, as a dict; what is neither as it is."""
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], dict | list | str):
        return _by_key(given[0], claims)
    if isinstance(given, str):
        row = re.findall(r"[a-z01]+", given.lower())
        row = list(row[0]) if len(row) == 1 else row
        return dict(zip(claims, row, strict=True)) if len(row) == len(claims) and set(row) <= set(WORDS) else given
    if not isinstance(given, list) or len(given) != len(claims):
        return given
    if all(isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) for item in given):
        return dict(given)
    return dict(zip(claims, given, strict=True))


def _steps(right, points):
    each = Fraction(points) / 10
    return (*(Step(f"statement {key}", each, found) for key, found in right.items()),
            Step("all of them", points - each * len(right), all(right.values())))


def _verdict(value):
    """True or False, also as a word, as 1 and 0, or alone in a list (a comma too many); None for anything else."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _message(key, claim, value, verdict):
    if value is None or value == UNANSWERED:
        return Message("unanswered", f"Statement {key} is not answered yet.")
    if verdict is None:
        return Message("not-true-or-false", f"Statement {key}: True or False is asked for, found {show_value(value)}.")
    if verdict is not claim.true:
        return Message(claim.code, f"Statement {key}: look again. {claim.look}")
    return Message("claim-right", f"Statement {key}, {claim.true}, right: {claim.why}", good=True)
