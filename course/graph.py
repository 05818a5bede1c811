"""A schedule as whole numbers, so that a quarter of a million operations are judged and simulated in a second."""

from dataclasses import dataclass

from course.schedule import KINDS, Operation, Schedule

NONE = -1
WIDTH = len(KINDS)
F, B, I, W = range(WIDTH)
_OFFSET = {kind: offset for offset, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class Graph:
    """Operations as codes, (stage * micro_batches + micro_batch) * 4 + kind, and what each needs.

    Per code: `rank_of` and `position_of` say where it runs (NONE when it does not), `own` and `other` which code
    must end before it, on its own stage and on a neighbouring one (NONE when nothing must). `orders` holds the codes
    of each rank. Unknown and repeated operations are in no order: (rank, position) of each is listed apart.
    """

    orders: list[list[int]]
    rank_of: list[int]
    position_of: list[int]
    own: list[int]
    other: list[int]
    unknown: list[tuple[int, int]]
    repeated: list[tuple[int, int]]
    micro_batches: int

    def operation(self, code: int) -> Operation:
        """The operation behind a code."""
        unit, kind = divmod(code, WIDTH)
        return Operation(unit // self.micro_batches, KINDS[kind], unit % self.micro_batches)


def graph(schedule: Schedule) -> Graph:
    """The codes of a schedule, legal or not; for known operations it says the same as Schedule.needs."""
    micro_batches, stages, split = schedule.micro_batches, schedule.stages, schedule.split
    step = micro_batches * WIDTH
    size = stages * step
    rank_of, position_of, own, other = [NONE] * size, [NONE] * size, [NONE] * size, [NONE] * size
    orders, unknown, repeated = [], [], []
    for rank, operations in enumerate(schedule.ranks):
        order = []
        for position, operation in enumerate(operations):
            stage, micro_batch, kind = operation.stage, operation.micro_batch, _OFFSET.get(operation.kind, NONE)
            if kind == NONE or not 0 <= stage < stages or not 0 <= micro_batch < micro_batches:
                unknown.append((rank, position))
                continue
            base = stage * step + micro_batch * WIDTH
            code = base + kind
            if rank_of[code] != NONE:
                repeated.append((rank, position))
                continue
            rank_of[code], position_of[code] = rank, position
            order.append(code)
            if kind == F:
                if stage:
                    other[code] = code - step
            elif kind == W:
                own[code] = base + I
            else:
                own[code] = base
                if stage + 1 < stages:
                    other[code] = base + step + (I if split and (stage + 1, micro_batch) in split else B)
        orders.append(order)
    return Graph(orders, rank_of, position_of, own, other, unknown, repeated, micro_batches)
