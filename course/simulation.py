"""What a schedule costs: each operation starts when its rank is free and its inputs have arrived."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Rational

from course.graph import NONE, WIDTH, graph
from course.legality import execution_order, violations
from course.schedule import KINDS, Schedule
from course.timeline import Timeline


@dataclass(frozen=True)
class Costs:
    """Times of the operations, in one unit: a number, or a sequence with one per stage.

    Where only a whole backward is given, I and W take half of it each; where only those, B takes their sum.
    `latency` passes between the end of an operation and the start of what needs it on another rank.
    """

    forward: float | Sequence = 1
    backward: float | Sequence | None = None
    input_grad: float | Sequence | None = None
    weight_grad: float | Sequence | None = None
    latency: float = 0

    def per_stage(self, stages: int) -> dict[str, list]:
        """Kind -> one time per stage. ValueError names a negative time or a list of the wrong length."""
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
        _spread("latency", self.latency, 1)
        return dict(zip(KINDS, (forward, whole, inputs, weights), strict=True))


def _half(time):
    return Fraction(time) / 2 if isinstance(time, Rational) and time % 2 else time // 2 if isinstance(
        time, Integral) else time / 2


def _spread(name, value, stages):
    times = [value] * stages if not isinstance(value, (list, tuple)) else list(value)
    if len(times) != stages:
        raise ValueError(f"{name} has {len(times)} times for {stages} stages: give a number, or one per stage")
    for time in times:
        if not time >= 0:
            raise ValueError(f"{name} = {time!r}: a time of at least 0 is needed")
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
    step = schedule.micro_batches * WIDTH
    durations = [[times[stage] for times in costs.per_stage(schedule.stages).values()] for stage in range(schedule.stages)]
    own, other, rank_of, latency = plan.own, plan.other, plan.rank_of, costs.latency
    begins, ends, free = [0] * len(own), [0] * len(own), [0] * len(plan.orders)
    for code in execution_order(plan):
        rank = rank_of[code]
        start = free[rank]
        need = other[code]
        if need != NONE:
            arrival = ends[need] if rank_of[need] == rank else ends[need] + latency
            if arrival > start:
                start = arrival
        need = own[code]
        if need != NONE and ends[need] > start:
            start = ends[need]
        begins[code] = start
        free[rank] = ends[code] = start + durations[code // step][code % WIDTH]
    return Timeline(schedule, tuple(tuple(begins[code] for code in order) for order in plan.orders),
                    tuple(tuple(ends[code] for code in order) for order in plan.orders))
