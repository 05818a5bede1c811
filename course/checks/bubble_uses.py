"""Notebook 3: the formula turned round for the micro-batches that it takes, and the bubble's other definition."""

import math
from fractions import Fraction

from course.answers import Raised
from course.checks.fresh import ask_and_confirm, confirm, disproof, drawn, pipeline
from course.checks.functions import Slip, ask, call, close, first_wrong, judge_replies, rounded, same
from course.checks.numbers import CUT
from course.checks.outcome import Message, Outcome, Step
from course.formulas import bubble_fraction, bubble_over_ideal, micro_batches_needed, to_fraction_of_total

# Away from equality, where right algebra in floats may be one too high; but for 1/2 and 1/4, in which floats do not round.
SEVERAL = ((4, 0.11), (8, 0.075), (16, 0.032), (2, 0.3), (8, 0.42), (2, 0.6), (5, 0.12), (4, 0.5), (5, 0.25), (9, 0.25),
           (33, 0.0127))
ONE = ((1, 0.2), (1, 0.9))
MICRO_BATCHES = "It returns the smallest number of micro-batches with which the bubble is at most `fraction` of the total."
OVER_IDEAL = "It returns idle over ideal time, for p stages and m micro-batches."
OF_TOTAL = "It takes idle over ideal time and returns idle over total time."


def exact(p, fraction):
    """The m, not a whole one, at which the bubble is exactly this fraction."""
    fraction = Fraction(fraction).limit_denominator(10**9)
    return (p - 1) * (1 - fraction) / fraction


def _percent(p, fraction):
    return math.ceil(exact(p, Fraction(fraction).limit_denominator(10**9) / 100))


def _useful(p, fraction):
    return (p - 1) * Fraction(fraction).limit_denominator(10**9) / (1 - Fraction(fraction).limit_denominator(10**9))


def _over(numerator):
    return lambda p, fraction: numerator(p) / Fraction(fraction).limit_denominator(10**9)


def _each_way(code, text, formula):
    """A wrong formula as it is, rounded up and rounded down."""
    return [Slip(code, text, formula), *(Slip(code, text, lambda p, fraction, way=way: max(1, way(formula(p, fraction))))
                                         for way in (math.ceil, math.floor))]


def _below(p, fraction):
    """The smallest m whose bubble is below the fraction."""
    return max(1, math.floor(exact(p, fraction)) + 1)


NEARLY = (
    *(Slip("one-too-few", "one too few, at least where the bubble cannot be exactly the fraction: it is then still above it. "
           "Round up.", formula) for formula in (lambda p, fraction: math.floor(exact(p, fraction)),
                                           lambda p, fraction: max(1, math.floor(exact(p, fraction))),
                                           lambda p, fraction: max(1, math.ceil(exact(p, fraction)) - 1))),
    Slip("strict", "this is the first m whose bubble is below the fraction. \"At most\" takes in a bubble that is exactly the "
         "fraction, such as 1/2.", _below),
    Slip("one-too-many", "one too many: one fewer already brings the bubble down to the fraction.",
         lambda p, fraction: math.ceil(exact(p, fraction)) + 1),
    Slip("one-too-many", "one too many: one fewer already brings the bubble down to the fraction.",
         lambda p, fraction: math.floor(exact(p, fraction)) + 2),
    Slip("starts-at-p", "it never returns fewer than p micro-batches. A large bubble takes fewer: m may be less than p.",
         lambda p, fraction: max(p, micro_batches_needed(p, fraction))),
    *(Slip("not-whole", "the algebra is right, but micro-batches come whole: which way must you round?", formula)
      for formula in (exact, lambda p, fraction: max(1, exact(p, fraction)))),
    Slip("nearest", "rounding to the nearest number is sometimes one too few: the bubble is then above the fraction.",
         lambda p, fraction: max(1, round(exact(p, fraction)))),
)
INVERSE_SLIPS = (
    *NEARLY,
    *_each_way("over-ideal", "this is (p-1)/fraction: either the bubble over ideal time, where the fraction is of the total, or "
               "m + p - 1 in place of m.", _over(lambda p: p - 1)),
    *_each_way("off-by-one", "this waits for p stages in place of p - 1.",
               lambda p, fraction: exact(p + 1, fraction)),
    *_each_way("off-by-one", "this waits for p stages in place of p - 1.", _over(lambda p: p)),
    Slip("percent", "this takes the fraction for a percentage: 10% comes as 0.1.", _percent),
    *_each_way("useful-share", "this brings the useful share down to the fraction. The bubble is the other part.", _useful),
    Slip("always-one", "it returns 1 whatever it is asked. It is called with p first and the fraction second: are they in this "
         "order in its `def`?", lambda p, fraction: 1),
)


