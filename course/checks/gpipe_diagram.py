"""Notebook 1: the GPipe diagram of 4 stages and 4 micro-batches, and its bubbles."""

from collections import Counter
from fractions import Fraction

from course.checks.drawing_rules import explain_faults, first_avoidable_idle, read_answer
from course.checks.numbers import fraction_slip, number_step
from course.checks.outcome import Message, Outcome, Step, as_number, near, show_found, show_value, unreadable
from course.formulas import bubble_fraction, busy_slots, idle_slots, total_slots
from course.legality import violations
from course.recognition import recognize

STAGES = MICRO_BATCHES = 4
SLOTS = total_slots(STAGES, MICRO_BATCHES)
IDLE = idle_slots(STAGES)


OF_TIME = "too-early", "overlap"  # faults of when an operation runs, not of which ones there are


def check_diagram(answer) -> Outcome:
    """Points for complete (2), legal (3), all forwards first (2), 14 slots (2), idle cells marked (1)."""
    return judge_diagram(answer, "gpipe_diagram", STAGES, MICRO_BATCHES)


def judge_diagram(answer, name: str, stages: int, micro_batches: int) -> Outcome:
    """The same questions about a GPipe diagram of any size."""
    reading = read_answer(answer.value(), name, stages, micro_batches)
    if isinstance(reading, Message):
        return Outcome(_steps(), (reading,))
    timeline = reading.timeline
    shortest = total_slots(stages, micro_batches)
    faults = violations(timeline)
    messages = reading.said(trouble=bool(faults))
    content = [fault for fault in faults if fault.code not in OF_TIME]
    share = max(Fraction(stages - len({fault.rank for fault in content}), stages), _whole_micro_batches(timeline.schedule))
    complete = not content
    in_order = len(content) == len(faults) and not reading.long_operations
    legal = complete and in_order
    messages += explain_faults(reading, faults)
    ordered_so_far = all(map(_forwards_first, timeline.schedule.ranks))
    ordered = complete and ordered_so_far
    if legal:
        messages.append(Message("legal", "Every operation starts after what it needs has ended.", good=True))
    if complete and not ordered:
        messages.append(_order_message(timeline))
    in_time = legal and timeline.makespan <= shortest
    if legal and not in_time:
        rank, slot, waiting = first_avoidable_idle(timeline, forwards_first=ordered)
        messages.append(Message("too-long", f"The step ends at slot {timeline.makespan}; it can end earlier. The first "
                                f"avoidable idle cell is slot {slot} on stage {rank}: {waiting} could run there."))
    unmarked = reading.unmarked(max(shortest, timeline.makespan)) if complete else []
    if unmarked and in_order:
        messages.append(Message("not-marked", "Some idle cells are not marked yet, the first of them on stage "
                                f"{unmarked[0]}: write `.` in each, to the end of the step."))
    if legal and ordered and in_time and not unmarked:
        messages.append(Message("right", _praise(timeline), good=True))
    # Of an unfinished drawing, what is there counts by the rows or by the micro-batches that are whole, whichever is more.
    steps = _steps(share, share * in_order, ordered if complete else share * in_order * ordered_so_far,
                   in_time, complete and not unmarked)
    return Outcome(steps, tuple(messages), timeline, tuple((f.rank, f.position) for f in faults if f.position is not None))


def _steps(complete=0, legal=False, ordered=False, in_time=False, marked=False):
    return (Step("every operation once, on its stage", 2, complete), Step("nothing starts too early", 3, legal),
            Step("all forwards, then all backwards, on each stage", 2, ordered),
            Step("as short as it can be", 2, in_time), Step("every idle cell marked", 1, marked))


def _whole_micro_batches(schedule):
    """The share of the micro-batches that pass every stage once each way, and nowhere else."""
    places = Counter((rank, operation) for rank, row in enumerate(schedule.ranks) for operation in row)
    found = {i: Counter() for i in range(schedule.micro_batches)}
    for (rank, operation), count in places.items():
        found.setdefault(operation.micro_batch, Counter())[rank, operation.stage, operation.kind] = count
    whole = Counter((stage, stage, kind) for stage in range(schedule.stages) for kind in "FB")
    return Fraction(sum(passed == whole for passed in found.values()), len(found))


