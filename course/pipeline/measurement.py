"""The measured step: how long an emulated operation lasts, when the step is worth keeping, what it shows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from course.pipeline.clocks import now
from course.pipeline.machine import cores
from course.pipeline.trace import Trace
from course.schedule import Schedule
from course.simulation import Costs
from course.timeline import Span, Timeline

ATTEMPTS = 4  # steps that are measured until one is without overruns
LONGEST = 3_000_000_000  # nanoseconds after which no further step is begun
AHEAD = 20_000_000  # nanoseconds from the order to the begin of the step, so that every rank is there
SAFETY = 3  # an emulated operation lasts at least this many times what it takes when all ranks share the cores
GROWTH = 1.3  # how much longer a slot becomes after a step with overruns, where the slot is ours to choose
SHORTEST = 8_000_000  # nanoseconds: a wake-up can be a millisecond late
NANO = 1_000_000_000
FINEST = 1_000_000  # the largest denominator of a cost that is kept exactly


@dataclass(frozen=True)
class Measured:
    """One step, measured: its timeline in slots, the bubble, and what each rank counted."""

    timeline: Timeline
    slot_seconds: float
    bubble: float
    overruns: int
    attempts: int
    traces: tuple[Trace, ...]


def slot_for(times: dict, costs: Costs, schedule: Schedule, available: float | None = None) -> int:
    """Nanoseconds of a slot such that this machine can keep the paced clock. `times`: (kind, stage) -> nanoseconds.

    With several ranks to a core, an operation lasts at least 3 x ranks x its processor time / cores.
    """
    per_stage, crowd = costs.per_stage(schedule.stages), len(schedule.ranks) / (available or cores())
    least = [max(SAFETY * crowd * time, SHORTEST) / per_stage[kind][stage]
             for (kind, stage), time in times.items() if per_stage[kind][stage] > 0]
    return math.ceil(max(least, default=SHORTEST))


def divisible(slot: int, costs: Costs, stages: int) -> int:
    """The slot, a little longer, so that every cost is a whole number of nanoseconds where that can be."""
    times = {costs.latency, *(time for row in costs.per_stage(stages).values() for time in row)}
    unit = math.lcm(*(Fraction(time).limit_denominator(FINEST).denominator for time in times))
    return -(-slot // unit) * unit if unit <= FINEST else slot


def measure(do: Callable, schedule: Schedule, step: int, clock: str, costs: Costs, slot: int, growth: float,
            work: float) -> Measured:
    """Do the step until it is without overruns, a few times at most, and keep the best. `do` gives a job to all ranks.

    `slot` is in nanoseconds; after an overrun it becomes `growth` times as long.
    """
    best, attempts, enough = None, 0, now() + LONGEST
    while attempts < ATTEMPTS and (not attempts or now() < enough):
        attempts += 1
        slot = divisible(slot, costs, schedule.stages)
        durations = {kind: [round(time * slot) for time in row]
                     for kind, row in costs.per_stage(schedule.stages).items()}
        begin = now() + AHEAD if clock == "paced" else 0
        traces = do("course.pipeline.training:measure", step, clock, durations, begin, round(costs.latency * slot))
        overruns = sum(trace.overruns for trace in traces)
        if best is None or overruns < best[0]:
            best = overruns, begin, slot, durations, traces
        if not overruns:
            break
        slot = math.ceil(slot * growth)
    overruns, begin, slot, durations, traces = best
    if clock == "real":
        begin = min(start for trace in traces for start in trace.starts)
        slot = sum(sum(trace.ends) - sum(trace.starts) for trace in traces) / (work or 1)
    timeline = _timeline(traces, schedule, begin, Fraction(slot) if clock == "virtual" else slot)
    if clock == "paced":
        emulated = sum(durations[operation.kind][operation.stage] for trace in traces for operation in trace.operations)
        bubble = 1 - emulated / (len(traces) * float(timeline.makespan) * slot)
    else:
        bubble = timeline.bubble_fraction
    return Measured(timeline, slot / NANO, bubble, overruns, attempts, tuple(traces))


def _timeline(traces, schedule, begin, slot):
    return Timeline.from_spans(
        [Span(operation, rank, (start - begin) / slot, (end - begin) / slot) for rank, trace in enumerate(traces)
         for operation, start, end in zip(trace.operations, trace.starts, trace.ends, strict=True)], schedule)