def _between_two(random):
    """Several stages and a fraction that no whole m, and none and a half, nearly gives: floats then round as they should."""
    while True:
        point = random.randint(2, 32), random.randint(20, 700) / 1000
        if 0.2 < exact(*point) % 1 < 0.8 and abs(exact(*point) % 1 - 0.5) > 0.01:
            return point


def check_inverse(answer) -> Outcome:
    """Points for the smallest m with several stages (2; 1 when one beside it, not whole, or too deep a recursion for many
    micro-batches), and for one stage (1)."""
    replies = ask(answer, SEVERAL + ONE)
    several = {point: reply for point, reply in replies.items() if point in SEVERAL}
    several |= confirm(answer, SEVERAL, replies, micro_batches_needed, _between_two)
    right = len(several) >= len(SEVERAL) and first_wrong(several, micro_batches_needed) is None
    alone = {point: reply for point, reply in replies.items() if point in ONE}
    alone |= confirm(answer, ONE, replies, micro_batches_needed, lambda random: (1, random.randint(5, 95) / 100))
    single = len(alone) >= len(ONE) and first_wrong(alone, micro_batches_needed) is None
    said = judge_replies("micro_batches_needed", several, micro_batches_needed, MICRO_BATCHES,
                         "the smallest m, never one too few.", INVERSE_SLIPS,
                         f"{MICRO_BATCHES} Put yours into your `bubble_fraction`: it must be at most the fraction, and with one "
                         "micro-batch fewer above it.")
    deep = None if right else _too_deep(answer, several)
    said = deep or said
    nearly = [] if right or deep else [slip for slip in NEARLY if slip.code == said.code]
    if nearly and (other := disproof(answer, "micro_batches_needed", nearly, SEVERAL, micro_batches_needed, _between_two,
                                     MICRO_BATCHES)):
        nearly, said = [], other
    messages = [said]
    if (right or deep) and not single:
        messages.append(_one_stage_message(alone))
    steps = (Step("several stages", 2, 1 if right else Fraction(1, 2) if nearly or deep else 0),
             Step("one stage", 1, single and bool(right or nearly or deep)))
    return Outcome(steps, tuple(messages))


def _too_deep(answer, replies):
    """The message for a function that is right but where it calls itself more often than Python lets it; None for another."""
    replies = replies | ask(answer, drawn(answer, _between_two, SEVERAL))
    deep = [point for point, reply in replies.items() if isinstance(reply, Raised) and reply.type == "RecursionError"]
    others = {point: reply for point, reply in replies.items() if point not in deep}
    if not deep or len(deep) > len(others) or first_wrong(others, micro_batches_needed) is not None:
        return None
    at = call("micro_batches_needed", deep[0])
    return Message("calls-itself-too-often", f"{at}: right where few micro-batches are needed. "
                   "Here it calls itself more often than Python lets a function. A loop does the same without that limit, a "
                   "formula without the steps.")


def _one_stage_message(replies):
    if all(same(reply, 0) for reply in replies.values()):
        return Message("one-stage-zero", "For one stage it returned 0. There is no bubble, but a step needs at least one "
                       "micro-batch.")
    said = judge_replies("micro_batches_needed", replies, micro_batches_needed, MICRO_BATCHES, "")
    return Message("one-stage", f"One stage has no bubble. {said.text}")


