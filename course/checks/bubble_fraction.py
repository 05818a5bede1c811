"""Notebook 3: the bubble fraction as three functions of p stages and m micro-batches, and two of its values."""

from collections import Counter
from fractions import Fraction
from functools import partial

from course.checks.fresh import ask_and_confirm, confirm, drawn, pipeline
from course.checks.functions import Slip, ask, close, first_wrong, judge_replies, no_reply, rounded
from course.checks.numbers import CUT, fraction_slip, number_step
from course.checks.outcome import Message, Outcome, Step, as_number, near, show_value
from course.formulas import bubble_fraction, bubble_over_ideal

POINTS = ((1, 1), (4, 8), (1, 6), (2, 1), (8, 4), (3, 7), (5, 40), (16, 128))
NEARLY = Fraction(1, 10**9)  # how far apart two factors of floats may be, of one of them
MOST_SLOTS = 4  # of a forward and a backward together, in a unit that somebody may have meant

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
    ("constant", "it gives the same for every p and m. Does a step take as long whatever they are?", lambda p, m: 1),
)
BY_ONE_SLOT = (
    Slip("total-slot-too-short", "one slot too short for every p and m. Is the first slot counted, or only the number of the "
         "last one returned? Slots are counted from 0.", lambda p, m: 2 * (m + p - 1) - 1),
    Slip("total-slot-too-long", "one slot too long for every p and m: with one stage and one micro-batch there are one forward "
         "and one backward.", lambda p, m: 2 * (m + p - 1) + 1),
)
BUSY_SLIPS = (
    ("is-total", "this is as long as the whole step. Busy is only what one stage computes itself.", lambda p, m: m + p - 1),
    ("is-idle", "this is the time that a stage waits. Busy is the rest.", lambda p, m: p - 1),
    ("counts-stages", "this grows with the stages. One stage computes each micro-batch, however many other stages there are.",
     lambda p, m: p),
    ("busy-one-too-few", "one micro-batch is missing.", lambda p, m: m - 1),
    ("constant", "it gives the same for every step. Does one stage work as long in each of them?", lambda p, m: 1),
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
    Slip("units-mixed", "the work is in single slots and the wait in pairs of F and B: one unit for both.",
         lambda p, m: Fraction(p - 1, 2 * m + p - 1)),
    Slip("m-is-p", "this is the fraction of as many micro-batches as stages: m is a number of its own.",
         lambda p, m: Fraction(p - 1, 2 * p - 1)),
    Slip("whole-division", f"it gives 0 for every size, no bubble at all. {CUT}", lambda p, m: 0),
)


def check_derive(total, busy, fraction) -> Outcome:
    """Points for total_slots (3), busy_slots (2; 1 in another unit than the total), bubble_fraction (1 for what follows from
    one's own slots, 2 more when it is right). Any unit: slots, pairs of F and B, one stage or all of them."""
    totals, busies = ask(total, POINTS), ask(busy, POINTS)
    fractions = ask_and_confirm(fraction, POINTS, bubble_fraction, pipeline, close)
    total_said, total_unit = _judge_slots("total_slots", total, totals, lambda p, m: m + p - 1, TOTAL, TOTAL_SLIPS, BY_ONE_SLOT)
    busy_said, busy_unit = _judge_slots("busy_slots", busy, busies, lambda p, m: m, BUSY, BUSY_SLIPS)
    same_unit = not (total_unit and busy_unit) or total_unit == busy_unit
    if not same_unit:
        busy_said = _units_message(total_unit, busy_unit)
    fraction_said = judge_replies("bubble_fraction", fractions, bubble_fraction, FRACTION, "idle over total, for every p and m.",
                                  [*FRACTION_SLIPS, *_constant(fractions)],
                                  f"{FRACTION} Ask it for p = 1, and for m much larger than p.", close)
    messages = [total_said, busy_said, fraction_said, *rounded(fractions, bubble_fraction)]
    right = fraction_said.good
    follows = (total_unit or busy_unit) is not None and _follows(totals, busies, fractions, POINTS)
    if follows and not right and (more := drawn(total, pipeline, POINTS)):
        follows = _follows(*(ask(answer, more) for answer in (total, busy, fraction)), more)
    if follows and not right:
        messages.append(Message("follows-own", "It follows from your own `total_slots` and `busy_slots`. Mend those, and it is "
                                "mended too where it calls them.", good=True))
    steps = (Step("total_slots", 3, total_unit is not None),
             Step("busy_slots, in the same unit", 2, 0 if busy_unit is None else 1 if same_unit else Fraction(1, 2)),
             Step("bubble_fraction is idle over total, or follows from your own slots", 1, right or follows),
             Step("bubble_fraction is right", 2, right))
    return Outcome(steps, tuple(messages))


def _constant(replies):
    first = as_number(replies.get(POINTS[0]))
    return [] if first is None else [Slip("constant", "it gives the same for every p and m: it is to compute with both.",
                                          lambda p, m: first)]


def _factors(shape, replies):
    """By which factors the shape gives the replies above 0, the commonest first; on a tie single slots before pairs."""
    counts = Counter(Fraction(number) / shape(*point) for point, reply in replies.items()
                     if (number := as_number(reply)) is not None and number > 0 < shape(*point))
    close_to = {factor: sum(count for other, count in counts.items() if abs(other - factor) <= factor * NEARLY)
                for factor in counts}
    return sorted(counts, key=lambda factor: (-close_to[factor], factor != 2, factor != 1))


