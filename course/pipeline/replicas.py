"""Data parallelism: replicas of the pipeline, each on micro-batches of its own, whose gradients are summed after the step.

Replica d has the ranks d p to d p + p - 1, and micro-batches d m to d m + m - 1 of the step.
"""

from dataclasses import dataclass

import torch
import torch.distributed as dist

from course.pipeline.clocks import now
from course.pipeline.worker import PATIENCE


@dataclass
class Replica:
    """Which replica a rank belongs to, and the group of the ranks that hold the same stages in the others."""

    number: int = 0
    count: int = 1
    group: object = None

    def sum_gradients(self, parameters) -> int:
        """Add up the gradients of all replicas, in place: one all-reduce of all of them. Returns nanoseconds."""
        parameters = [parameter for parameter in parameters if parameter.requires_grad]
        if not parameters:
            return 0
        begin = now()
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters])
        self.group.allreduce([flat]).wait()
        for parameter, part in zip(parameters, flat.split([parameter.numel() for parameter in parameters]), strict=True):
            parameter.grad.copy_(part.view_as(parameter))
        return now() - begin


def replica_of(worker, ranks: int, count: int) -> Replica:
    """The replica of this worker, where each has so many ranks. All ranks of all replicas must ask at the same time."""
    if count == 1:
        return Replica()
    number, rank = divmod(worker.rank, ranks)
    if (ranks, count) not in worker.groups:
        worker.groups[ranks, count] = _in_pool(worker, number, count, f"replicas/{ranks}/{count}/{rank}") if (
            worker.introductions) else _under_torchrun(worker.rank, ranks, count)
    return Replica(number, count, worker.groups[ranks, count])


def _in_pool(worker, number, count, name):
    """Not by new_group: its names count the groups that a worker has seen, and not all have been in every run."""
    return dist.ProcessGroupGloo(dist.PrefixStore(name, worker.introductions), number, count, PATIENCE)


def _under_torchrun(rank, ranks, count):
    groups = [dist.new_group(list(range(first, ranks * count, ranks))) for first in range(ranks)]
    return groups[rank % ranks]