def _forwards_first(row):
    kinds = [operation.kind for operation in row]
    return kinds == sorted(kinds, reverse=True)


def _order_message(timeline):
    if recognize(timeline.schedule) == "1f1b":
        return Message("is-1f1b", "This is 1F1B, not GPipe: the next notebook is about it. GPipe runs all forwards of a stage "
                       "before its first backward.")
    rank, row = next((rank, row) for rank, row in enumerate(timeline.schedule.ranks) if not _forwards_first(row))
    first = next(operation for operation in row if operation.kind == "B")
    later = next(operation for operation in row[row.index(first):] if operation.kind == "F")
    return Message("not-gpipe-order", f"On stage {rank}, {first.short} comes before {later.short}: GPipe runs all forwards of a "
                   "stage before its first backward.")


def _praise(timeline):
    orders = [operation.micro_batch for operation in timeline.schedule.ranks[0] if operation.kind == "B"]
    forward = [operation.micro_batch for operation in timeline.schedule.ranks[0] if operation.kind == "F"]
    if orders == forward[::-1]:
        return ("A GPipe step, backwards last in, first out. First in, first out is as good: GPipe fixes no order of "
                "the backwards.")
    if orders == forward:
        return "A GPipe step, backwards first in, first out. Last in, first out would be as good."
    return "A GPipe step, with the backwards in an order of your own: GPipe fixes none."


def check_bubbles(per_stage, fraction) -> Outcome:
    """Points for the idle cells of each stage (half a point a stage) and for the bubble fraction (2)."""
    counts, messages = _listed(per_stage.value()), []
    trouble = unreadable(counts, "bubbles_per_stage", "It is a list of 4 whole numbers, stage 0 first.")
    right = [False] * STAGES
    if trouble:
        messages.append(trouble)
    elif not isinstance(counts, list) or len(counts) != STAGES or None in map(as_number, counts):
        messages.append(Message("not-a-list", f"`bubbles_per_stage` is a list of {STAGES} numbers, one a stage, stage 0 "
                                f"first; found {show_found(counts)}."))
    else:
        counts = [*map(as_number, counts)]
        right = [count == IDLE for count in counts]
        messages.append(_bubbles_message(counts))
    step, found = number_step("bubble fraction", 2, fraction.value(), "bubble_fraction_4_4", _fraction_message)
    return Outcome((Step("idle cells of each stage", 2, Fraction(sum(right), STAGES)), step), (*messages, found))


def _listed(value):
    """A dict with the stages as keys is a list as well."""
    if isinstance(value, dict) and sorted(value, key=str) == list(range(STAGES)):
        return [value[stage] for stage in range(STAGES)]
    return value


def _bubbles_message(counts):
    middle = [2 * (STAGES - 1 - stage) for stage in range(STAGES)]
    outside = [2 * stage for stage in range(STAGES)]
    if counts == [IDLE] * STAGES:
        return Message("bubbles-right", "`bubbles_per_stage`: as many idle cells on every stage, though at other times.",
                       good=True)
    if counts == middle:
        return Message("only-middle", "This counts the gap between forwards and backwards only. The bubble is also the wait "
                       "before a stage's first operation (fill) and after its last (drain).")
    if counts == outside:
        return Message("only-ends", "This counts fill and drain only. A stage is also idle between its last forward and "
                       "its first backward.")
    if counts == list(range(STAGES)) or counts == [STAGES - 1 - stage for stage in range(STAGES)]:
        return Message("one-phase", "This counts the idle cells of one phase only. Count every cell without an operation, "
                       "from slot 0 to the end of the step, on each stage.")
    if counts == [SLOTS - IDLE] * STAGES:
        return Message("busy-cells", "This is the number of busy cells. The bubble is what is left of each row.")
    wrong = next(stage for stage in range(STAGES) if counts[stage] != IDLE)
    return Message("bubbles-wrong", f"Stage {wrong}: found {show_value(counts[wrong])}. Count the `.` cells of its row in "
                   "the shortest diagram, one with full points, from slot 0 to the end of stage 0's last backward.")


