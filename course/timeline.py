"""A schedule with times: simulated, measured or drawn by hand, all the same type."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from statistics import median
from typing import NamedTuple

from course.drawing import CONTINUED, IDLE, read_drawing
from course.schedule import Operation, Schedule


class Span(NamedTuple):
    """One operation on one rank, from start to end, in the timeline's unit."""

    operation: Operation
    rank: int
    start: float
    end: float


def ratio(part, whole):
    """part / whole, exact where both are rational, 0 where there is no whole."""
    if not whole:
        return Fraction(0)
    return Fraction(part) / Fraction(whole) if _exact(part, whole) else part / whole


def _exact(*numbers):
    return all(isinstance(number, Rational) for number in numbers)


@dataclass(frozen=True)
class Timeline:
    """When each operation of a schedule starts and ends, per rank in its order; time 0 is the begin of the step."""

    schedule: Schedule
    starts: tuple[tuple, ...]
    ends: tuple[tuple, ...]

    @classmethod
    def from_spans(cls, spans, schedule: Schedule) -> "Timeline":
        """Build from measured spans: the order on a rank is the order of their starts, homes and sizes are the schedule's."""
        rows = [[] for _ in schedule.ranks]
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            rows[span.rank].append(span)
        ran = Schedule(tuple(tuple(span.operation for span in row) for row in rows),
                       schedule.stage_to_rank, schedule.micro_batches, schedule.name)
        return cls(ran, tuple(tuple(span.start for span in row) for row in rows),
                   tuple(tuple(span.end for span in row) for row in rows))

    @classmethod
    def from_grid(cls, text: str, stages: int, micro_batches: int) -> "Timeline":
        """Read a drawing: one line a rank, one cell a slot, `.` idle, `~` the operation on the left goes on.

        Where no token names its stage a rank is a stage, and a row that is not there is one without operations. It keeps
        its slots, legal or not. ValueError names row and token.

        >>> print(Timeline.from_grid("F0 . .  B0\\n. F0 B0 .", stages=2, micro_batches=1))
        F0 .  .  B0
        .  F0 B0 .
        """
        drawing = read_drawing(text, stages)
        rows = [drawing.operations(row) for row in range(len(drawing.rows))]
        if not drawing.names_stages:
            rows += [[] for _ in range(stages - len(rows))]
        schedule = Schedule.of([[op for op, _, _ in row] for row in rows], stages, micro_batches)
        if len(rows) == stages:
            schedule = Schedule(schedule.ranks, tuple(range(stages)), micro_batches)
        return cls(schedule, tuple(tuple(start for _, start, _ in row) for row in rows),
                   tuple(tuple(end for _, _, end in row) for row in rows))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Every operation with its times, rank by rank."""
        rows = zip(self.schedule.ranks, self.starts, self.ends, strict=True)
        return tuple(Span(operation, rank, start, end) for rank, row in enumerate(rows)
                     for operation, start, end in zip(*row, strict=True))

    @cached_property
    def makespan(self):
        """When the last operation ends."""
        return max((end for row in self.ends for end in row), default=0)

    @cached_property
    def work(self):
        """Busy time, summed over the ranks."""
        return sum(map(sum, self.ends)) - sum(map(sum, self.starts))

    @property
    def bubble_fraction(self):
        """Idle over total: 1 - work / (ranks x makespan) (Huang et al. 2019, GPipe, section 2.3)."""
        return 1 - ratio(self.work, len(self.starts) * self.makespan) if self.makespan else Fraction(0)

    @property
    def bubble_over_ideal(self):
        """Idle over busy time, the Megatron paper's definition (Narayanan et al. 2021, section 2.2)."""
        return ratio(len(self.starts) * self.makespan - self.work, self.work)

    def holding(self, sizes) -> tuple[tuple[tuple, ...], ...]:
        """Per rank the steps (time, how much is held from then on), where a micro-batch of a stage takes `sizes[stage]`.

        An activation is held from the start of its F until the end of its B, or of its W where B is split. A step up and
        a step down at one time are two steps, in the order in which they happen.
        """
        return tuple(self._steps(rank, sizes.__getitem__) for rank in range(len(self.starts)))

    @cached_property
    def held(self) -> tuple[tuple[tuple, ...], ...]:
        """Per rank the steps (time, chunks whose activations are held from then on)."""
        return tuple(self._steps(rank, lambda stage: 1) for rank in range(len(self.starts)))

    def _steps(self, rank, size_of):
        steps, level = [], 0
        for operation, start, end in zip(self.schedule.ranks[rank], self.starts[rank], self.ends[rank], strict=True):
            if operation.kind == "F":
                level += size_of(operation.stage)
                steps.append((start, level))
            elif operation.kind in "BW":
                level -= size_of(operation.stage)
                steps.append((end, level))
        return tuple(steps)

    @cached_property
    def peak_activations(self) -> tuple[int, ...]:
        """Per rank, the most chunks whose activations are held at once: from F until B, or until W where B is split."""
        return tuple(max([0, *(level for _, level in steps)]) for steps in self.held)

    def __str__(self):
        return self.grid()

    def grid(self, slot=None) -> str:
        """The text form: one line a rank, one cell a slot. Times that are not whole slots are rounded to them."""
        slot = slot or self.slot
        columns = max(1, round(self.makespan / slot))
        rows = []
        for operations, starts, ends in zip(self.schedule.ranks, self.starts, self.ends, strict=True):
            cells, free = [IDLE] * columns, 0
            for operation, start, end in zip(operations, starts, ends, strict=True):
                # Its end says where an operation stands: a clock reading may start late, its end holds the plan.
                last = max(free + 1, round(end / slot))
                first = max(free, min(last - 1, round(start / slot)))
                free = last
                cells.extend([IDLE] * (free - len(cells)))
                cells[first:free] = [self.schedule.label(operation)] + [CONTINUED] * (free - first - 1)
            rows.append(cells)
        columns = max(map(len, rows))
        width = max(len(cell) for row in rows for cell in row)
        return "\n".join(" ".join(cell.ljust(width) for cell in row + [IDLE] * (columns - len(row))).rstrip()
                         for row in rows)

    @cached_property
    def slot(self):
        """The longest time that all starts and ends are multiples of; for floats, about the shortest operation."""
        times = [time for rows in (self.starts, self.ends) for row in rows for time in row if time]
        if not times:
            return 1
        if not _exact(*times):
            return min(median(s.end - s.start for s in self.spans if s.operation.kind == kind)
                       for kind in {s.operation.kind for s in self.spans}) or 1
        fractions = [Fraction(time) for time in times]
        scale = math.lcm(*(time.denominator for time in fractions))
        return Fraction(math.gcd(*(int(time * scale) for time in fractions)), scale)

    def to_chrome_trace(self, microseconds_per_unit=1000) -> str:
        """The timeline as Chrome trace JSON: complete events, one thread a rank in their order; opens in Perfetto.

        Times are whole microseconds; of a measured timeline in slots a unit is a slot: give `1e6 * slot_seconds`. Perfetto cuts
        times to nanoseconds and wants events of a thread to nest, so each end is rounded and the length follows from it. (Trace
        Event Format, "Duration Events"; Perfetto's documentation, "Visualizing external trace formats".)
        """
        names = [_named("process_name", 0, name=f"pipeline {self.schedule.name}".strip())]
        for rank in range(len(self.starts)):
            names += [_named("thread_name", rank, name=f"rank {rank}"), _named("thread_sort_index", rank, sort_index=rank)]
        events = []
        for operation, rank, start, end in self.spans:
            start, end = round(start * microseconds_per_unit), round(end * microseconds_per_unit)
            events.append({"name": self.schedule.label(operation), "cat": operation.kind, "ph": "X", "pid": 0, "tid": rank,
                           "ts": start, "dur": end - start,
                           "args": {"stage": operation.stage, "micro_batch": operation.micro_batch}})
        return json.dumps({"traceEvents": names + events, "displayTimeUnit": "ms"})


def _named(what, thread, **values):
    return {"name": what, "ph": "M", "pid": 0, "tid": thread, "args": values}