OVER_IDEAL_SLIPS = (
    Slip("over-total", "this is idle over total, as before. Ideal is the time that the step would take without any bubble.",
         bubble_fraction),
    Slip("off-by-one", "one stage too many waits: a single stage has no bubble at all.", lambda p, m: Fraction(p, m)),
    Slip("over-stages", "ideal time does not depend on the stages: it is the work of one of them.",
         lambda p, m: Fraction(p - 1, p)),
    Slip("total-over-ideal", "this is total over ideal: the idle part alone is asked for.",
         lambda p, m: Fraction(m + p - 1, m)),
    Slip("upside-down", "it is upside down: ideal over idle.", lambda p, m: Fraction(m, p - 1)),
    Slip("percent", "this is in percent: divide by 100.", lambda p, m: 100 * bubble_over_ideal(p, m)),
    Slip("units-mixed", "idle and ideal are not in one unit: pairs of F and B, or slots, for both.",
         lambda p, m: 2 * bubble_over_ideal(p, m)),
    Slip("units-mixed", "idle and ideal are not in one unit: pairs of F and B, or slots, for both.",
         lambda p, m: bubble_over_ideal(p, m) / 2),
    Slip("stages-mixed", "the work of all stages stands under the idle time of one: take one stage for both, or all.",
         lambda p, m: bubble_over_ideal(p, m) / p),
    Slip("swapped", "stages and micro-batches have changed places: more micro-batches make the bubble smaller, not larger.",
         lambda p, m: Fraction(m - 1, p)),
    Slip("useful-share", "this is the useful share, busy over total.", lambda p, m: Fraction(m, m + p - 1)),
    Slip("whole-division", f"it comes as a whole number. {CUT}", lambda p, m: (p - 1) // m),
    Slip("whole-division", f"it gives 0 for every size, no bubble at all. {CUT}", lambda p, m: 0),
)
OF_TOTAL_SLIPS = (
    Slip("other-way", "this goes the other way, from the fraction of the total to that of the ideal.", lambda x: x / (1 - x)),
    Slip("useful-share", "this is the useful share: ideal over total.", lambda x: 1 / (1 + x)),
    Slip("unchanged", "it returns what it was given. Total is longer than ideal, so the fraction of it is smaller.", lambda x: x),
    Slip("total-over-ideal", "this is total over ideal. Idle over total is asked for.", lambda x: 1 + x),
    Slip("upside-down", "it is upside down: total over idle.", lambda x: (1 + x) / x),
    Slip("one-minus", "1 - x is no time over another: ideal is 1, idle is x, total is both.", lambda x: 1 - x),
    Slip("percent", "this is in percent: divide by 100.", lambda x: 100 * to_fraction_of_total(x)),
    Slip("whole-division", f"it gives 0 for every x, no bubble at all. {CUT}", lambda x: 0),
)


def check_definitions(over_ideal, of_total) -> Outcome:
    """Points for the bubble over ideal time (1) and for the way from there to the fraction of the total (1)."""
    sizes = ((4, 8), (1, 1), (8, 64), (2, 5), (7, 3))
    shares = tuple((float(bubble_over_ideal(p, m)),) for p, m in (*sizes, (9, 4), (8, 7)))
    ideals = ask_and_confirm(over_ideal, sizes, bubble_over_ideal, pipeline, close)
    totals = ask_and_confirm(of_total, shares, to_fraction_of_total,
                             lambda random: (float(bubble_over_ideal(*pipeline(random))),), close)
    first = judge_replies("bubble_over_ideal", ideals, bubble_over_ideal, OVER_IDEAL, "idle time over the time of the work.",
                          OVER_IDEAL_SLIPS, like=close)
    second = judge_replies("to_fraction_of_total", totals, to_fraction_of_total, OF_TOTAL,
                           "ideal is 1, idle is x, total is both.", OF_TOTAL_SLIPS,
                           f"{OF_TOTAL} Let ideal be 1: how long are idle and total then?", close)
    notes = rounded(ideals, bubble_over_ideal) or rounded(totals, to_fraction_of_total)
    return Outcome((Step("bubble_over_ideal", 1, first.good), Step("to_fraction_of_total", 1, second.good)),
                   (first, second, *notes))
