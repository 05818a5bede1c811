"""Notebook 3: the bubble fraction as three functions of p stages and m micro-batches, and two of its values."""

from fractions import Fraction

from course.checks.functions import Slip, ask, first_wrong, judge_replies, no_reply
from course.checks.numbers import fraction_slip, number_step
from course.checks.outcome import Message, Outcome, Step, as_number, is_number, near, show_value
from course.formulas import bubble_fraction, bubble_over_ideal

POINTS = ((1, 1), (4, 8), (1, 6), (2, 1), (8, 4), (3, 7), (5, 40), (16, 128))
ROUNDED = 0.0051  # how far a fraction written with two digits may be from the exact one

TOTAL = "It returns the slots from the first forward to the end of the last backward."
BUSY = "It returns the slots in which one stage works, in the unit of `total_slots`."
FRACTION = "It returns idle over total, a number from 0 to 1."

TOTAL_SLIPS = (
    ("total-off-by-one", "one unit too long. With one stage nobody waits for anybody: what does yours give for p = 1?",
     lambda p, m: m + p),
    ("total-one-too-short", "one unit too short: the last stage waits for every stage before it.", lambda p, m: m + p - 2),
    ("no-bubble", "this is one stage's own work. The step also holds the wait until the first micro-batch reaches the last "
     "stage, and the way back.", lambda p, m: m),
    ("one-at-a-time", "this lets one stage work at a time. While stage 1 has micro-batch 0, stage 0 goes on with micro-batch 1.",
     lambda p, m: m * p),
    ("way-back", "this has the wait on the way to the last stage, but not the way back: after the last stage has ended, the "
     "last gradient still travels to stage 0.", lambda p, m: 2 * m + p - 1),
    ("wait-twice", "this waits too long. While the pipeline fills there are only forwards, and only backwards while it drains: "
     "neither wait is as long as a forward and a backward for each stage.", lambda p, m: m + 2 * (p - 1)),
    ("constant", "it gives the same for every p and m: it is to compute with both.", lambda p, m: 1),
)
BUSY_SLIPS = (
    ("is-total", "this is as long as the whole step. Busy is only what one stage computes itself.", lambda p, m: m + p - 1),
    ("is-idle", "this is the time that a stage waits. Busy is the rest.", lambda p, m: p - 1),
    ("counts-stages", "this grows with the stages. One stage computes each micro-batch, however many other stages there are.",
     lambda p, m: p),
    ("busy-one-too-few", "one micro-batch is missing.", lambda p, m: m - 1),
    ("constant", "it gives the same for every p and m: it is to compute with them.", lambda p, m: 1),
)
FRACTION_SLIPS = (
    Slip("over-ideal", "that is idle over ideal time, the time of the work alone; the question is over total.",
         bubble_over_ideal),
    Slip("over-ideal", "that is over ideal time, and one stage too many waits: a single stage has no bubble at all.",
         lambda p, m: Fraction(p, m)),
    Slip("over-stages", "this grows with p and does not see m: it is the bubble of a batch that is not cut. More micro-batches "
         "fill it.", lambda p, m: Fraction(p - 1, p)),
    Slip("off-by-one", "one stage too many waits: a single stage has no bubble at all.",
         lambda p, m: Fraction(p, m + p)),
    Slip("idle-too-long", "the idle time is too long by one wait: a single stage has no bubble at all.",
         lambda p, m: Fraction(p, m + p - 1)),
    Slip("total-off-by-one", "the idle time is right, the total is one unit too long.", lambda p, m: Fraction(p - 1, m + p)),
    Slip("upside-down", "it is upside down: total over idle. A fraction of the time is at most 1.",
         lambda p, m: Fraction(m + p - 1, p - 1)),
    Slip("percent", "this is in percent. A fraction is asked for: divide by 100.", lambda p, m: 100 * bubble_fraction(p, m)),
    Slip("useful-share", "this is the useful share, busy over total. The bubble is the rest.",
         lambda p, m: 1 - bubble_fraction(p, m)),
    Slip("swapped", "stages and micro-batches have changed places: more micro-batches make the bubble smaller, not larger.",
         lambda p, m: Fraction(m - 1, m + p - 1)),
    Slip("units-mixed", "the idle time is in single slots and the total in pairs of F and B: one unit for both.",
         lambda p, m: 2 * bubble_fraction(p, m)),
    Slip("units-mixed", "the total is in single slots and the idle time in pairs of F and B: one unit for both.",
         lambda p, m: bubble_fraction(p, m) / 2),
    Slip("stages-mixed", "the idle time is that of all stages, the total that of one: take one stage for both, or all.",
         lambda p, m: p * bubble_fraction(p, m)),
    Slip("stages-mixed", "the total is that of all stages, the idle time that of one: take one stage for both, or all.",
         lambda p, m: bubble_fraction(p, m) / p),
    Slip("total-over-busy", "this is total over busy, at least 1. The bubble is idle over total.",
         lambda p, m: Fraction(m + p - 1, m)),
    Slip("a-count", "this is a number of idle slots: divide it by the slots of the step.", lambda p, m: p - 1),
    Slip("a-count", "this is a number of idle slots: divide it by the slots of the step.", lambda p, m: 2 * (p - 1)),
    Slip("whole-division", "`//` drops what is behind the point: `/` keeps it.", lambda p, m: 0),
)


