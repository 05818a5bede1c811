"""Proven lower bounds: how short a step can be, and how little a rank can hold; no legal schedule is below either.

What is proven is proven for a placement of stages and its costs, whatever the order. A bound need not be reached: what can
be reached is `course.frontier`'s question, at small sizes.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from course.schedule import KINDS
from course.schedules.entry import need_sizes
from course.simulation import Costs, operation_of
from course.timeline import ratio

ROUNDING = 1e-9  # times in floats are sums in another order than a schedule's


@dataclass(frozen=True)
class Job:
    """Something that a rank or a link must do, or hold, for `time`: not before `head`, and `tail` before the step ends."""

    head: float
    time: float
    tail: float
    count: int = 1


def step_floor(stage_to_rank: Sequence[int], micro_batches: int, costs: Costs | None = None, split: bool = False,
               room: int | None = None):
    """A time that no step is shorter than, in the unit of the costs; with `room`, where no rank holds more chunks than that.

    `split`: each backward may be split into I and W, or not; without it none is. Infinite where `room` is too small for any.
    Proof. One rank: of any set of its operations the first cannot start before the chain of F (and backward) operations and
    messages that leads to it, they run one after the other, and behind the last one stands what its micro-batch still
    has to do: least head + sum of times + least tail. A link that takes a time for each message is such a rank too.
    Room k: a stage holds each micro-batch at least from its F, up to the last stage and back, until its own backward.
    At most k of these intervals overlap, so they fall into k classes without overlap (interval graphs are perfect), and one
    class has at least the k-th part of their number, and one the k-th part of their length.
    """
    bounds = Bounds.of(stage_to_rank, micro_batches, costs, split)
    if room is None:
        return bounds.busy
    need_sizes(room=room)
    return bounds.within(room)


def memory_floor(stage_to_rank: Sequence[int], micro_batches: int, costs: Costs | None = None, split: bool = False, step=None):
    """What the fullest rank holds at least, in micro-batches of a whole rank (chunks held / chunks of the fullest rank).

    With `step`, in every schedule whose step is no longer than that; ValueError where `step_floor` says that none is.
    Proof. When the first micro-batch comes to the last stage's backward, every stage holds it: all chunks of each rank.
    With `step`: the least room with which `step_floor` is not above it; that bound falls as the room grows.
    """
    bounds = Bounds.of(stage_to_rank, micro_batches, costs, split)
    if step is None:
        return 1
    longest = step * (1 + ROUNDING) if isinstance(step, float) else step
    if not longest >= bounds.busy:
        raise ValueError(f"step = {step}: no step is shorter than {bounds.busy} here; give a longer one")
    rooms = range(bounds.chunks, bounds.chunks * micro_batches + 1)
    return bounds.share(rooms[bisect_left(rooms, True, key=lambda room: bounds.within(room) <= longest)])


def floor_curve(stage_to_rank: Sequence[int], micro_batches: int, costs: Costs | None = None, split: bool = False) -> tuple:
    """The corners (step, memory) of the floor, shortest step first: what is shorter than a corner holds more than it."""
    bounds, corners = Bounds.of(stage_to_rank, micro_batches, costs, split), []
    for room in range(bounds.chunks, bounds.chunks * micro_batches + 1):
        step = bounds.within(room)
        if not corners or step < corners[-1][0]:
            corners.append((step, bounds.share(room)))
        if step <= bounds.busy:
            break
    return tuple(reversed(corners))


def times_of(stages: int, micro_batch: int, costs: Costs, split: bool) -> tuple[list, list, list]:
    """F, backward and weight gradient of each stage for one micro-batch, the last all 0 where no backward is split.

    Where a backward may be split or not, its parts count as the least of both: I at most B, and W at most what is left of B.
    Every schedule then takes no less than the same with each B cut into these two, one right behind the other.
    """
    times = dict(zip(KINDS, map(list, costs.per_stage(stages).values()), strict=True))
    for key, time in (costs.single or {}).items():
        operation = operation_of(key)
        if operation.micro_batch == micro_batch and operation.stage < stages:
            times[operation.kind][operation.stage] = time
    if not split:
        return times["F"], times["B"], [0] * stages
    inputs = list(map(min, times["I"], times["B"]))
    weights = [min(weight, whole - part) for weight, whole, part in zip(times["W"], times["B"], inputs, strict=True)]
    return times["F"], inputs, weights


@dataclass(frozen=True)
class Bounds:
    """What is found once for all rooms: the chunks of the fullest rank, the bound by what there is to do, what is held."""

    chunks: int
    busy: float
    held: tuple[tuple[Job, ...], ...]

    @classmethod
    def of(cls, stage_to_rank: Sequence[int], micro_batches: int, costs: Costs | None, split: bool) -> "Bounds":
        """For a placement, with its costs. ValueError for sizes below 1."""
        homes = tuple(stage_to_rank)
        need_sizes(stages=len(homes), micro_batches=micro_batches)
        busy, held = _jobs(homes, micro_batches, costs or Costs(), split)
        return cls(max(map(homes.count, homes)), as_whole(max(map(_one_at_a_time, busy))), tuple(
            tuple(sorted(jobs, key=lambda job: job.time, reverse=True)) for jobs in held))

    def within(self, room: int):
        """What no step is shorter than with this room."""
        if room < self.chunks:
            return math.inf
        return as_whole(max(self.busy, *(_held_in(room, jobs) for jobs in self.held)))

    def share(self, room: int):
        """A room in micro-batches of a whole rank."""
        return as_whole(Fraction(room, self.chunks))


def _jobs(homes, micro_batches, costs, split):
    """For each rank and link the jobs that it does one after the other; for each rank what it holds, whole, and without W."""
    stages, boundaries = len(homes), costs.per_boundary(len(homes))
    crossing = [homes[stage] != homes[stage + 1] for stage in range(stages - 1)]
    delay = [sum(both) if cross else 0 for both, cross in zip(boundaries, crossing, strict=True)]
    work, links, whole, cut = {}, {}, {}, {}
    single = {operation_of(key).micro_batch for key in costs.single or {}}
    special = sorted(single & set(range(micro_batches)))
    plain = next((number for number in range(micro_batches) if number not in single), None)
    for number in [*special, *[plain] * (plain is not None)]:
        count = micro_batches - len(special) if number == plain else 1
        forward, backward, weight = times_of(stages, number, costs, split)
        head = [0] * stages
        for stage in range(1, stages):
            head[stage] = head[stage - 1] + forward[stage - 1] + delay[stage - 1]
        back = [head[-1] + forward[-1]] * stages
        for stage in reversed(range(stages - 1)):
            back[stage] = back[stage + 1] + backward[stage + 1] + delay[stage]
        rest = [weight[0]] * stages  # behind a stage's backward
        for stage in range(1, stages):
            rest[stage] = max(weight[stage], delay[stage - 1] + backward[stage - 1] + rest[stage - 1])
        ahead = [backward[-1] + rest[-1]] * stages  # behind its forward
        for stage in reversed(range(stages - 1)):
            ahead[stage] = delay[stage] + forward[stage + 1] + ahead[stage + 1]
        for stage, home in enumerate(homes):
            work.setdefault(home, []).extend((Job(head[stage], forward[stage], ahead[stage], count),
                                              Job(back[stage], backward[stage], rest[stage], count),
                                              Job(back[stage] + backward[stage], weight[stage], 0, count)))
            least = back[stage] + backward[stage] - head[stage]
            whole.setdefault(home, []).append(Job(head[stage], least + weight[stage], 0, count))
            cut.setdefault(home, []).append(Job(head[stage], least, rest[stage], count))
        for stage in (stage for stage in range(stages - 1) if crossing[stage] and boundaries[stage][0]):
            ends, (message, latency) = (homes[stage], homes[stage + 1]), boundaries[stage]
            links.setdefault(ends, []).append(Job(head[stage] + forward[stage], message, ahead[stage] - message, count))
            links.setdefault(ends[::-1], []).append(Job(back[stage + 1] + backward[stage + 1], message,
                                                        latency + backward[stage] + rest[stage], count))
    return (*work.values(), *links.values()), (*whole.values(), *cut.values())


def _one_at_a_time(jobs):
    """The largest of least head + times + least tail, over all sets of jobs: those with at least some head and some tail."""
    best, falling = 0, sorted(jobs, key=lambda job: job.head, reverse=True)
    for tail in {job.tail for job in jobs}:
        busy = 0
        for job in falling:
            if job.tail >= tail and job.time:
                busy += job.time * job.count
                best = max(best, job.head + busy + tail)
    return best


def _held_in(room, jobs):
    """How long it takes to hold them all, at most `room` at once: over the sets of the longest, which come first."""
    best, count, length, head, tail = 0, 0, 0, math.inf, math.inf
    for job in jobs:
        count, length, head, tail = (count + job.count, length + job.time * job.count, min(head, job.head), min(tail, job.tail))
        best = max(best, head + tail + job.time * -(-count // room), head + tail + ratio(length, room))
    return best


def as_whole(number):
    """A Fraction that is whole as a whole number, with which computing is many times faster."""
    return int(number) if isinstance(number, Fraction) and number.denominator == 1 else number
