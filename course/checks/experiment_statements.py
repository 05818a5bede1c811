"""Notebook 6: the statements that are drawn from a table, and which answers to each are right for the rows of a table."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

from course.checks.experiment_rows import PARTED, Line
from course.plan import STEP_OFF

# Runs are later than their plan, never before it: where none is later by more, rows this close may stand in either order.
TIE, CLOSE = STEP_OFF, float(PARTED)  # of a time; of a bubble
ALIKE = 0.01  # of the bytes held
BORDER = 0.4  # a difference this close to a limit, in parts of it, is on neither side
NOISE = "noise"
REASONS = {"slow stage": ("stage", "a slow stage"), "slow link": ("message", "link", "a slow link", "slow message"),
           "few micro-batches": ("few micro batches", "few"), NOISE: ("none", "no reason", "busy machine")}


class Statement(NamedTuple):
    """A conclusion: its text, the points, what is right for a table (a set of answers), and what to say of a wrong one.

    `kind` is row, reason or verdict; `code` names the mistake, `why` what to look at again. Where nothing in the table answers
    it no answer is right, and `needs` says what the table lacks.
    """

    text: str
    points: Fraction
    kind: str
    right: Callable[[list[Line]], set]
    code: str
    why: str
    needs: str = ""


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
    """Whether something holds for all, empty where there are none; None is a case on the border, it leaves both verdicts open."""
    cases = list(lines)
    return set() if not cases else {False} if False in cases else {True, False} if None in cases else {True}


def _within(value, limit):
    """Whether a value is within a limit; None near it."""
    return None if abs(value - limit) <= BORDER * limit else value <= limit


SHORTEST, SMALLEST = _least(_step, TIE), _least(_bubble, absolute=CLOSE)
FARTHEST = _most(lambda line: float(line.gap), absolute=CLOSE)


def reasons(lines: list[Line], number: int | None = None) -> set:
    """Why the bubble of the row that is farthest off its estimate is so; of `number`, where that is one of those."""
    far = FARTHEST(lines)
    chosen = [line for line in lines if line.number in (({number} & far) or far)]
    return {reason for line in chosen for reason in (line.row.parts if line.row.parts and line.gap > PARTED else (NOISE,))}


def _same_row(lines):
    shortest, smallest = SHORTEST(lines), SMALLEST(lines)
    if not shortest & smallest:
        return {False}
    return {True} if len(shortest) == len(smallest) == 1 else {True, False}


def _formula_holds(lines):
    return _holds(_within(float(line.gap), float(PARTED)) for line in lines if not line.row.parts)


def _more_hold_more(lines):
    pairs = [(one, other) for one in lines for other in lines if one.row.micro_batches > other.row.micro_batches]
    return _holds(_peak(one) > (1 + ALIKE) * _peak(other) for one, other in pairs)


def _as_predicted(lines):
    return _holds(_within(float(abs(_step(line) / line.get("step_time_predicted") - 1)), STEP_OFF) for line in lines)


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
                   'looped_bfs); of two of these, either. "noise" only where no row of your plan has such a cause: where the '
                   'machine was busy besides, the cause counts.', Fraction(1), "reason", reasons,
                   "other-reason", "look at what is peculiar to this row: its slow_stage, its message, its micro-batches."),
    "g": Statement("True or false: the row with the smallest measured bubble is the row with the shortest step.", HALF, "verdict",
                   _same_row, "bubble-is-not-time", "compare the rows of a and c. A bubble is a share of the step, not its "
                   "length."),
    "h": Statement("True or false: in every row with equal stages and free messages the measured bubble is within 1 point of the "
                   "estimate.", HALF, "verdict", _formula_holds, "formula-holds", "leave out the rows with slow_stage above 1 or "
                   "message above 0, and compare the two bubble columns in the others.",
                   "has no row with equal stages and free messages. Take one into your plan"),
    "i": Statement("True or false: of any two rows, the one with more micro-batches holds more activations.", HALF, "verdict",
                   _more_hold_more, "more-is-not-more", "compare the peaks of rows with few and with many micro-batches: how "
                   "many are in flight, and how large is each?",
                   "has no two rows that differ in micro_batches. Take two into your plan"),
    "j": Statement("True or false: in every row the measured step is within 5% of the predicted one.", HALF, "verdict",
                   _as_predicted, "as-predicted", "compare the two columns of step times, in the row of e as well. They are "
                   "predicted by the simulator, which knows slow stages and messages."),
}
