"""Notebook 2: the order of 1F1B as a function, asked at many sizes: legality, length, memory and pattern decide."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from course.checks.functions import Slip, call, slip_of
from course.checks.one_f_one_b_sizes import ALIKE, ORDINARY, SMALL, ordinary, small
from course.checks.orders import (
    NoOrder,
    ask_orders,
    read_order,
    schedule_from,
    whole_backwards,
)
from course.checks.outcome import Message, Outcome, Step
from course.formulas import peak_in_flight, total_slots, warm_up_forwards
from course.legality import Violation, violations
from course.schedule import Schedule
from course.simulation import Costs, simulate

NAME = "one_f_one_b"
QUALITIES = ("complete", "legal", "lean", "short", "alternating")
NUMBERS = "Forwards and backwards alternate as they should: it is the numbers of the micro-batches."
ORDER_FAULTS = ("order", "deadlock")
CONSTANT = Message("constant", f"`{NAME}` returns the same for every p, m and stage: compute the order from the three.")


class Judged(NamedTuple):
    """What became of one size: its schedule, or why there is none; then which of the questions it answers well."""

    schedule: Schedule | None
    trouble: Message | None
    faults: tuple[Violation, ...] = ()
    complete: bool = False
    legal: bool = False
    lean: bool = False
    short: bool = False
    alternating: bool = False

    @property
    def right(self) -> bool:
        """Whether nothing is to be said against it."""
        return self.legal and self.lean and self.short and self.alternating


def check_order(answer) -> Outcome:
    """Points for complete (1), legal (2), memory (2), length (1) and pattern (1) where m >= p > 1, and for all other sizes (1).

    Each of the first five counts by the share of the sizes at which it holds, in quarters: a quarter at least where it holds
    at any, all four only where it holds at all. An order that is the same for all sizes has none.
    """
    found = ask_orders(answer, _judge, QUALITIES, ORDINARY, SMALL, ordinary, small, ALIKE)
    if found.right:
        messages = [Message("right", "Legal at every size asked, as short as GPipe with backwards of one slot and of two, and "
                            "no stage holds more than it must.", good=True), *_numbering(found.replies)]
    else:
        wrong = next(size for size, judged in found.judged.items() if not judged.right)
        messages = [*[CONSTANT] * found.constant, *_explain(found.replies, found.judged, wrong)]
    return Outcome(_steps(*map(_quarters, found.shares.values()), found.right), tuple(messages))


def _quarters(share):
    return Fraction(max(share > 0, int(4 * share)), 4)


def _steps(complete, legal, lean, short, alternating, everywhere):
    return (Step("every operation once", 1, complete), Step("legal: nothing waits for ever", 2, legal),
            Step("no stage holds more than it must", 2, lean), Step("as short as GPipe", 1, short),
            Step("warm-up, then one forward and one backward in turn", 1, alternating),
            Step("at every size, m < p, m = 1 and p = 1 included", 1, everywhere))


def _judge(replies, p, m):
    found = schedule_from(replies, NAME, p, m)
    if isinstance(found, Message):
        return Judged(None, found)
    if split := whole_backwards(found):
        return Judged(None, split)
    faults = tuple(violations(found))
    complete = all(fault.code in ORDER_FAULTS for fault in faults)
    alternating = all(map(_alternates, found.ranks, (pattern(p, m, stage) for stage in range(p))))
    if faults:
        return Judged(found, None, faults, complete, alternating=alternating)
    timelines = {backward: simulate(found, Costs(1, backward)) for backward in (1, 2)}
    short = all(timeline.makespan <= total_slots(p, m, 1, backward) for backward, timeline in timelines.items())
    lean = all(peak <= peak_in_flight("1f1b", p, m, stage) for stage, peak in enumerate(timelines[1].peak_activations))
    return Judged(found, None, (), True, True, lean, short, alternating)


def pattern(p: int, m: int, stage: int, warm_up: int | None = None) -> str:
    """The kinds that a stage runs, `FFFBFB...`, with 1F1B's warm-up or another one, cut to what m allows.

    >>> pattern(3, 4, stage=1)
    'FFBFBFBB'
    """
    warm_up = warm_up_forwards(p, m, stage) if warm_up is None else max(0, min(warm_up, m))
    return "F" * warm_up + "FB" * (m - warm_up) + "B" * warm_up


def _alternates(row, wanted):
    """Whether the order begins with these warm-up and pairs; what follows the last F can only be B."""
    end = wanted.rindex("FB") + 2
    return _kinds(row)[:end] == wanted[:end]


def _kinds(row):
    return "".join(operation.kind for operation in row)


def _with_warm_up(formula):
    return lambda p, m, stage: pattern(p, m, stage, formula(p, stage))


SLIPS = (
    Slip("is-gpipe", "this is GPipe's order, all forwards before the first backward: legal and as short, but every stage "
         "holds all m micro-batches.", lambda p, m, stage: "F" * m + "B" * m),
    Slip("in-rounds", "this is GPipe in rounds of p micro-batches: each round fills and drains the pipeline anew. A stage need "
         "not wait for all backwards of a round before its next forward.", lambda p, m, stage: "".join(
             "F" * len(part) + "B" * len(part) for part in (range(first, min(first + p, m)) for first in range(0, m, p)))),
    Slip("arguments-swapped", "this is the order for m stages and p micro-batches: the arguments come as (p, m, stage).",
         lambda p, m, stage: pattern(m, p, stage)),
    Slip("warm-up-same", "the warm-up is p-1 forwards on every stage. A stage needs them to bridge the time until its first "
         "backward comes, and the closer to the last stage, the sooner it comes.", _with_warm_up(lambda p, stage: p - 1)),
    Slip("warm-up-p", "every stage runs p forwards before its first pair. A stage needs them to bridge the time until its first "
         "backward comes, and the closer to the last stage, the sooner it comes.", _with_warm_up(lambda p, stage: p)),
    Slip("one-too-many", "each stage runs one warm-up forward too many, as if stages were counted from 1 (they are counted from "
         "0), or the first pair's forward counted twice.", _with_warm_up(lambda p, stage: p - stage)),
    Slip("one-too-few", "each stage runs one warm-up forward too few: it stands idle until its first backward comes.",
         _with_warm_up(lambda p, stage: p - 2 - stage)),
    Slip("upside-down", "the warm-up grows with the stage. Stage 0 is the farthest from the loss and waits the longest for its "
         "first backward: it needs the longest warm-up.", _with_warm_up(lambda p, stage: stage)),
    Slip("no-warm-up", "without a warm-up each stage waits for the backward of one micro-batch before it starts on the next: "
         "the stages hardly ever work at the same time.", _with_warm_up(lambda p, stage: 0)),
    Slip("warm-up-twice", "the warm-up is twice as long as need be: stages then hold more than they must. (Interleaved 1F1B, "
         "notebook 4, does that.)", _with_warm_up(lambda p, stage: 2 * (p - 1 - stage))),
    Slip("pairs-turned", "each pair begins with its backward, after a warm-up that is made for pairs that begin with a forward: "
         "on the last stage B0 would come before F0.",
         lambda p, m, stage: "F" * (w := warm_up_forwards(p, m, stage)) + "BF" * (m - w) + "B" * w),
    Slip("no-cooldown", "the cooldown is missing: after the last pair, the backwards of the warm-up's micro-batches are still to "
         "come.", lambda p, m, stage: pattern(p, m, stage).removesuffix("B" * warm_up_forwards(p, m, stage))),
    Slip("no-pairs", "only warm-up and cooldown are there: the pairs between them are missing.",
         lambda p, m, stage: "F" * (w := warm_up_forwards(p, m, stage)) + "B" * w),
)


def _explain(replies, judged, wrong):
    found = judged[wrong]
    p, m = wrong
    messages, all_stages = [], _all_stages(replies, p, m)
    if not 1 < p <= m:
        messages.append(Message("right-where-m-is-large", "Right wherever there are two stages or more and at least as many "
                                "micro-batches as stages.", good=True))
    elif slip := _slip(judged):
        messages.append(Message(slip.code, f"`{NAME}`: {slip.text}"))
    elif right := [size for size in ORDINARY if judged[size].right]:
        messages.append(Message("right-at", f"Right at p={right[0][0]}, m={right[0][1]}.", good=True))
    messages += [all_stages] if all_stages else [found.trouble] if found.trouble else _faults(found, p, m)
    if found.legal and 1 < p <= m:
        messages.append(Message("legal", f"With p={p}, m={m} the order is legal: it comes to its end.", good=True))
    if found.legal and not found.short:
        messages.append(_too_long(found.schedule, p, m, found.alternating))
    if found.legal and not found.lean:
        messages.append(_too_much(found.schedule, p, m))
    if found.legal and found.lean and found.short and not found.alternating:
        messages.append(_other_pattern(found.schedule, p, m))
    if 1 < m < p:
        messages.append(Message("m-below-p", f"With p={p} there are only {m} micro-batches: what does the warm-up of stage "
                                f"{_first_unlike(replies, p, m)} consist of, and how many pairs are left?"))
    return messages


def _first_unlike(replies, p, m):
    """The first stage whose order does not read like 1F1B's, or cannot be read."""
    for stage in range(p):
        try:
            if _kinds(read_order(replies.get((p, m, stage)), stage)) != pattern(p, m, stage):
                return stage
        except NoOrder:
            return stage
    return 0


