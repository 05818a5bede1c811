"""Data parallelism: replicas of the pipeline, each on micro-batches of its own, whose gradients are summed after the step.

Replica d has micro-batches d m to d m + m - 1 of the step, and, unless it is told others, the processes d p to d p + p - 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from course.pipeline.clocks import now
from course.pipeline.worker import PATIENCE


@dataclass
class Replica:
    """Which replica a process belongs to, and the group of those that hold the same stages in the others.

    `processes` are those of this replica's pipeline, a rank of the schedule after the other; `peer` is the next of the group.
    """

    processes: Sequence[int]
    number: int = 0
    count: int = 1
    group: object = None
    peer: int | None = None

    def sum_gradients(self, parameters) -> int:
        """Add up the gradients of all replicas, in place: one all-reduce of all of them. Returns nanoseconds."""
        parameters = [parameter for parameter in parameters if parameter.requires_grad]
        if not parameters:
            return 0
        begin = now()
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        held = [here(parameter.grad) for parameter in parameters]
        flat = torch.cat([gradient.flatten() for gradient in held])
        self.group.allreduce([flat]).wait()
        for gradient, part in zip(held, flat.split([gradient.numel() for gradient in held]), strict=True):
            gradient.copy_(part.view_as(gradient))
        return now() - begin


def here(tensor: torch.Tensor) -> torch.Tensor:
    """What this process holds of a tensor: of a DTensor its own share, which shares its memory; else the tensor itself."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def replica_of(worker, ranks: int, count: int) -> Replica:
    """The replica of this worker, where each has so many ranks. All ranks of all replicas must ask at the same time."""
    number, rank = divmod(worker.rank, ranks)
    processes = range(number * ranks, (number + 1) * ranks)
    if count == 1:
        return Replica(processes)
    if (ranks, count) not in worker.groups:
        worker.groups[ranks, count] = _in_pool(worker, number, count, f"replicas/{ranks}/{count}/{rank}") if (
            worker.introductions) else _under_torchrun(worker.rank, ranks, count)
    return Replica(processes, number, count, worker.groups[ranks, count], (number + 1) % count * ranks + rank)


def _in_pool(worker, number, count, name):
    """Not by new_group: its names count the groups that a worker has seen, and not all have been in every run."""
    return dist.ProcessGroupGloo(dist.PrefixStore(name, worker.introductions), number, count, PATIENCE)


def _under_torchrun(rank, ranks, count):
    groups = [dist.new_group(list(range(first, ranks * count, ranks))) for first in range(ranks)]
    return groups[rank % ranks]