def _scaled(shape, replies):
    """The shape in the unit that fits most replies; None where no reply is a number above 0."""
    factors = _factors(shape, replies)
    return (lambda p, m: factors[0] * shape(p, m)) if factors else None


def _in_slots(shape, p, m):
    return 2 * shape(p, m)


def _judge_slots(name, answer, replies, shape, wanted, slips, in_slots=()):
    """(message, unit): the unit is (one stage or all, factor), None when the function is wrong in every unit.

    `slips` are wrong in any unit, `in_slots` in slots.
    """
    meant = shape
    for stages, grown in (("one stage", shape), ("all stages", lambda p, m: p * shape(p, m))):
        truth = _scaled(grown, replies)
        if truth and len(replies) == len(POINTS) and first_wrong(replies, truth, _in_its_unit) is None:
            replies = replies | confirm(answer, POINTS, replies, truth, pipeline, _in_its_unit)
            if first_wrong(replies, truth, _in_its_unit) is not None:
                meant = grown
                break
            unit = stages, _as_float(truth(1, 1))
            return Message(f"{name}-right", f"`{name}`: right for every p and m, one stage and one micro-batch "
                           f"included{_in_unit(unit)}.", good=True), unit
    usable = {point: reply for point, reply in replies.items() if no_reply(name, point, reply, wanted) is None}
    found = [Slip(code, text, scaled) for code, text, formula in slips if (scaled := _scaled(formula, usable))]
    truth = _scaled(meant, usable)
    if truth is None or not _at_most_sizes(usable, truth):
        truth = partial(_in_slots, meant)
    found += in_slots
    return judge_replies(name, replies, truth, wanted, "", found, _advice(usable, truth, wanted), _in_its_unit), None


def _in_its_unit(value, target):
    """Whether a reply is the target, which is above 0, up to the rounding of floats: small units are no excuse."""
    return near(as_number(value), target, target * NEARLY)


def _in_unit(unit):
    """In which unit it is right, where that is not one slot of one stage."""
    stages, factor = unit
    parts = [f"counted over {stages}"] * (stages != "one stage")
    if factor != 2:
        parts.append("in pairs of a forward and a backward" if factor == 1 else
                     f"in a unit of which one forward and one backward take {factor:g}")
    return "".join(f", {part}" for part in parts)


def _as_float(factor):
    try:
        return round(float(factor), 9)
    except OverflowError:
        return float("inf")


def _advice(replies, truth, wanted):
    """In which unit it is right at most other sizes, where that is one that somebody may have meant."""
    unit = Fraction(truth(1, 1))
    if not _at_most_sizes(replies, truth) or unit > MOST_SLOTS or 2 * unit % 1:
        return f"{wanted} Count it in a drawing of this size."
    return (f"{wanted} At most other sizes yours is right, if one forward and one backward together count as "
            f"{show_value(unit)}.")


def _at_most_sizes(replies, truth):
    """Whether it is right at more than half of the sizes: a unit that fits fewer of them fits by chance."""
    return 2 * sum(_in_its_unit(reply, truth(*point)) for point, reply in replies.items()) > len(replies)


def _units_message(total, busy):
    if total[0] != busy[0]:
        return Message("units-differ", f"`busy_slots` counts {busy[0]}, `total_slots` {total[0]}: take the same for both.")
    return Message("units-differ", f"For one forward and one backward `total_slots` counts {total[1]:g} and `busy_slots` "
                   f"{busy[1]:g}: one unit for both, or their ratio means nothing.")


def _follows(totals, busies, fractions, points):
    """Whether the fraction is idle over total by the learner's own slots, wherever all three are numbers."""
    triples = [tuple(as_number(replies.get(point)) for replies in (totals, busies, fractions)) for point in points]
    return all(None not in triple and triple[0] > 0 and close(triple[2], 1 - Fraction(triple[1]) / Fraction(triple[0]))
               for triple in triples)


def check_use(first, second) -> Outcome:
    """Points for the bubble fraction of 4 stages and 8 micro-batches (2) and of 8 stages and 64 (2)."""
    values = first.value(), second.value()
    exchanged = _is(as_number(values[0]), 8, 64) and _is(as_number(values[1]), 4, 8)
    return Outcome(*zip(*(
        number_step(f"{p} stages, {m} micro-batches", 2, value, f"bubble_{p}_{m}",
                    lambda number, p=p, m=m: _use_message(number, p, m, exchanged))
        for value, (p, m) in zip(values, ((4, 8), (8, 64)), strict=True)), strict=True))


def _is(value, p, m):
    """Three digits, rounded or cut off, tell every slip apart."""
    return near(value, bubble_fraction(p, m), 0.001)


def _use_message(value, p, m, exchanged):
    right = bubble_fraction(p, m)
    if _is(value, p, m):
        return Message("fraction-right", f"idle over total, for p = {p} and m = {m}.", good=True)
    if exchanged:
        return Message("exchanged", f"the two answers have changed places: this one is asked for p = {p} and m = {m}.")
    for slip in (slip for slip in FRACTION_SLIPS if slip.code not in ("percent", "useful-share", "whole-division")):
        if near(value, slip.formula(p, m), 0.001):
            return Message(slip.code, f"{slip.text} (p = {p}, m = {m}.)")
    return fraction_slip(value, right) or Message(
        "fraction-wrong", f"not the bubble of p = {p} and m = {m}. Ask your own `bubble_fraction`, or count one stage: how long "
        "it is idle, and how long the step is.")