def check_derive(total, busy, fraction) -> Outcome:
    """Points for total_slots (3), busy_slots (2; 1 in another unit than the total), bubble_fraction (1 for what follows from
    one's own slots, 2 more when it is right). Any unit: slots, pairs of F and B, one stage or all of them."""
    totals, busies, fractions = (_numbers(ask(answer, POINTS)) for answer in (total, busy, fraction))
    total_said, total_unit = _judge_slots("total_slots", totals, lambda p, m: m + p - 1, TOTAL, TOTAL_SLIPS)
    busy_said, busy_unit = _judge_slots("busy_slots", busies, lambda p, m: m, BUSY, BUSY_SLIPS)
    same_unit = not (total_unit and busy_unit) or total_unit == busy_unit
    if not same_unit:
        busy_said = _units_message(total_unit, busy_unit)
    fraction_said = judge_replies("bubble_fraction", fractions, bubble_fraction, FRACTION, "Idle over total, for every p and m.",
                                  [*FRACTION_SLIPS, *_constant(fractions)],
                                  f"{FRACTION} Ask it for p = 1, and for m much larger than p.", _close)
    messages = [total_said, busy_said, fraction_said]
    right = fraction_said.good
    follows = (total_unit or busy_unit) is not None and _follows(totals, busies, fractions)
    if follows and not right:
        messages.append(Message("follows-own", "It follows from your own `total_slots` and `busy_slots`. Mend those, and it is "
                                "mended too where it calls them.", good=True))
    if right and first_wrong(fractions, bubble_fraction) is not None:
        messages.append(Message("rounded", "Rounded values are taken. Others compute with them: return the value as it is.",
                                good=True))
    steps = (Step("total_slots", 3, total_unit is not None),
             Step("busy_slots, in the same unit", 2, 0 if busy_unit is None else 1 if same_unit else Fraction(1, 2)),
             Step("bubble_fraction is idle over total by your own slots", 1, right or follows),
             Step("bubble_fraction is right", 2, right))
    return Outcome(steps, tuple(messages))


def _numbers(replies):
    """Numbers that were written as text, read."""
    return {point: as_number(reply) if as_number(reply) is not None else reply for point, reply in replies.items()}


def _constant(replies):
    return [Slip("constant", "it gives the same for every p and m: it is to compute with both.", lambda p, m: replies[POINTS[0]])
            ] * is_number(replies.get(POINTS[0]))


def _close(value, target):
    return near(value, target, ROUNDED)


def _scaled(shape, replies):
    """The shape times the factor that fits its first reply; None where no reply has a factor above 0."""
    for point, reply in replies.items():
        if is_number(reply) and reply > 0 and shape(*point) > 0:
            factor = Fraction(reply) / shape(*point)
            return lambda p, m: factor * shape(p, m)
    return None


