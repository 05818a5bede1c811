"""A drawing on stages with room for so many micro-batches: practice for notebook 2, where the order is the learner's to find."""

from collections.abc import Sequence
from typing import NamedTuple

from course.checks.drawing_rules import explain_faults, first_avoidable_idle, read_answer
from course.checks.outcome import Message, Outcome, Step
from course.formulas import total_slots
from course.legality import violations
from course.schedule import Operation
from course.timeline import Timeline


class Over(NamedTuple):
    """Where a timeline first holds more than there is room for: what starts there, when, and how much would then be held."""

    operation: Operation
    rank: int
    time: float
    held: int


def first_over(timeline: Timeline, room: Sequence[int]) -> Over | None:
    """The earliest forward that no longer fits into `room`, micro-batches per rank; None where all fit.

    >>> from course import schedules, simulate
    >>> first_over(simulate(schedules.gpipe(4, 8)), [4] * 4)[0].short
    'F4'
    """
    found = []
    for rank, steps in enumerate(timeline.held):
        stepping = [operation for operation in timeline.schedule.ranks[rank] if operation.kind != "I"]
        found += [Over(operation, rank, time, held) for operation, (time, held) in zip(stepping, steps, strict=True)
                  if operation.kind == "F" and held > room[rank]][:1]
    return min(found, key=lambda over: (over.time, over.rank), default=None)


def judge_within_room(answer, name: str, stages: int, micro_batches: int, room: Sequence[int]) -> Outcome:
    """Whether a drawing is complete, legal, never holds more than `room`, and as short as an order without a limit."""
    reading = read_answer(answer.value(), name, stages, micro_batches)
    if isinstance(reading, Message):
        return Outcome(_steps(), (reading,))
    timeline, shortest = reading.timeline, total_slots(stages, micro_batches)
    faults = violations(timeline)
    messages = [*reading.said(trouble=bool(faults)), *explain_faults(reading, faults)]
    over = first_over(timeline, room)
    if over:
        messages.append(Message("over-room", f"Stage {over.rank}, slot {over.time}: with {over.operation.short} it holds "
                                f"{over.held} micro-batches, and there is room for {room[over.rank]}. Only a backward that has "
                                "ended makes room."))
    legal = not faults and not reading.long_operations
    in_time = legal and timeline.makespan <= shortest
    if legal and not in_time and not over:
        messages.append(_too_long(timeline, room))
    if in_time and not over:
        messages.append(Message("right", f"{shortest} slots, as few as without a limit, and no stage ever holds more than it has "
                                "room for.", good=True))
    marks = [(fault.rank, fault.position) for fault in faults if fault.position is not None]
    if over:
        marks.append((over.rank, timeline.schedule.ranks[over.rank].index(over.operation)))
    return Outcome(_steps(not [fault for fault in faults if fault.code != "too-early"], legal, not over, in_time),
                   tuple(messages), timeline, tuple(marks))


def _steps(complete=False, legal=False, fits=False, in_time=False):
    return (Step("every operation once, on its stage", 1, complete), Step("nothing starts too early", 1, legal),
            Step("never more than there is room for", 1, fits), Step("as short as it can be", 1, in_time))


def _too_long(timeline, room):
    text = f"Legal, and it fits. The step ends at slot {timeline.makespan}; it can end earlier. "
    if _rounds(timeline):
        return Message("in-rounds", f"{text}This is GPipe in rounds: each round fills and drains the pipeline anew. A stage need "
                       "not wait for all backwards before its next forward: one that has ended has made room for it.")
    idle = first_avoidable_idle(timeline, room=room)
    if idle is None:
        return Message("too-long", f"{text}No idle cell can be filled by moving one operation, so an order has to change. Ask "
                       "of the last stage: which operation do the others wait for?")
    return Message("too-long", f"{text}The first avoidable idle cell is slot {idle[1]} on stage {idle[0]}: {idle[2]} could run "
                   "there.")


def _rounds(timeline):
    """Whether stage 0 empties its memory in the middle of the step, having held more than one micro-batch."""
    levels = [level for _, level in timeline.held[0]]
    return 0 in levels[:-1] and max(levels) > 1
