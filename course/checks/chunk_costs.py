"""Notebook 4: what interleaving gains and what it costs, as formulas."""

from fractions import Fraction

from course.checks.fresh import ask_and_confirm, disproof
from course.checks.functions import Slip, close, judge_replies, rounded
from course.checks.numbers import CUT
from course.checks.outcome import Outcome, Step
from course.formulas import activation_factor, boundary_messages, bubble_fraction, bubble_over_ideal

MESSAGES = "It returns a number of messages."
SIZES = ((4, 8, 2), (4, 8, 4), (8, 64, 3), (2, 4, 2), (4, 64, 4), (4, 8, 1), (8, 16, 5))  # p, m, v
FACTORS = ((4, 2), (4, 4), (8, 3), (2, 2), (16, 2), (8, 5))  # p, v

BUBBLE_SLIPS = (
    Slip("over-ideal", "this is (p-1)/m/v, idle over *ideal* time, the Megatron paper's definition. Asked for is idle over "
         "*total*, the fraction that the runs above show.", bubble_over_ideal),
    Slip("fraction-over-v", "this is 1F1B's fraction divided by v. The idle time shrinks to 1/v, but the total shrinks "
         "with it.", lambda p, m, v: bubble_fraction(p, m) / v),
    Slip("stages-as-ranks", "this is the fraction of p v ranks in a row. There are p ranks: fill and drain are p-1 steps, "
         "each of one chunk.", lambda p, m, v: bubble_fraction(p * v, m)),
    Slip("times-v", "v is on the wrong side: idle time does not grow with v.",
         lambda p, m, v: Fraction(v * (p - 1), m + v * (p - 1))),
    Slip("times-v", "this is v times 1F1B's fraction: idle time does not grow with v.",
         lambda p, m, v: v * bubble_fraction(p, m)),
    Slip("v-ignored", "this is the fraction without chunks: v makes no difference in it.",
         lambda p, m, v: bubble_fraction(p, m)),
    Slip("useful-share", "this is the useful share, busy over total. The bubble is the rest.",
         lambda p, m, v: 1 - bubble_fraction(p, m, v)),
    Slip("percent", "this is in percent. A fraction is asked for: divide by 100.",
         lambda p, m, v: 100 * bubble_fraction(p, m, v)),
    Slip("off-by-one", "this counts p steps of fill and drain, or p ranks to wait for. A rank waits for the other p-1.",
         lambda p, m, v: Fraction(p, v * m + p)),
    Slip("swapped", "ranks and micro-batches have changed places: more micro-batches make the bubble smaller, not larger.",
         lambda p, m, v: Fraction(m - 1, v * p + m - 1)),
    Slip("whole-division", f"it gives 0, no bubble at all. {CUT}", lambda p, m, v: 0),
)
PER_DIRECTION = Slip("per-direction", "this is one direction. Activations go forward over each boundary, and gradients come "
                     "back.", lambda p, m, v: m * (p * v - 1))
