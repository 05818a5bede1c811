"""Notebook 6: conclusions that are tied to rows of a table; what is right follows from that table, ties within noise included."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

from course.answers import UNANSWERED
from course.checks.claims import WORDS
from course.checks.experiment_rows import PARTED, Line, read_table
from course.checks.outcome import Message, Outcome, Step, as_number, show_value, unreadable

TIE = 0.03  # of a time: two that differ by less may be taken for equal
ALIKE = 0.01  # of the bytes held, likewise
AS_PREDICTED = 0.05  # of a step: how far it may be from its prediction
BORDER = 0.4  # a difference this close to a limit, in parts of it, is on neither side
REASONS = {"slow stage": ("stage", "a slow stage"), "slow link": ("message", "link", "a slow link", "slow message"),
           "few micro-batches": ("few micro batches", "few"), "noise": ("none", "no reason", "busy machine")}
WANTED = 'It is a dict such as {"a": 2, ..., "f": "noise", "g": False}, with the letters of the statements.'


class Statement(NamedTuple):
    """A conclusion: its text, the points, what is right for a table (a set of answers), and what to say of a wrong one.

    `kind` is row, reason or verdict; `code` names the mistake, `why` what to look at again.
    """

    text: str
    points: Fraction
    kind: str
    right: Callable[[list[Line]], set]
    code: str
    why: str


def _step(line):
    return line.get("step_time_measured")


def _devices(line):
    return line.row.processes * _step(line)


def _bubble(line):
    return line.get("bubble_measured")


def _peak(line):
    return line.get("peak_activation_bytes")


def _least(measure, relative=0.0, absolute=0.0):
    """The numbers of the lines whose measure is the least, or as good as the least."""
    def found(lines):
        least = min(map(measure, lines))
        return {line.number for line in lines if measure(line) <= least + relative * abs(least) + absolute}
    return found


def _most(measure, relative=0.0, absolute=0.0):
    return _least(lambda line: -measure(line), relative, absolute)


def _holds(lines: Iterable[bool | None]) -> set:
    """Whether something holds for all; None is a case on the border, which leaves both verdicts open."""
    cases = list(lines)
    return {False} if False in cases else {True, False} if None in cases else {True}


def _within(value, limit):
    """Whether a value is within a limit; None near it."""
    return None if abs(value - limit) <= BORDER * limit else value <= limit


SHORTEST, SMALLEST = _least(_step, TIE), _least(_bubble, absolute=float(PARTED))
FARTHEST = _most(lambda line: float(line.gap), absolute=float(PARTED))


def _reasons(lines, number=None):
    """Why the bubble of the row that is farthest off its estimate is so; of `number`, where that is one of those."""
    far = FARTHEST(lines)
    chosen = [line for line in lines if line.number in (({number} & far) or far)]
    return {reason for line in chosen for reason in (line.row.parts if line.row.parts and line.gap > PARTED else ("noise",))}


def _same_row(lines):
    shortest, smallest = SHORTEST(lines), SMALLEST(lines)
    if not shortest & smallest:
        return {False}
    return {True} if len(shortest) == len(smallest) == 1 else {True, False}


def _formula_holds(lines):
    return _holds(_within(float(line.gap), float(PARTED)) for line in lines if not line.row.parts)


def _more_hold_more(lines):
    pairs = [(one, other) for one in lines for other in lines if one.row.micro_batches > other.row.micro_batches]
    return _holds(_peak(one) > (1 + ALIKE) * _peak(other) for one, other in pairs) if pairs else {True, False}


def _as_predicted(lines):
    return _holds(_within(abs(_step(line) / line.get("step_time_predicted") - 1), AS_PREDICTED) for line in lines)


HALF = Fraction(1, 2)
CONCLUSIONS = {
    "a": Statement("The row with the shortest measured step.", Fraction(1), "row", SHORTEST, "not-the-shortest",
                   "another row's step_time_measured is clearly shorter."),
    "b": Statement("The row whose fullest rank holds the most activations.", Fraction(1), "row", _most(_peak, ALIKE),
                   "not-the-fullest", "another row's peak_activation_bytes is larger."),
    "c": Statement("The row with the smallest measured bubble.", Fraction(1), "row", SMALLEST, "not-the-smallest-bubble",
                   "another row's bubble_measured is clearly smaller."),
    "d": Statement("The row that costs the least device time: devices, pp x dp, times measured step.", Fraction(1), "row",
                   _least(_devices, TIE), "not-the-cheapest", "pp x dp x step_time_measured is clearly less in another row."),
    "e": Statement("The row in which the measured bubble is farthest off the estimate.", Fraction(1), "row", FARTHEST,
                   "not-the-farthest", "the two bubble columns are farther apart in another row."),
    "f": Statement('Why it is so far off in the row of e: "slow stage", "slow link", "few micro-batches" (fewer than ranks, in '
                   'looped_bfs), or "noise" where it is within 1 point or the machine was busy.', Fraction(1), "reason", _reasons,
                   "other-reason", "look at what is peculiar to this row: its slow_stage, its message, its micro-batches."),
    "g": Statement("True or false: the row with the smallest measured bubble is the row with the shortest step.", HALF, "verdict",
                   _same_row, "bubble-is-not-time", "compare the rows of a and c. A bubble is a share of the step, not its "
                   "length."),
    "h": Statement("True or false: in every row with equal stages and free messages the measured bubble is within 1 point of the "
                   "estimate.", HALF, "verdict", _formula_holds, "formula-holds", "leave out the rows with slow_stage above 1 or "
                   "message above 0, and compare the two bubble columns in the others."),
    "i": Statement("True or false: of any two rows, the one with more micro-batches holds more activations.", HALF, "verdict",
                   _more_hold_more, "more-is-not-more", "compare the peaks of rows with few and with many micro-batches: how "
                   "many are in flight, and how large is each?"),
    "j": Statement("True or false: in every row the measured step is within 5% of the predicted one.", HALF, "verdict",
                   _as_predicted, "as-predicted", "compare the two columns of step times, in the row of e as well. They are "
                   "predicted by the simulator, which knows slow stages and messages."),
}


def check_conclusions(conclusions, table) -> Outcome:
    """A point for each row that is named and for the reason, half a point for each statement that is called true or false."""
    given = _read(conclusions.value())
    lines = read_table(table.value())
    usable = [] if isinstance(lines, Message) else [line for line in lines if line.complete and 0 <= _bubble(line) < 1 and
                                                    _step(line) > 0 and line.get("step_time_predicted") > 0]
    if isinstance(given, Message):
        return Outcome(_steps({}), (given,))
    if not usable:
        return Outcome(_steps({}), (Message("no-table", "The conclusions are drawn from `table`, which has no complete row yet. "
                                            f"{lines.text if isinstance(lines, Message) else ''}".strip()),))
    answers, said = _from_one(given, usable)
    messages = [said] * (said is not None)
    shares = {}
    for key, statement in CONCLUSIONS.items():
        message = _judge(key, statement, given.get(key), answers.get(key), usable, answers.get("e"))
        shares[key] = message.good
        messages.append(message)
    extra = sorted(set(given) - set(CONCLUSIONS))
    if extra:
        messages.append(Message("unknown-key", f"There is no statement {extra[0]!r}: the letters are {', '.join(CONCLUSIONS)}."))
    return Outcome(_steps(shares), tuple(messages))


def _steps(shares):
    return tuple(Step(f"conclusion {key}", statement.points, shares.get(key, False)) for key, statement in CONCLUSIONS.items())


def _read(value):
    """The answers by their letters; the message where there are none."""
    if isinstance(value, dict) and set(map(str, value.values())) <= {UNANSWERED, "None"}:
        value = None
    trouble = unreadable(value, "conclusions", WANTED)
    if not trouble and isinstance(value, list) and len(value) == len(CONCLUSIONS):
        value = dict(zip(CONCLUSIONS, value, strict=True))
    if not trouble and not isinstance(value, dict):
        trouble = Message("not-a-dict", f"`conclusions`: found {show_value(value)}. {WANTED}")
    return trouble or {str(key).strip().lower().rstrip(")."): item for key, item in value.items()}


def _from_one(given, lines):
    """What each answer means, and a word on it: rows that are all counted from 0 are moved by one."""
    read = {key: _meaning(statement.kind, given.get(key)) for key, statement in CONCLUSIONS.items()}
    rows = [key for key, statement in CONCLUSIONS.items() if statement.kind == "row" and read[key] is not None]

    def all_right(moved):
        return bool(rows) and all(read[key] + moved in CONCLUSIONS[key].right(lines) for key in rows)

    if all_right(1) and not all_right(0):
        moved = {key: read[key] + 1 for key in rows}
        return read | moved, Message("counted-from-zero", "You count rows from 0, the table from 1: understood.", good=True)
    return read, None


def _meaning(kind, value):
    """A row's number, a reason, True or False; None where the value is none of its kind."""
    if kind == "row":
        number = as_number(value.lower().replace("row", "")) if isinstance(value, str) else as_number(value)
        return int(number) if number is not None and number == int(number) else None
    if isinstance(value, str) and kind == "reason":
        word = " ".join(value.lower().replace("_", " ").split()).rstrip(".")
        return next((reason for reason, names in REASONS.items() if word in (reason, *names)), None)
    if isinstance(value, str) and kind == "verdict":
        return WORDS.get(value.strip().lower())
    is_verdict = kind == "verdict" and isinstance(value, bool | int | float) and value in (0, 1)
    return bool(value) if is_verdict else None


def _judge(key, statement, value, answer, lines, farthest):
    if value is None or value == UNANSWERED:
        return Message("unanswered", f"Conclusion {key} is not drawn yet.")
    if answer is None:
        wanted = {"row": "the number of a row of the table", "reason": f"one of {', '.join(map(repr, REASONS))}",
                  "verdict": "True or False"}[statement.kind]
        return Message(f"not-a-{statement.kind}", f"Conclusion {key}: {wanted} is asked for, found {show_value(value)}.")
    if statement.kind == "row" and answer not in {line.number for line in lines}:
        return Message("no-such-row", f"Conclusion {key}: the table has no complete row {show_value(value)}; its rows are "
                       f"counted from 1 to {max(line.number for line in lines)}.")
    right = statement.right(lines, farthest) if statement.kind == "reason" else statement.right(lines)
    if answer in right:
        return Message("conclusion-right", f"Conclusion {key}: {_say(statement, answer)} is right.", good=True)
    return Message(statement.code, f"Conclusion {key}: not {_say(statement, answer)}; {statement.why}")


def _say(statement, answer):
    return {"row": f"row {answer}", "reason": f'"{answer}"', "verdict": str(answer).lower()}[statement.kind]
