"""The clocks of several machines: each has its own zero, so a rank asks rank 0 for the time, often, and keeps the best answer."""

import time
from collections.abc import Iterable

import torch
import torch.distributed as dist

from course.pipeline import clocks

ROUNDS = 100


def estimate(answers: Iterable[tuple[int, int, int]]) -> tuple[int, int]:
    """How far rank 0's clock is ahead of ours, and by how much that may be wrong, of (asked, rank 0's time, answered).

    The answer was read at some time between asking and being answered: half of the shortest way there and back is the
    largest error.

    >>> estimate([(0, 105, 10), (20, 131, 40)])
    (100, 5)
    """
    asked, theirs, answered = min(answers, key=lambda answer: answer[2] - answer[0])
    return theirs - (asked + answered) // 2, -(-(answered - asked) // 2)


def align(worker, away: list[int]) -> int:
    """A job of all ranks: those that are away from rank 0's machine take over its clock. Returns the error in nanoseconds."""
    word = torch.zeros(1, dtype=torch.int64)
    for rank in away:
        if worker.rank == 0:
            for _ in range(ROUNDS):
                dist.recv(word, rank)
                word[0] = time.perf_counter_ns()
                dist.send(word, rank)
        elif worker.rank == rank:
            ahead, error = estimate([_ask(word) for _ in range(ROUNDS)])
            clocks.align(ahead)
            return error
    return 0


def _ask(word):
    asked = time.perf_counter_ns()
    dist.send(word, 0)
    dist.recv(word, 0)
    return asked, int(word), time.perf_counter_ns()