def _slip(judged: Mapping) -> Slip | None:
    """The wrong idea that gives the pattern of every order that could be read at the ordinary sizes."""
    patterns = {(p, m, stage): _kinds(row) for (p, m) in ORDINARY if judged[p, m].schedule
                for stage, row in enumerate(judged[p, m].schedule.ranks)}
    return slip_of(patterns, pattern, SLIPS, like=str.__eq__) if patterns else None


def _all_stages(replies, p, m):
    """The message for a function that returns the orders of all stages at once; None for another."""
    reply = replies.get((p, m, 0))
    if p > 1 and isinstance(reply, list) and len(reply) == p and all(isinstance(row, list) and len(row) > m for row in reply):
        return Message("all-stages", f"{call(NAME, (p, m, 0))} returned {p} lists, one a stage. It is asked for one stage at a "
                       "time: return the list of `stage`.")
    return None


def _faults(found, p, m):
    """What is missing, too much, before its time, or waits for ever: the first of each kind, stage by stage."""
    messages = []
    missing = [fault for fault in found.faults if fault.code == "missing"]
    if missing:
        rank = missing[0].rank
        names = [fault.message.split()[0] for fault in missing if fault.rank == rank]
        listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        messages.append(Message("missing", f"{call(NAME, (p, m, rank))} lacks {listed}: each stage runs every micro-batch "
                                "forward and backward, once."))
    for code, advice in (("repeated", "Each operation runs once."), ("unknown", ""),
                         ("wrong-rank", "A stage runs only its own operations."),
                         ("order", "A backward needs what its own forward has saved."), ("deadlock", "")):
        fault = next((fault for fault in found.faults if fault.code == code), None)
        if fault:
            hint = advice
            if code in ORDER_FAULTS and found.alternating:
                hint = NUMBERS
            elif code == "deadlock":
                hint = "Each waits for another: nobody can go on."
            messages.append(Message(code, f"p={p}, m={m}: {fault.message}. {hint.strip()}".strip()))
    return messages


