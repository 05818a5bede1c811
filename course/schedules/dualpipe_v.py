"""DualPipe-V: ZB-V's placement, in which a forward of one chunk is paired with a backward of the other.

    3 ranks: stages 0 and 5 on rank 0, 1 and 4 on rank 1, 2 and 3 on rank 2

The pair is the point: on a GPU the all-to-all messages of a mixture of experts in the one are hidden behind the arithmetic of
the other. Here a rank does one operation at a time, so a pair is an F and then a B, and what is bought stays out of the
picture. It costs 2p + 1 chunks held on every rank, twice the messages of one stage a rank, and at least 2p micro-batches.
Some slots stay idle inside the step; a barrier at its end adds none to them (`course.steps` shows it), for all ranks end at
one time.
"""

from collections import deque

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes, need_two_chunks, v_shape


def dualpipe_v(ranks: int, micro_batches: int, chunks: int = 2) -> Schedule:
    """The order of PyTorch's ScheduleDualPipeV, each overlapped pair as F then B. ValueError when micro_batches < 2 ranks.

    >>> print(dualpipe_v(1, 2).to_csv(), end="")
    0F0,1F0,0F1,1B0,1F1,0B0,1B1,0I1,0W1
    """
    need_sizes(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    need_two_chunks("dualpipe_v", chunks)
    if micro_batches < 2 * ranks:
        raise ValueError(f"micro_batches = {micro_batches}: DualPipe-V needs at least two a rank, {2 * ranks} for "
                         f"ranks = {ranks}; take {2 * ranks}, or another schedule")
    return Schedule(tuple(_rank(rank, ranks, micro_batches) for rank in range(ranks)), v_shape(ranks), micro_batches,
                    "dualpipe_v")


def _rank(rank, ranks, micro_batches):
    down, up = rank, 2 * ranks - 1 - rank
    forwards, backwards, left, order = {down: 0, up: 0}, {down: 0, up: 0}, deque(), []

    def forward(stage):
        order.append(Operation(stage, "F", forwards[stage]))
        forwards[stage] += 1

    def backward(stage, split=False):
        order.append(Operation(stage, "I" if split else "B", backwards[stage]))
        if split:
            left.append(Operation(stage, "W", backwards[stage]))
        backwards[stage] += 1

    def weights():
        if left:
            order.append(left.popleft())

    for _ in range(2 * (ranks - rank - 1)):
        forward(down)
    for _ in range(rank + 1):
        forward(down)
        forward(up)
    for _ in range(ranks - rank - 1):
        backward(up, split=True)
        weights()
        forward(up)
    for _ in range(micro_batches - 2 * ranks + rank + 1):
        forward(down)
        backward(up)
        forward(up)
        backward(down)
    for _ in range(ranks - rank - 1):
        backward(up)
        forward(up)
        backward(down)
    # the second half of what is left is split: DeepSeek's step 6
    for place in range(2 * (rank + 1)):
        backward(down if place % 2 else up, split=place > rank)
    for _ in range(ranks - rank - 1):
        weights()
        backward(down, split=True)
    for _ in range(rank + 1):
        weights()
    return tuple(order)


DUALPIPE_V = Entry("dualpipe_v", "DualPipe-V", dualpipe_v, chunks=2,
                   sizes="any ranks, micro_batches at least 2 ranks, two chunks",
                   source="DeepSeek-AI 2024, DeepSeek-V3 (arXiv:2412.19437), section 3.2.1, and DeepSeek's DualPipe (GitHub); "
                          "order of PyTorch's ScheduleDualPipeV")
