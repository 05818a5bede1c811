"""Notebook 1: three drawings of 3 stages and 3 micro-batches, each with one operation that starts too early."""

import re

from course.checks.outcome import Message, Outcome, Step, is_number, one_row, remarks, show_value, unreadable
from course.legality import violations
from course.timeline import Timeline

PARTS, LONGEST = re.compile(r"\d*[FB]\d+|-?\d+", re.ASCII), 40  # of an answer that is text
DRAWINGS = {
    "a": "F0 F1 F2 .  .  .  .  B0 B1 B2\n.  F0 F1 F2 .  B0 .  B1 B2 .\n.  .  F0 F1 F2 B0 B1 B2 .  .",
    "b": "F0 F1 F2 .  .  .  .  B0 B1 B2\n.  F0 F2 F1 .  .  B0 B1 B2 .\n.  .  F0 F2 F1 B0 B1 B2 .  .",
    "c": "F0 F1 F2 .  .  B0 .  B1 .  B2\n.  F0 F1 .  B0 F2 B1 .  B2 .\n.  .  F0 B0 F1 B1 B2 F2 .  .",
}


def drawing(name: str) -> Timeline:
    """One of the three drawings with an error, 3 stages and 3 micro-batches."""
    return Timeline.from_grid(DRAWINGS[name], stages=3, micro_batches=3)


def check_spot_the_error(answer) -> Outcome:
    """Points for each of the three drawings (1) and for all three together (1)."""
    given = one_row(answer.value())
    names = tuple(DRAWINGS)
    wanted = 'It is a dict such as {"a": ("F0", 1), "b": ..., "c": ...}: token and stage.'
    trouble = unreadable(given, "illegal_operations", wanted)
    if isinstance(given, list) and len(given) == len(names):
        given = dict(zip(names, given, strict=True))
    if not trouble and not isinstance(given, dict):
        trouble = Message("not-a-dict", f"`illegal_operations`: found {show_value(given)}. {wanted}")
    if trouble:
        return Outcome(_spot_steps(dict.fromkeys(names, False)), (trouble,))
    given = {str(key).strip().lower(): value for key, value in given.items()}
    pairs = {name: _pair(given.get(name)) for name in names}
    truth = {name: _illegal(name) for name in names}
    shifted = all(pair == (token, stage + 1) for pair, (token, stage) in zip(pairs.values(), truth.values(), strict=True))
    right = {name: shifted or pairs[name] == truth[name] for name in names}
    messages = [_spot_message(name, given.get(name), pairs[name], right[name]) for name in names]
    if shifted:
        messages.append(Message("stages-from-one", "Your stages are counted from 1, consistently: taken as such.", good=True))
    extra = sorted(set(given) - set(names))
    steps = _spot_steps(right)
    if extra:
        messages += remarks([Message("unknown-key", f"There is no drawing {extra[0]!r}: the keys are a, b and c.")], steps)
    return Outcome(steps, tuple(messages))


def _spot_steps(right):
    return (*(Step(f"drawing {name}", 1, found) for name, found in right.items()), Step("all three", 1, all(right.values())))


def _illegal(name):
    (fault,) = violations(drawing(name))
    return drawing(name).schedule.ranks[fault.rank][fault.position].short, fault.rank


def _pair(value):
    """(token, stage) from a pair in either order or from a text that holds both; None where it is not one of each."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) or is_number(part) for part in value):
        value = " ".join(str(int(part) if is_number(part) and part == int(part) else part)[:LONGEST] for part in value)
    parts = PARTS.findall(value[:2 * LONGEST].upper()) if isinstance(value, str) else []
    tokens = [part for part in parts if "F" in part or "B" in part]
    stages = [part for part in parts if part not in tokens]
    if len(tokens) != 1 or len(stages) != 1:
        return None
    return tokens[0].removeprefix(stages[0]), int(stages[0])


def _spot_message(name, given, pair, right):
    if given is None or given == "...":
        return Message("unanswered", f"Drawing {name} is not answered yet.")
    if pair is None:
        return Message("not-a-pair", f"Drawing {name}: a pair of token and stage is asked for, such as (\"F0\", 1); "
                       f"found {show_value(given)}.")
    token, stage = pair
    timeline = drawing(name)
    if right:
        return Message("spotted", f"Drawing {name}: {violations(timeline)[0].message}.", good=True)
    spans = {(span.operation.short, span.rank): span for span in timeline.spans}
    if (token, stage) not in spans:
        return Message("not-there", f"Drawing {name}: there is no {token} on stage {stage} in it. Stages are 0, 1 and 2 from "
                       "the top.")
    (fault,) = violations(timeline)
    culprit = timeline.schedule.ranks[fault.rank][fault.position]
    operation = spans[token, stage].operation
    if operation in timeline.schedule.needs(culprit) and spans[token, stage].end > timeline.starts[fault.rank][fault.position]:
        return Message("the-needed-one", f"Drawing {name}: {token} on stage {stage} is in time: everything it needs has "
                       "ended. But something that needs it does not wait for it: that one is asked for.")
    needs = timeline.schedule.needs(operation)
    reason = "it needs nothing" if not needs else "it starts after " + " and ".join(
        f"{need.short} of stage {need.stage} (ends at slot {spans[need.short, need.stage].end})" for need in needs)
    return Message("is-legal", f"Drawing {name}: {token} on stage {stage} is legal: {reason}"
                   + (f", at slot {spans[token, stage].start}." if needs else "."))