def _fraction_message(value):
    right = bubble_fraction(STAGES, MICRO_BATCHES)
    if near(value, right):
        return Message("fraction-right", "idle over total: what GPipe's paper calls the bubble.", good=True)
    slip = fraction_slip(value, right)
    if slip:
        return slip
    if near(value, Fraction(3, 4)):
        return Message("over-other", "3/4 is not idle over total. Total is every cell of the drawing, rows times slots, "
                       "the idle ones included. (With as many stages as micro-batches, several slips give 3/4.)")
    if near(value, Fraction(3, 8)):
        return Message("off-by-one", "the total is one slot short somewhere: count the columns of your drawing again, for "
                       "forwards and backwards.")
    if value == IDLE or value == IDLE * STAGES:
        return Message("a-count", "this is a number of idle cells. The fraction is that number over the number of all cells.")
    return Message("fraction-wrong", "divide the idle cells of the shortest diagram by all its "
                   "cells, busy and idle, of all stages from slot 0 to the end.")


def check_backward_twice(slots, fraction) -> Outcome:
    """Points for the length of the step (1) and its bubble fraction (1) when a backward takes two slots."""
    return Outcome(*zip(*(
        number_step("length of the step", 1, slots.value(), "slots_when_backward_takes_two", _slots_message, like="10"),
        number_step("bubble fraction", 1, fraction.value(), "fraction_when_backward_takes_two", _twice_fraction_message),
    ), strict=True))


def _slots_message(value):
    right = total_slots(STAGES, MICRO_BATCHES, backward=2)
    if value == right:
        return Message("slots-right", "every stage still waits for the others as before, each wait in proportion.", good=True)
    if value == SLOTS:
        return Message("unchanged", f"{SLOTS} is the length with a backward of one slot; here the backwards take twice as long.")
    if value == 2 * SLOTS:
        return Message("all-doubled", "this doubles the forwards as well. Only the backwards take two slots.")
    if value == SLOTS + MICRO_BATCHES:
        return Message("fill-forgotten", "this lengthens one stage's own backwards. The first backward also has to pass "
                       "through the other stages, and takes two slots on each.")
    if value == 3 * MICRO_BATCHES:
        return Message("no-bubble", "this is one stage's work alone, without the time in which it waits.")
    return Message("slots-wrong", "redraw the last stage's and then stage 0's row with backwards two "
                   "cells wide, and count the columns.")


def _twice_fraction_message(value):
    right = bubble_fraction(STAGES, MICRO_BATCHES)
    if near(value, right):
        return Message("fraction-same", "the same fraction as before: idle and busy time grow alike.", good=True)
    slip = fraction_slip(value, right)
    if slip:
        return slip
    busy = busy_slots(MICRO_BATCHES, backward=2)
    if near(value, Fraction(idle_slots(STAGES, backward=2), busy)):
        return Message("over-busy", "this is idle over busy. The fraction is idle over total, busy and idle together.")
    if value in (idle_slots(STAGES, backward=2), STAGES * idle_slots(STAGES, backward=2)):
        return Message("a-count", "this is a number of idle cells. The fraction is that number over the number of all cells.")
    if near(value, Fraction(IDLE, total_slots(STAGES, MICRO_BATCHES, backward=2))):
        return Message("idle-unchanged", f"this keeps {IDLE} idle slots a stage. A stage now waits for backwards that take "
                       "twice as long, so its idle time grows too.")
    return Message("fraction-wrong", "divide the idle slots of one stage in the longer drawing by "
                   "all its slots, busy and idle.")