MESSAGE_SLIPS = (
    PER_DIRECTION,
    Slip("one-boundary-too-many", "p v stages in a row have one boundary less than stages: the loss stays on the last rank.",
         lambda p, m, v: 2 * m * p * v),
    Slip("one-boundary-too-many", "p v stages in a row have one boundary less than stages; and each boundary is crossed in both "
         "directions.", lambda p, m, v: m * p * v),
    Slip("v-times", "this is v times the messages without chunks. It leaves out the way from the last rank back to the "
         "first, from one chunk to the next.", lambda p, m, v: 2 * m * (p - 1) * v),
    Slip("v-times", "this is one direction, v times the messages without chunks: the way from the last rank back to the first is "
         "left out, and the gradients' way.", lambda p, m, v: m * (p - 1) * v),
    Slip("v-ignored", "these are the messages without chunks. There are p v stages, so there are more boundaries.",
         lambda p, m, v: 2 * m * (p - 1)),
    Slip("of-one-micro-batch", "these are the messages of one micro-batch. All m cross every boundary.",
         lambda p, m, v: 2 * (p * v - 1)),
    Slip("boundaries", "this is the number of boundaries. How many messages cross each in a step?", lambda p, m, v: p * v - 1),
    Slip("of-a-middle-rank", "this is what a middle rank sends. Asked for are the messages of all ranks.",
         lambda p, m, v: 2 * m * v),
    Slip("swapped", "ranks and micro-batches have changed places: p comes first, then m.",
         lambda p, m, v: 2 * p * (m * v - 1)),
    Slip("ratio", "this is how many times as many messages there are. Their number is asked for.",
         lambda p, m, v: Fraction(p * v - 1, p - 1)),
)
FACTOR_SLIPS = (
    Slip("divided-by-v", "interleaving does not divide the activations by v. Each chunk holds 1/v of what a stage held, but a "
         "rank has v of them, and in Megatron's longer warm-up more of them are held at once.", lambda p, v: Fraction(1, v)),
    Slip("equal", "this says that the memory stays the same. That is the best case, with a shorter warm-up; Megatron's "
         "holds more: count its warm-up on rank 0. (" + CUT + ")", lambda p, v: 1),
    Slip("percent", "this is in percent. A factor is asked for: divide by 100.", lambda p, v: 100 * activation_factor(p, v)),
    Slip("swapped", "p and v have changed places: p comes first.", lambda p, v: 1 + Fraction(v - 1, p * v)),
    Slip("times-v", "memory does not grow v times: what is held are chunks, each 1/v of a stage.", lambda p, v: v),
    Slip("the-increase", "this is only what is added. The factor is the whole over 1F1B's.", lambda p, v: Fraction(p - 1, p * v)),
    Slip("the-increase", "this is only what is added, in percent. The factor is the whole over 1F1B's.",
         lambda p, v: 100 * Fraction(p - 1, p * v)),
    Slip("a-count", "this is a count of chunks. Turn it into micro-batches of a whole stage, and divide by what rank 0 holds in "
         "1F1B.",
         lambda p, v: p * v + p - 1),
    Slip("a-count", "this is how many micro-batches' worth rank 0 holds. Divide by what it holds in 1F1B.",
         lambda p, v: p + Fraction(p - 1, v)),
    Slip("per-stage", "this divides the p-1 extra chunks by v only: it compares with one micro-batch, not with the p that "
         "rank 0 holds in 1F1B.", lambda p, v: 1 + Fraction(p - 1, v)),
    Slip("v-forgotten", "this counts the p-1 extra chunks as whole stages. A chunk is 1/v of a stage.",
         lambda p, v: 1 + Fraction(p - 1, p)),
    Slip("upside-down", "this is 1F1B's memory over Megatron's: turn it round.", lambda p, v: Fraction(p * v, p * v + p - 1)),
    Slip("minus", "memory grows: the sign is wrong.", lambda p, v: 1 - Fraction(p - 1, p * v)),
    Slip("off-by-one", "this is one chunk short. After the warm-up the first pair begins with a forward: one chunk more is "
         "held.", lambda p, v: 1 + Fraction(p - 2, p * v)),
    Slip("off-by-one", "this is one chunk too many: rank 0 waits for p-1 other ranks, not for p.",
         lambda p, v: 1 + Fraction(1, v)),
)


def _size(random):
    p = random.randint(2, 8)
    return p, p * random.randint(1, 4), random.randint(2, 4)


def _factor_size(random):
    return random.randint(2, 16), random.randint(2, 6)


def check_cost(bubble, messages, factor) -> Outcome:
    """Points for the bubble (1.5), the messages (1.5; half for one direction) and the activations' factor (1)."""
    bubbles = ask_and_confirm(bubble, SIZES, bubble_fraction, _size, close)
    factors = ask_and_confirm(factor, FACTORS, activation_factor, _factor_size, close)
    sent = ask_and_confirm(messages, SIZES, boundary_messages, _size)
    messages_said = judge_replies(
        "boundary_messages", sent, boundary_messages, MESSAGES, "Each of the p v - 1 boundaries is crossed m times forward and m "
        "times back.", MESSAGE_SLIPS, "How many boundaries do p v stages in a row have, and what crosses each in a step?")
    one_direction = messages_said.code == PER_DIRECTION.code
    if one_direction and (other := disproof(messages, "boundary_messages", [PER_DIRECTION], SIZES, boundary_messages, _size,
                                            MESSAGES)):
        one_direction, messages_said = False, other
    found = (
        judge_replies("bubble_interleaved", bubbles, bubble_fraction, "It returns idle over total time.",
                      "A rank still waits for p-1 others, but each wait is one chunk long, 1/v of a stage.", BUBBLE_SLIPS,
                      "In slots of one chunk: how long does each rank work, and for how many slots does it wait?", close),
        messages_said,
        judge_replies("activation_factor", factors, activation_factor, "It returns a factor, above 1 for more.",
                      "p-1 more chunks than the p v that weigh as much as 1F1B's p stages.", FACTOR_SLIPS,
                      "Count rank 0's warm-up in Megatron's order, add one, and compare with 1F1B's p micro-batches.", close),
    )
    shares = [Fraction(message.good) for message in found]
    if one_direction:
        shares[1] = Fraction(1, 2)
    return Outcome(tuple(Step(name, worth, share) for name, worth, share in zip(
        ("bubble_interleaved", "boundary_messages", "activation_factor"), (Fraction(3, 2), Fraction(3, 2), 1), shares,
        strict=True)), (*found, *(rounded(bubbles, bubble_fraction) or rounded(factors, activation_factor))))
