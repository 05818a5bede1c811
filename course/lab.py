"""Where a schedule stands among the known ones: the time of its step against the most that a rank holds.

A model is cut into equal stages, whatever the number of ranks, so that all are schedules of one model on the same ranks. Times
are those of a whole rank's share of it, memory is counted in micro-batches of that share: a chunk of v takes 1/v of both.
"""

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from numbers import Rational, Real

from course.floors import as_whole, floor_curve
from course.schedule import Schedule
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate
from course.timeline import Timeline

CHUNKS = 2  # stages a rank of those known schedules that take any number of them
YOURS = "yours"


@dataclass(frozen=True)
class Placed:
    """A schedule on the plot: its key and what it is called, the slots of its step, the micro-batches held at most."""

    name: str
    title: str
    step: Real
    peak: Fraction


def share_of_stage(schedule: Schedule) -> Fraction:
    """What part of a rank's layers a stage is: 1/v with v of them on a rank, on the fullest one where they differ.

    >>> from course.schedules import gpipe, zb_v
    >>> share_of_stage(gpipe(4, 8)), share_of_stage(zb_v(4, 8))
    (Fraction(1, 1), Fraction(1, 2))
    """
    return Fraction(1, schedule.chunks or 1)


def stage_costs(schedule: Schedule, costs: Costs) -> Costs:
    """What the stages of this schedule take, where `costs` are a whole rank's. ValueError for times that differ by stage."""
    part, times = share_of_stage(schedule), {}
    for name in ("forward", "backward", "input_grad", "weight_grad"):
        time = getattr(costs, name)
        if time is not None and not isinstance(time, Real):
            raise ValueError(f"{name} = {time!r}: one time is needed here, that of a whole rank, the same for all ranks")
        times[name] = time if time is None else as_whole(time * part) if isinstance(time, Rational) else time * float(part)
    return replace(costs, **times)


def timed(schedule: Schedule, costs: Costs) -> Timeline:
    """Each operation as early as it can be, where `costs` are a whole rank's. ValueError where the schedule is illegal."""
    factor, whole = _in_whole_numbers(stage_costs(schedule, costs))
    found = simulate(schedule, whole)
    if factor == 1:
        return found
    times = {time: as_whole(Fraction(time, factor)) for row in (*found.starts, *found.ends) for time in row}
    return Timeline(schedule, *(tuple(tuple(times[time] for time in row) for row in rows) for rows in (found.starts, found.ends)))


def floor_of(schedule: Schedule, costs: Costs) -> tuple[tuple[Real, Real], ...]:
    """The corners (step, micro-batches held) of what is proven for its placement, shortest step first; `costs` as above."""
    factor, whole = _in_whole_numbers(stage_costs(schedule, costs))
    corners = floor_curve(schedule.stage_to_rank, schedule.micro_batches, whole, bool(schedule.split))
    return tuple((step if factor == 1 else as_whole(Fraction(step) / factor), held) for step, held in corners)


def placed(timeline: Timeline, name: str = YOURS, title: str = YOURS) -> Placed:
    """Where a timeline stands, simulated, drawn or measured."""
    peak = max(timeline.peak_activations, default=0) * share_of_stage(timeline.schedule)
    return Placed(name, title, timeline.makespan, peak)


def place(schedule: Schedule, costs: Costs, name: str = YOURS) -> Placed:
    """Where a schedule stands; `costs` are a whole rank's. ValueError where it is illegal."""
    return placed(timed(schedule, costs), name, SCHEDULES[name].title if name in SCHEDULES else name)


def known_places(ranks: int, micro_batches: int, costs: Costs) -> list[Placed]:
    """Where each schedule of SCHEDULES stands that takes these sizes, of two chunks where it takes any number of them."""
    found = []
    for name in SCHEDULES:
        if known := _known(name, ranks, micro_batches):
            schedule, peak = known
            factor, whole = _in_whole_numbers(stage_costs(schedule, costs))
            step = simulate(schedule, whole).makespan
            found.append(Placed(name, _title(SCHEDULES[name]), step if factor == 1 else as_whole(Fraction(step, factor)), peak))
    return found


def _title(entry):
    return entry.title if entry.chunks else f"{entry.title}, v={CHUNKS}"


@lru_cache(64)
def _known(name, ranks, micro_batches):
    """The schedule of this size and what it holds, whatever the times; None where there is none."""
    try:
        schedule = SCHEDULES[name].make(ranks, micro_batches, SCHEDULES[name].chunks or CHUNKS)
    except ValueError:
        return None
    return schedule, placed(simulate(schedule)).peak


def _in_whole_numbers(costs):
    """A factor, and the costs times it, which are whole numbers and many times faster; 1 and the costs where there is none."""
    times = {field.name: getattr(costs, field.name) for field in fields(costs) if getattr(costs, field.name) is not None}
    if not all(isinstance(time, Rational) for time in times.values()):
        return 1, costs
    factor = lcm(*(Fraction(time).denominator for time in times.values()))
    return factor, replace(costs, **{name: int(time * factor) for name, time in times.items()})
