"""Looped BFS: the stages of interleaved 1F1B, each given all micro-batches before the rank goes on to its next stage.

    2 ranks, 2 chunks, 2 micro-batches: stage = chunk * ranks + rank
    0F0 0F1 2F0 2F1 .   .   2B1 2B0 0B1 0B0

As long as interleaved 1F1B, with m v chunks held on every rank. What it buys is not in the drawing: a rank is done with a
stage once, so gradients can be reduced, and weights be gathered, once a stage instead of once a micro-batch.
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes


def looped_bfs(ranks: int, micro_batches: int, chunks: int) -> Schedule:
    """Forwards stage by stage, then backwards stage by stage, both from the last back: PyTorch's ScheduleLoopedBFS.

    >>> print(looped_bfs(1, 2, 2).to_csv(), end="")
    0F0,0F1,1F0,1F1,1B1,1B0,0B1,0B0
    """
    need_sizes(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    placed = tuple(stage % ranks for stage in range(ranks * chunks))
    return Schedule(tuple(_rank(rank, ranks, micro_batches, chunks) for rank in range(ranks)), placed, micro_batches,
                    "looped_bfs")


def _rank(rank, ranks, micro_batches, chunks):
    forwards = [Operation(chunk * ranks + rank, "F", mb) for chunk in range(chunks) for mb in range(micro_batches)]
    return (*forwards, *(Operation(forward.stage, "B", forward.micro_batch) for forward in reversed(forwards)))


LOOPED_BFS = Entry("looped_bfs", "looped BFS", looped_bfs, chunks=None, sizes="any ranks, any micro_batches, any chunks",
                   source="Lamy-Poirier 2023, Breadth-First Pipeline Parallelism (MLSys), section 4.1; order of PyTorch's "
                          "ScheduleLoopedBFS")
