"""What can be reached at small sizes, by exhaustive search: the shortest step for each room, with a schedule that takes it."""

import heapq
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from course.floors import ROUNDING, as_whole, step_floor, times_of
from course.schedule import Operation, Schedule
from course.simulation import Costs

MOST_STATES = 300_000  # about half a minute
FORWARD, BACKWARD, WEIGHT = range(3)


class Corner(NamedTuple):
    """A corner of the frontier: no schedule with a step as short holds less, none that holds no more is shorter."""

    step: float
    memory: float
    schedule: Schedule


class TooLarge(ValueError):
    """A size at which the search would take too long."""


def frontier(stage_to_rank: Sequence[int], micro_batches: int, costs: Costs | None = None, split: bool = False) -> tuple:
    """The corners, shortest step first, proven by search; memory in micro-batches of a whole rank.

    `split`: all backwards are split into I and W, else none is. ValueError for costs of single operations, messages that take
    their link's time, and sizes that are too large to search.

    >>> [(corner.step, corner.memory) for corner in frontier((0, 1), 4)]
    [(10, 2), (16, 1)]
    """
    homes = tuple(stage_to_rank)
    chunks, corners = max(map(homes.count, homes)), []
    best, room = shortest(homes, micro_batches, costs, split), chunks
    while not corners or _longer(corners[0].step, best.step):
        found = shortest(homes, micro_batches, costs, split, room)
        if not corners or _longer(corners[0].step, found.step):
            corners.insert(0, found._replace(memory=as_whole(Fraction(room, chunks))))
        room += 1
    return tuple(corners)


def shortest(stage_to_rank: Sequence[int], micro_batches: int, costs: Costs | None = None, split: bool = False,
             room: int | None = None) -> Corner:
    """The shortest step with at most `room` chunks held on each rank (None: any number), and a schedule that takes it.

    The search goes over everything that ranks can do at each moment at which an operation ends or a message arrives; what
    cannot end before the best so far is left out by a lower bound (A*). Three things are taken as given, all proven. An
    operation can start as soon as its rank is free and its inputs are there: an earlier start with the same order makes none
    wait longer and holds no more. Each stage takes the micro-batches in one order: they cost the same, and called k-th wherever
    they come k-th they wait for no more than before. A last stage alone on its rank runs a backward that is ready at once: what
    ran before it, F and W, nobody else waits for, so it can be done right behind it; nor does it wait where an F is ready, as
    nothing that comes from elsewhere could be done in its place.
    """
    search = _Search(tuple(stage_to_rank), micro_batches, costs or Costs(), split, room)
    if step_floor(stage_to_rank, micro_batches, costs, split, room) == math.inf:
        raise ValueError(f"room = {room}: the stages of one rank need {max(map(search.homes.count, search.homes))} for one "
                         "micro-batch alone")
    return search.run()


def _longer(step, other):
    """Up to the rounding of floats, which are added up in another order each time."""
    return step > other + ROUNDING * other if isinstance(step, float) else step > other