def _judge_slots(name, replies, shape, wanted, slips):
    """(message, unit): the unit is (one stage or all, factor), None when the function is wrong in every unit."""
    for stages, grown in (("one stage", shape), ("all stages", lambda p, m: p * shape(p, m))):
        truth = _scaled(grown, replies)
        if truth and len(replies) == len(POINTS) and first_wrong(replies, truth) is None:
            return Message(f"{name}-right", "Right for every p and m, one stage and one micro-batch included.", good=True), (
                stages, _as_float(truth(1, 1)))
    usable = {point: reply for point, reply in replies.items() if no_reply(name, point, reply, wanted) is None}
    found = [Slip(code, text, scaled) for code, text, formula in slips if (scaled := _scaled(formula, usable))]
    truth = _scaled(shape, usable) or shape
    return judge_replies(name, replies, truth, wanted, "", found, _advice(name, usable, wanted)), None


def _as_float(factor):
    try:
        return round(float(factor), 9)
    except OverflowError:
        return float("inf")


def _advice(name, replies, wanted):
    unit = replies.get(POINTS[0])
    if not is_number(unit) or unit <= 0:
        return wanted
    return (f"{wanted} With one stage and one micro-batch yours gives {show_value(unit)}: that is the time of one forward and "
            "one backward, the unit for all other sizes.")


def _units_message(total, busy):
    if total[0] != busy[0]:
        return Message("units-differ", f"`busy_slots` counts {busy[0]}, `total_slots` {total[0]}: take the same for both.")
    return Message("units-differ", f"For one forward and one backward `total_slots` counts {total[1]:g} and `busy_slots` "
                   f"{busy[1]:g}: one unit for both, or their ratio means nothing.")


def _follows(totals, busies, fractions):
    """Whether the fraction is idle over total by the learner's own slots, wherever all three are numbers."""
    triples = [(totals.get(point), busies.get(point), fractions.get(point)) for point in POINTS]
    return all(is_number(total) and is_number(busy) and total > 0 and _close(fraction, 1 - Fraction(busy) / Fraction(total))
               for total, busy, fraction in triples)


def check_use(first, second) -> Outcome:
    """Points for the bubble fraction of 4 stages and 8 micro-batches (2) and of 8 stages and 64 (2)."""
    values = first.value(), second.value()
    exchanged = _is(as_number(values[0]), 8, 64) and _is(as_number(values[1]), 4, 8)
    return Outcome(*zip(*(
        number_step(f"{p} stages, {m} micro-batches", 2, value, f"bubble_{p}_{m}",
                    lambda number, p=p, m=m: _use_message(number, p, m, exchanged))
        for value, (p, m) in zip(values, ((4, 8), (8, 64)), strict=True)), strict=True))


def _is(value, p, m):
    """Three digits tell every slip apart; two do for the larger number."""
    return near(value, bubble_fraction(p, m), 0.001) or (p == 4 and near(value, 0.27, 1e-9))


def _use_message(value, p, m, exchanged):
    right = bubble_fraction(p, m)
    if _is(value, p, m):
        return Message("fraction-right", f"p = {p}, m = {m}: idle over total.", good=True)
    if exchanged:
        return Message("exchanged", f"The two answers have changed places: this one is asked for p = {p} and m = {m}.")
    for slip in (slip for slip in FRACTION_SLIPS if slip.code not in ("percent", "useful-share", "whole-division")):
        if near(value, slip.formula(p, m), 0.001):
            return Message(slip.code, f"p = {p}, m = {m}: {slip.text}")
    found = fraction_slip(value, right)
    if found:
        return found
    if near(value, right, 0.005):
        return Message("rounded-too-far", f"p = {p}, m = {m}: found {show_value(value)}, rounded too far to tell right from "
                       "nearly right. Write a fraction, or three digits after the point.")
    return Message("fraction-wrong", f"p = {p}, m = {m}: found {show_value(value)}. Ask your own `bubble_fraction`, or count "
                   "one stage: how long it is idle, and how long the step is.")
