"""Why a rank is idle: every idle stretch of a timeline, with what it waits for."""

from dataclasses import dataclass

from course.schedule import Operation
from course.simulation import Costs, arrivals
from course.timeline import Timeline
from course.words import at

INPUT, MESSAGE, DRAIN, CHOICE = REASONS = ("input", "message", "drain", "choice")
NOISE = 1e-9  # of the makespan: sums of floats are off by less, and no rank is idle for it


@dataclass(frozen=True, slots=True)
class Wait:
    """A stretch in which a rank does nothing, for one reason.

    `input`: `needed`, which the `next` operation needs, has not ended (or is nowhere in the timeline). `message`: it has
    ended, its message is on its way. `choice`: nothing stops `next`, the timeline leaves a gap. `drain`: nothing is left to
    do on this rank in this step. `message` says so in a sentence.
    """

    rank: int
    start: float
    end: float
    reason: str
    next: Operation | None
    needed: Operation | None
    message: str


def waits(timeline: Timeline, costs: Costs | None = None, unit: str = "slot") -> tuple[Wait, ...]:
    """Every idle stretch, rank by rank, from time 0 to the makespan; the stretches of a rank and its operations fill its row.

    `costs` says how long messages take: give those of the simulation or the run; by default they take no time.

    >>> from course.schedules import gpipe
    >>> from course.simulation import simulate
    >>> [wait.message for wait in waits(simulate(gpipe(2, 1)))][:2]
    ['stage 0 waits for B0 of stage 1, which ends at slot 3', 'stage 1 waits for F0 of stage 0, which ends at slot 1']
    """
    schedule, makespan = timeline.schedule, timeline.makespan
    ran = {}
    for operation, rank, _, end in timeline.spans:
        ran.setdefault(operation, (rank, end))
    arrives = arrivals(timeline, costs or Costs())
    noise = makespan * NOISE if isinstance(makespan, float) else 0
    found = []
    for rank, operations in enumerate(schedule.ranks):
        free = 0
        for operation, start, end in zip(operations, timeline.starts[rank], timeline.ends[rank], strict=True):
            if start > free + noise:
                found += _before(operation, rank, free, start, schedule, ran, arrives, noise, unit)
            free = max(free, end)
        if makespan > free + noise:
            found.append(Wait(rank, free, makespan, DRAIN, None, None,
                              f"drain: {schedule.place(rank)} has nothing left to do in this step"))
    return tuple(found)


def _before(operation, rank, begin, start, schedule, ran, arrives, noise, unit):
    """The stretches between `begin` and the start of an operation: for the input that is there last, then for nothing."""
    here, name = schedule.place(rank), schedule.label(operation)
    needed, home, ended, there = None, rank, begin, begin
    for need in schedule.needs(operation):
        if need not in ran:
            lives = schedule.stage_to_rank[need.stage] if need.stage < schedule.stages else rank
            return [Wait(rank, begin, start, INPUT, operation, need,
                         f"{here} waits for {schedule.label(need)} of {schedule.place(lives)}, which is nowhere")]
        its_rank, its_end = ran[need]
        arrival = its_end if need.stage == operation.stage else arrives.get(need, its_end)
        if (arrival, its_end) > (there, ended):
            needed, home, ended, there = need, its_rank, its_end, arrival
    words = {
        INPUT: lambda: f"{here} waits for {schedule.label(needed)} of {schedule.place(home)}, which ends at {at(ended, unit)}",
        MESSAGE: lambda: (f"{here} waits for the message of {schedule.label(needed)} from {schedule.place(home)}, "
                          f"which arrives at {at(there, unit)}"),
        CHOICE: lambda: (f"nothing stops {name} on {here} from {at(free, unit)} on, "
                         f"but it starts at {at(start, unit)}"),
    }
    stretches, free = [], begin
    for reason, until in ((INPUT, min(ended, start)), (MESSAGE, min(there, start)), (CHOICE, start)):
        if until > free + noise:
            stretches.append(Wait(rank, free, until, reason, operation, None if reason == CHOICE else needed, words[reason]()))
            free = until
    return stretches