class _Search:
    """States are (started, busy, coming): per stage how often F, backward and W have started; per rank how long it still runs;
    per stage and direction in how long each message that is not there yet will be."""

    def __init__(self, homes, micro_batches, costs, split, room):
        self.homes, self.micro_batches, self.split = homes, micro_batches, split
        self.stages, self.ranks = len(homes), max(homes) + 1
        self.room = micro_batches * self.stages if room is None else room
        if costs.single:
            raise ValueError("single: the search takes costs that are the same for all micro-batches; leave single out")
        boundaries = costs.per_boundary(self.stages)
        if any(message for message, _ in boundaries):
            raise ValueError("message: the search takes messages that have a latency only; leave message at 0")
        self.times = [list(row) for row in zip(*times_of(self.stages, 0, costs, split), strict=True)]
        self.delay = [latency if homes[stage] != homes[stage + 1] else 0 for stage, (_, latency) in enumerate(boundaries)]
        self.kinds = (FORWARD, BACKWARD, WEIGHT) if split else (FORWARD, BACKWARD)
        self.of_rank = [[stage for stage in range(self.stages) if homes[stage] == rank] for rank in range(self.ranks)]
        self.rest = self._rests()

    def _rests(self):
        """What follows a stage's backward at least, chain and W."""
        rest = [self.times[0][WEIGHT]]
        for stage in range(1, self.stages):
            rest.append(max(self.times[stage][WEIGHT],
                            self.delay[stage - 1] + self.times[stage - 1][BACKWARD] + rest[stage - 1]))
        return rest

    def run(self):
        start = ((0, 0, 0) * self.stages, (0,) * self.ranks, ((), ()) * self.stages)
        best, parents, ticket = {start: 0}, {}, itertools.count()
        heap = [(self.bound(start), 0, next(ticket), 0, start)]
        while heap:
            _, _, _, now, state = heapq.heappop(heap)
            if now > best[state]:
                continue
            if self.finished(state):
                return Corner(now + max(state[1]), None, self.schedule(state, parents))
            for later, doing, following in self.moves(now, state):
                if later < best.get(following, math.inf):
                    best[following], parents[following] = later, (state, doing)
                    heapq.heappush(heap, (later + self.bound(following), -sum(following[0]), next(ticket), later, following))
            if len(best) > MOST_STATES:
                raise TooLarge(f"{self.stages} stages and {self.micro_batches} micro-batches are too many to search through: "
                               f"{MOST_STATES:,} states were looked at; take fewer")
        raise AssertionError("one micro-batch after the other always ends")

    def finished(self, state):
        return min(state[0][place] for place in range(3 * self.stages) if place % 3 in self.kinds) == self.micro_batches

    def there(self, state, stage, kind):
        """Whether the inputs of a stage's next operation of this kind are there; its rank is free."""
        started, _, coming = state
        count = started[3 * stage + kind]
        if count == self.micro_batches:
            return False
        if kind == FORWARD:
            held = sum(started[3 * s] - started[3 * s + self.kinds[-1]] for s in self.of_rank[self.homes[stage]])
            return held < self.room and (not stage or started[3 * stage - 3] - len(coming[2 * stage]) > count)
        if started[3 * stage + kind - 1] <= count:
            return False
        return kind == WEIGHT or stage == self.stages - 1 or (
            started[3 * stage + 3 + BACKWARD] - len(coming[2 * stage + 1]) > count)

    def sensible(self, rank, ready):
        """What a free rank can do of what is ready, or None; a last stage that is alone on its rank goes by the rule above."""
        first = [(stage, kind) for stage, kind in ready if kind == BACKWARD]
        if self.of_rank[rank] != [self.stages - 1] or not any(kind != WEIGHT for _, kind in ready):
            return [*ready, None]
        return first or ready

    def moves(self, now, state):
        """(time, operations started, state) for each way to go on until the next event."""
        started, busy, coming = state
        choices = []
        for rank in range(self.ranks):
            ready = [] if busy[rank] else [(stage, kind) for stage in self.of_rank[rank] for kind in self.kinds
                                           if self.there(state, stage, kind)]
            choices.append(self.sensible(rank, ready))
        for doing in itertools.product(*choices):
            counts, until, messages = list(started), list(busy), list(coming)
            for rank, (stage, kind) in ((rank, chosen) for rank, chosen in enumerate(doing) if chosen):
                time = self.times[stage][kind]
                counts[3 * stage + kind] += 1
                until[rank] = time
                target = stage + {FORWARD: 1, BACKWARD: -1}.get(kind, self.stages)
                if 0 <= target < self.stages:
                    place, way = 2 * target + kind, time + self.delay[min(stage, target)]
                    messages[place] = (*messages[place], way)
            events = [time for time in (*until, *itertools.chain(*messages)) if time]
            done = min(counts[place] for place in range(3 * self.stages) if place % 3 in self.kinds) == self.micro_batches
            at_once = done or any(chosen and not self.times[chosen[0]][chosen[1]] for chosen in doing)
            passed = 0 if at_once else min(events, default=0)
            if not passed and not any(doing):
                continue
            yield now + passed, doing, (tuple(counts), tuple(max(0, time - passed) for time in until), tuple(
                tuple(time - passed for time in row if time > passed) for row in messages))

    def bound(self, state):
        """How long the rest takes at least: per rank until its first operation, what it has to do, what follows the last."""
        started, busy, _ = state
        total, m, stages = max(busy), self.micro_batches, self.stages
        starts = [[0, 0, 0] for _ in range(stages)]
        for stage in range(stages):
            starts[stage][FORWARD] = self.earliest(state, stage, FORWARD, starts)
        for stage in reversed(range(stages)):
            starts[stage][BACKWARD] = self.earliest(state, stage, BACKWARD, starts)
        for rank, own in enumerate(self.of_rank):
            work = chain = 0
            first = tail = first_weight = math.inf
            for stage in own:
                left = [m - started[3 * stage + kind] if kind in self.kinds else 0 for kind in range(3)]
                part = left[0] * self.times[stage][0] + left[1] * self.times[stage][1]
                chain += part
                work += part + left[2] * self.times[stage][2]
                if left[0] or left[1]:
                    first = min(first, *(starts[stage][kind] for kind in (FORWARD, BACKWARD) if left[kind]))
                if left[1]:
                    tail = min(tail, self.rest[stage])
                if left[2]:
                    waiting = started[3 * stage + 1] > started[3 * stage + 2]
                    first_weight = min(first_weight, busy[rank] if waiting else starts[stage][1] + self.times[stage][1])
            if chain:
                total = max(total, first + chain + tail)
            if work:
                total = max(total, min(first, first_weight) + work)
        return total

    def earliest(self, state, stage, kind, starts):
        """When the next F or backward of a stage can start at the earliest; 0 where it has none."""
        started, busy, coming = state
        count, free = started[3 * stage + kind], busy[self.homes[stage]]
        if count == self.micro_batches:
            return 0
        if kind == BACKWARD and started[3 * stage] == count:  # its own forward comes first
            free = max(free, starts[stage][FORWARD] + self.times[stage][FORWARD])
        source = stage - 1 if kind == FORWARD else stage + 1
        if not 0 <= source < self.stages:
            return free
        sent, messages = started[3 * source + kind], coming[2 * stage + kind]
        if sent > count:
            arrived = sent - len(messages)
            return max(free, messages[count - arrived]) if arrived <= count else free
        ahead = (count - sent) * self.times[source][kind]
        return max(free, starts[source][kind] + ahead + self.times[source][kind] + self.delay[min(source, stage)])

    def schedule(self, state, parents):
        """The schedule that leads to a state."""
        path = []
        while state in parents:
            before, doing = parents[state]
            path.append((before[0], doing))
            state = before
        ranks = [[] for _ in range(self.ranks)]
        for started, doing in reversed(path):
            for rank, (stage, kind) in ((rank, chosen) for rank, chosen in enumerate(doing) if chosen):
                letter = "FIW"[kind] if self.split else "FB"[kind]
                ranks[rank].append(Operation(stage, letter, started[3 * stage + kind]))
        return Schedule(tuple(map(tuple, ranks)), self.homes, self.micro_batches)
