"""Notebook 3: the way from a drawing to the bubble fraction, one formula after the other. Practice, without points."""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import NamedTuple

from course.answers import UNANSWERED
from course.checks.functions import Slip, ask, judge_replies
from course.checks.outcome import Message, Outcome, Step
from course.formulas import bubble_fraction, busy_slots, idle_slots, total_slots


class Formula(NamedTuple):
    """One step: what is asked for, the right formula of p and m, why it is so, the tempting wrong ones."""

    asked: str
    truth: Callable
    reason: str
    slips: tuple[Slip, ...]


FORMULAS = {
    "start": Formula(
        "the slots before the last stage can start its first forward", lambda p, m: p - 1,
        "micro-batch 0 has to pass every stage before the last one.",
        (Slip("counts-itself", "the last stage does not wait for itself: count the stages before it.", lambda p, m: p),
         Slip("waits-for-all", "it starts as soon as the first micro-batch is there, not all of them.", lambda p, m: m),
         Slip("waits-for-all", "it starts as soon as the first micro-batch is there, not all of them.",
              lambda p, m: m + p - 1))),
    "forwards": Formula(
        "the slots until the last stage has ended its last forward", lambda p, m: m + p - 1,
        "once it has started, the last stage does one forward a slot, without a gap.",
        (Slip("off-by-one", "one slot too many: your wait of step `start`, and then one slot for each micro-batch.",
              lambda p, m: m + p),
         Slip("off-by-one", "one slot too few: your wait of step `start`, and then one slot for each micro-batch.",
              lambda p, m: m + p - 2),
         Slip("no-wait", "that is the last stage's own work, without its wait.", lambda p, m: m),
         Slip("one-at-a-time", "that lets one stage work at a time; they work at the same time, on different micro-batches.",
              lambda p, m: m * p))),
    "total": Formula(
        "the slots of the whole step", total_slots,
        "the backwards are the forwards in a mirror: as long, and from the last stage to the first.",
        (Slip("way-back", "the way back is not in it: the last gradient has to travel from the last stage to stage 0.",
              lambda p, m: 2 * m + p - 1),
         Slip("half", "that is the way there. The backwards take as long again.", lambda p, m: m + p - 1),
         Slip("no-wait", "that is one stage's work, without the time in which it waits.", lambda p, m: 2 * m),
         Slip("off-by-one", "too long: for one stage and one micro-batch it is more than one forward and one backward.",
              lambda p, m: 2 * (m + p)))),
    "busy": Formula(
        "the slots in which one stage works", lambda p, m: busy_slots(m),
        "each micro-batch passes each stage twice, on every stage alike.",
        (Slip("half", "those are the forwards. There are as many backwards.", lambda p, m: m),
         Slip("all-stages", "those are the slots of all stages together; one stage is asked for.", lambda p, m: 2 * m * p))),
    "idle": Formula(
        "the slots in which one stage waits", lambda p, m: idle_slots(p),
        "what is left of the step without its work no longer depends on m.",
        (Slip("half", "that is the wait while the pipeline fills. It drains as well.", lambda p, m: p - 1),
         Slip("counts-itself", "one stage too many: with one stage nobody waits.", lambda p, m: 2 * p),
         Slip("all-stages", "those are the slots of all stages together; one stage is asked for.",
              lambda p, m: 2 * p * (p - 1)))),
    "fraction": Formula(
        "the bubble fraction: idle over total", bubble_fraction, "the unit cancels out, be it a slot or a millisecond.",
        (Slip("over-ideal", "that is idle over busy. Total is busy and idle together.", lambda p, m: Fraction(p - 1, m)),
         Slip("useful-share", "that is busy over total: the rest is the bubble.", lambda p, m: 1 - bubble_fraction(p, m)),
         Slip("units-mixed", "idle and total are not in one unit: the wait of fill and drain goes over the whole step.",
              lambda p, m: bubble_fraction(p, m) / 2))),
}


def sizes(key: str, count: int = 8) -> list[tuple[int, int]]:
    """The (p, m) at which a step is tried: drawn at random, the same ones each time, and one stage among them."""
    random = Random(key)
    return [*((random.randint(2, 9), random.randint(1, 20)) for _ in range(count)), (1, random.randint(2, 20))]


def judge_step(key: str, answer) -> Outcome:
    """Whether a formula of p and m is that of the step `key`. ValueError when there is no such step."""
    if key not in FORMULAS:
        raise ValueError(f"there is no step {key!r}; there are {', '.join(FORMULAS)}")
    formula = FORMULAS[key]
    wanted = f"It gives {formula.asked}, from p and m."
    replies = ask(answer, sizes(key))
    if UNANSWERED in replies.values():
        return Outcome((Step(key, 1, False),), (Message("unanswered", "Write the formula in place of `...` and run the cell. "
                                                        f"{wanted}"),))
    said = judge_replies("formula", replies, formula.truth, wanted,
                         f"Tried at {len(sizes(key))} sizes. The reason: {formula.reason}", formula.slips, wanted)
    return Outcome((Step(key, 1, said.good),), (said,))
