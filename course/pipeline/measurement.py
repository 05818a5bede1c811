"""The measured step: how long an emulated operation lasts, when the step is worth keeping, what it shows."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from course.pipeline.clocks import now
from course.pipeline.machine import cores
from course.pipeline.trace import Trace
from course.schedule import Operation
from course.timeline import Span, Timeline

ATTEMPTS = 4  # steps that are measured until one is without overruns
LONGEST = 3_000_000_000  # nanoseconds after which no further step is begun
AHEAD = 20_000_000  # nanoseconds from the order to the begin of the step, so that every rank is there
SAFETY = 3  # an emulated operation lasts at least this many times what it takes when all ranks share the cores
GROWTH = 1.3  # how much longer a slot becomes after a step with overruns, where the slot is ours to choose
SHORTEST = 8_000_000  # nanoseconds: a wake-up can be a millisecond late
NANO = 1_000_000_000
FINEST = 1_000_000  # the largest denominator that a float is taken for
MOST_TICKS = 1 << 62  # of a step: messages carry 64 bits


@dataclass(frozen=True)
class Measured:
    """One step, measured: its timeline in slots, the bubble, what each rank held over time, and what it counted.

    Of several replicas `timeline`, `bubble`, `held` and `traces` are those of the one that ended last.
    """

    timeline: Timeline
    slot_seconds: float
    bubble: float
    overruns: int
    attempts: int
    held: tuple[tuple[tuple, ...], ...]
    traces: tuple[Trace, ...]
    all_traces: tuple[Trace, ...]


def slot_for(times: Mapping, durations: Mapping[Operation, float], ranks: int, available: float | None = None) -> int:
    """Nanoseconds of a slot such that this machine can keep the paced clock. `times`: (kind, stage) -> nanoseconds.

    With several ranks to a core, an operation lasts at least 3 x ranks x its processor time / cores.
    """
    crowd = ranks / (available or cores())
    least = [max(SAFETY * crowd * times[operation.kind, operation.stage], SHORTEST) / slots
             for operation, slots in durations.items() if slots > 0]
    return math.ceil(max(least, default=SHORTEST))


def ticks(times: Iterable, makespan) -> int:
    """How many ticks of the virtual clock make a slot, so that each of these times is a whole number of them.

    So it is for numbers with denominators of a usual size; others are rounded to the finest tick that there can be.
    """
    unit = math.lcm(*(fraction(time).denominator for time in times))
    most = MOST_TICKS // max(1, math.ceil(makespan))
    return unit if unit <= most else most


def fraction(time) -> Fraction:
    """A time as a fraction: a float is taken for what it was written as."""
    return Fraction(time) if isinstance(time, Rational) else Fraction(time).limit_denominator(FINEST)


def measure(do: Callable, predicted: Timeline, step: int, clock: str, boundaries, slot: int, growth: float) -> Measured:
    """Do the step until it is without overruns, a few times at most, and keep the best. `do` gives a job to all ranks.

    What the operations take is what they take in `predicted`; `boundaries` is Costs.per_boundary. `slot` is in
    nanoseconds; after an overrun it becomes `growth` times as long.
    """
    rows = [[fraction(end - start) for start, end in zip(*row, strict=True)]
            for row in zip(predicted.starts, predicted.ends, strict=True)]
    between = [[fraction(time) for time in pair] for pair in boundaries]
    if clock == "virtual":
        every = [time for row in [*rows, *between] for time in row]
        unit = ticks(every, predicted.makespan + sum(map(sum, between)))
    if clock == "real":
        do("course.pipeline.training:count", step)
    best, attempts, enough = None, 0, now() + LONGEST
    while attempts < ATTEMPTS and (not attempts or now() < enough):
        attempts += 1
        if clock != "virtual":
            unit = slot
        durations, links = ([[round(time * unit) for time in row] for row in table] for table in (rows, between))
        begin = now() + AHEAD if clock == "paced" else 0
        traces = do("course.pipeline.training:measure", step, clock, durations, begin, links)
        overruns = sum(trace.overruns for trace in traces)
        if best is None or overruns < best[0]:
            best = overruns, begin, slot, unit, traces
        if not overruns:
            break
        slot = math.ceil(slot * growth)
    overruns, begin, slot, unit, every = best
    traces = _slowest(every, len(predicted.schedule.ranks))
    work = predicted.work
    if clock == "real":
        begin = min(start for trace in traces for start in trace.starts)
        slot = unit = sum(sum(trace.ends) - sum(trace.starts) for trace in traces) / (float(work) or 1)
    scale = Fraction(1, unit) if clock == "virtual" else 1 / unit
    timeline = _timeline(traces, predicted.schedule, begin, scale)
    bubble = timeline.bubble_fraction
    if clock == "paced":
        bubble = 1 - float(work) / (len(traces) * timeline.makespan)
    return Measured(timeline, slot / NANO, bubble, overruns, attempts,
                    tuple(_held(trace, begin, scale) for trace in traces), tuple(traces), tuple(every))


def _slowest(traces, ranks):
    """Those of the replica that ended last."""
    replicas = [traces[first:first + ranks] for first in range(0, len(traces), ranks)]
    return max(replicas, key=lambda replica: max((trace.ends[-1] for trace in replica if trace.ends), default=0))


def _timeline(traces, schedule, begin, scale):
    return Timeline.from_spans(
        [Span(operation, rank, (start - begin) * scale, (end - begin) * scale) for rank, trace in enumerate(traces)
         for operation, start, end in zip(trace.operations, trace.starts, trace.ends, strict=True)], schedule)


def _held(trace, begin, scale):
    """The steps (time in slots, bytes held from then on): up at an operation's start, down at its end."""
    steps, level = [], 0
    for start, end, after in zip(trace.starts, trace.ends, trace.levels, strict=False):
        if after != level:
            steps.append((((start if after > level else end) - begin) * scale, after))
        level = after
    return tuple(steps)
