"""What a schedule costs: each operation starts when its rank is free and its inputs have arrived."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Rational, Real

from course.graph import NONE, WIDTH, graph
from course.legality import Standing, execution_order, violations
from course.schedule import KINDS, Operation, Schedule
from course.timeline import Span, Timeline


@dataclass(frozen=True)
class Costs:
    """Times of operations and messages, in one unit: a number, or a sequence with one per stage.

    Where only a whole backward is given, I and W take half of it each; where only those, B takes their sum.
    `single` says what single operations take instead, such as {"2F1": 4}. A message from rank to rank takes its link for
    `message`, the next one on that link waits, and arrives `latency` after that: a number, or a sequence with one per
    boundary between two stages, the same in both directions.
    """

    forward: float | Sequence = 1
    backward: float | Sequence | None = None
    input_grad: float | Sequence | None = None
    weight_grad: float | Sequence | None = None
    latency: float | Sequence = 0
    message: float | Sequence = 0
    single: Mapping[Operation | str, float] | None = None

    def per_stage(self, stages: int) -> dict[str, list]:
        """Kind -> one time per stage. ValueError names what is no time, or a list of the wrong length."""
        forward = _spread("forward", self.forward, stages)
        backward = self.backward
        if backward is None and self.input_grad is None and self.weight_grad is None:
            backward = self.forward
        if backward is None and None in (self.input_grad, self.weight_grad):
            raise ValueError("input_grad and weight_grad go together: give both, or a whole backward")
        inputs, weights = (_spread(name, value, stages) if value is not None
                           else [_half(time) for time in _spread("backward", backward, stages)]
                           for name, value in (("input_grad", self.input_grad), ("weight_grad", self.weight_grad)))
        whole = _spread("backward", backward, stages) if backward is not None else [
            one + two for one, two in zip(inputs, weights, strict=True)]
        return dict(zip(KINDS, (forward, whole, inputs, weights), strict=True))

    def per_boundary(self, stages: int) -> list[tuple]:
        """For each stage but the last, (message, latency) of what crosses between it and the next."""
        boundaries = max(0, stages - 1)
        what = f"the {boundaries} boundaries between {stages} stages", "boundary"
        return list(zip(_spread("message", self.message, boundaries, *what),
                        _spread("latency", self.latency, boundaries, *what), strict=True))

    def singles(self, schedule: Schedule) -> dict[Operation, float]:
        """The operations that `single` names, with their times. ValueError for one that the schedule does not have."""
        if not isinstance(self.single or {}, Mapping):
            raise ValueError(f'single = {self.single!r}: operations and their times are wanted, such as {{"2F1": 4}}')
        times, there = {}, {operation for rank in schedule.ranks for operation in rank} if self.single else ()
        for key, time in (self.single or {}).items():
            operation = operation_of(key)
            if operation not in there:
                raise ValueError(f"single: {key} is no operation of this schedule; it has {schedule.ranks[0][0]} and others")
            times[operation], = _spread(f"single[{str(key)!r}]", time, 1)
        return times


def operation_of(key: Operation | str) -> Operation:
    """The operation that a key of `Costs.single` names. ValueError where it names none."""
    return Operation.parse(key) if isinstance(key, str) else key


class Traffic:
    """When messages arrive, in the simulation and in the real run: on one link, from rank to rank, they follow each other."""

    def __init__(self, stage_to_rank: Sequence[int], boundaries: Sequence[tuple]):
        self._homes, self._boundaries, self._free = stage_to_rank, boundaries, {}

    def arrival(self, stage: int, target: int, sent):
        """When stage `target` has what `stage` sends at this moment; the link is taken for as long as a message takes."""
        ends = self._homes[stage], self._homes[target]
        if ends[0] == ends[1]:
            return sent
        message, latency = self._boundaries[min(stage, target)]
        self._free[ends] = free = max(self._free.get(ends, 0), sent) + message
        return free + latency

    def there(self, stage: int, kind: str, sent):
        """When the stage that needs what an operation of `stage` made has it; the operation has ended at this moment."""
        target = stage + (1 if kind == "F" else -1)
        return self.arrival(stage, target, sent) if kind != "W" and 0 <= target < len(self._homes) else sent


def _half(time):
    return Fraction(time) / 2 if isinstance(time, Rational) and time % 2 else time // 2 if isinstance(
        time, Integral) else time / 2


def _spread(name, value, count, whole=None, each="stage"):
    """`count` times, each of them sound."""
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    for time in given:
        if not isinstance(time, Real) or not 0 <= time < math.inf:
            raise ValueError(f"{name} = {time!r}: a finite time of at least 0 is needed")
    times = given if isinstance(value, (list, tuple)) else given * count
    if len(times) != count:
        raise ValueError(f"{name} has {len(times)} times for {whole or f'{count} stages'}: give a number, or one per {each}")
    return times


def simulate(schedule: Schedule, costs: Costs | None = None) -> Timeline:
    """The timeline of a schedule when every operation starts as early as it can; exact for int and Fraction costs.

    ValueError names the first faults of an illegal schedule.

    >>> from course.schedules import gpipe
    >>> simulate(gpipe(4, 4)).makespan
    14
    """
    costs = costs or Costs()
    faults = violations(schedule)
    if faults:
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise ValueError("; ".join(fault.message for fault in faults[:3]) + more)
    plan = graph(schedule)
    times = _times(schedule, costs)
    own, other, rank_of = plan.own, plan.other, plan.rank_of
    begins, ends, free = [0] * len(own), [0] * len(own), [0] * len(plan.orders)
    arrives, boundaries, traffic = ends, costs.per_boundary(schedule.stages), None
    if any(map(any, boundaries)):
        arrives, traffic = [0] * len(own), Traffic(schedule.stage_to_rank, boundaries)
    step = schedule.micro_batches * WIDTH
    for code in execution_order(plan):
        rank = rank_of[code]
        start = free[rank]
        need = other[code]
        if need != NONE and arrives[need] > start:
            start = arrives[need]
        need = own[code]
        if need != NONE and ends[need] > start:
            start = ends[need]
        begins[code] = start
        free[rank] = ends[code] = end = start + times[code]
        if traffic:
            arrives[code] = traffic.there(code // step, KINDS[code % WIDTH], end)
    return Timeline(schedule, tuple(tuple(begins[code] for code in order) for order in plan.orders),
                    tuple(tuple(ends[code] for code in order) for order in plan.orders))


def arrivals(timeline: Timeline, costs: Costs) -> dict[Operation, float]:
    """When the stage that needs what an operation made has it; empty where messages take no time."""
    schedule = timeline.schedule
    boundaries = costs.per_boundary(schedule.stages)
    if not any(map(any, boundaries)):
        return {}
    traffic, found = Traffic(schedule.stage_to_rank, boundaries), {}
    for operation, _, _, end in timeline.spans:
        if operation.stage < schedule.stages:
            found.setdefault(operation, traffic.there(operation.stage, operation.kind, end))
    return found


def _times(schedule, costs):
    """One time per code."""
    times = []
    for of_stage in zip(*costs.per_stage(schedule.stages).values(), strict=True):
        times += of_stage * schedule.micro_batches
    for operation, time in costs.singles(schedule).items():
        unit = operation.stage * schedule.micro_batches + operation.micro_batch
        times[unit * WIDTH + KINDS.index(operation.kind)] = time
    return times


def as_far_as_it_goes(schedule: Schedule, room: Sequence[int] | None = None) -> Timeline:
    """What runs of a schedule, in slots of one operation, until each rank waits for something that never comes.

    With `room`, micro-batches that each rank can hold, a forward that does not fit waits for ever too.

    >>> from course.schedules import gpipe
    >>> print(as_far_as_it_goes(gpipe(2, 3), room=[2, 2]))
    F0 F1 .
    .  F0 F1
    """
    ends, spans, waiting = {}, [], {}
    done, free, held = ([0] * len(schedule.ranks) for _ in range(3))
    ready = list(range(len(schedule.ranks)))
    while ready:
        rank = ready.pop()
        operations = schedule.ranks[rank]
        while done[rank] < len(operations):
            operation = operations[done[rank]]
            needs = schedule.needs(operation)
            if missing := [need for need in needs if need not in ends]:
                waiting.setdefault(missing[0], []).append(rank)
                break
            if room is not None and operation.kind == "F" and held[rank] >= room[rank]:
                break
            start = max([free[rank], *(ends[need] for need in needs)])
            ends[operation] = free[rank] = start + 1
            spans.append(Span(operation, rank, start, start + 1))
            done[rank] += 1
            held[rank] += {"F": 1, "I": 0}.get(operation.kind, -1)
            ready += waiting.pop(operation, ())
    return Timeline.from_spans(spans, schedule)


def standing(schedule: Schedule, gone: Timeline) -> tuple[Standing, ...]:
    """The ranks that have operations left when a schedule has gone as far as it goes, and what each waits for first.

    >>> crossed = Timeline.from_grid("F0 B0 F1 B1\\nF0 F1 B0 B1", 2, 2).schedule
    >>> [str(rank.needed) for rank in standing(crossed, as_far_as_it_goes(crossed))]
    ['1B0', '0F1']
    """
    home = {operation: rank for rank, operations in enumerate(schedule.ranks) for operation in operations}
    done, found = {operation for rank in gone.schedule.ranks for operation in rank}, []
    for rank, operations in enumerate(schedule.ranks):
        if len(gone.schedule.ranks[rank]) < len(operations):
            operation = operations[len(gone.schedule.ranks[rank])]
            needed = next(need for need in schedule.needs(operation) if need not in done)
            lives = schedule.stage_to_rank[needed.stage] if needed.stage < schedule.stages else rank
            found.append(Standing(rank, operation, needed, home.get(needed, lives)))
    return tuple(found)