def _too_long(schedule, p, m, alternating):
    backward = next(time for time in (1, 2) if simulate(schedule, Costs(1, time)).makespan > total_slots(p, m, 1, time))
    step = simulate(schedule, Costs(1, backward)).makespan
    of = "" if backward == 1 else " with backwards of two slots"
    why = NUMBERS if alternating else ("Draw it (the cell after the hints does): where does a stage wait for a backward while it "
                                       "could run a forward?")
    return Message("too-long", f"With p={p}, m={m} the step{of} takes {step} slots; GPipe's is shorter. {why}")


def _too_much(schedule, p, m):
    peaks = simulate(schedule).peak_activations
    stage = next(stage for stage in range(p) if peaks[stage] > peak_in_flight("1f1b", p, m, stage))
    return Message("holds-more", f"With p={p}, m={m} stage {stage} holds the activations of {peaks[stage]} micro-batches at its "
                   "worst moment; it can do with fewer, and the step need not be longer.")


def _other_pattern(schedule, p, m):
    stage, row = next((stage, row) for stage, row in enumerate(schedule.ranks) if _kinds(row) != pattern(p, m, stage))
    wanted = pattern(p, m, stage)
    position = next(index for index, operation in enumerate(row) if operation.kind != wanted[index])
    return Message("not-alternating", f"With p={p}, m={m} the order of stage {stage} is as good, but it is not 1F1B: at "
                   f"position {position}, {row[position].short} breaks the turn of one forward and one backward.")


def _numbering(replies):
    """That micro-batches were counted from 1, where they were."""
    text = str(replies.get((4, 8, 0)))
    return [Message("numbered-from-one", "Your micro-batches are counted from 1: taken as such.", good=True)] if (
        "F8" in text.upper() and "F0" not in text.upper()) else []
