"""ZB-V: two chunks a rank, laid out as a V, and a split backward: the loss is back where the data came in.

    3 ranks: stages 0 and 5 on rank 0, 1 and 4 on rank 1, 2 and 3 on rank 2

With F, I and W equally long and no latency no rank is idle between its first operation and its last, and every rank holds
what 1F1B's stage 0 holds: 2p chunks of half the size. It costs twice the messages of one stage a rank, and it is zero only
there: where F, I and W differ idle slots come back, and a barrier at the end of the step makes the slots before a rank's
first operation and after its last a bubble again (`course.steps` shows it).
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes, need_two_chunks, v_shape


def zb_v(ranks: int, micro_batches: int, chunks: int = 2) -> Schedule:
    """The order of PyTorch's ScheduleZBVZeroBubble; with m < 2p - 1 that of 2p - 1 without the micro-batches from m on.

    >>> print(zb_v(1, 2).to_csv(), end="")
    0F0,1F0,1I0,1W0,0F1,0I0,0W0,1F1,1I1,1W1,0I1,0W1
    """
    need_sizes(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    need_two_chunks("zb_v", chunks)
    return Schedule(tuple(_rank(rank, ranks, micro_batches) for rank in range(ranks)), v_shape(ranks), micro_batches, "zb_v")


def _rank(rank, ranks, micro_batches):
    down, up = rank, 2 * ranks - 1 - rank
    enough = max(2 * ranks - 1, micro_batches)
    done, order = {}, []

    def do(stage, kinds):
        for kind in kinds:
            number = done.get((stage, kind), 0)
            done[stage, kind] = number + 1
            order.append(Operation(stage, kind, number))

    do(down, "F" * (2 * (ranks - rank) - 1))
    for _ in range(rank):
        do(up, "F")
        do(down, "F")
    for _ in range(ranks - rank):
        do(up, "FIW")
    while done[up, "F"] < enough:
        do(down, "FIW" if done[down, "F"] < enough else "IW")
        do(up, "FIW")
    for _ in range(rank):
        do(down, "I")
        do(up, "I")
    do(down, "IW" * (ranks - rank))
    do(up, "W" * rank)
    do(down, "W" * rank)
    return tuple(operation for operation in order if operation.micro_batch < micro_batches)


ZB_V = Entry("zb_v", "ZB-V", zb_v, chunks=2, sizes="any ranks, any micro_batches, two chunks",
             source="Qi et al. 2024, Pipeline Parallelism with Controllable Memory (NeurIPS, arXiv:2405.15362), section 3; order "
                    "of PyTorch's ScheduleZBVZeroBubble")
