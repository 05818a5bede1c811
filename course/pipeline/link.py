"""Where a rank computes and how its messages travel: by tags, or one channel for each stage boundary and direction.

NCCL ignores tags: there a message is known by its place in the row alone. So each (from stage, to stage) gets a group of
its own two ranks, and the order in which it is sent must be the order in which it is received (course.channels says so).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
import torch.distributed as dist

from course.channels import channels
from course.schedule import Schedule

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Link:
    """A rank's device, and a group for each (from stage, to stage); without groups all goes by the default one, with tags."""

    device: torch.device = CPU
    groups: Mapping[tuple[int, int], object] = field(default_factory=dict)

    def group(self, source: int, target: int):
        """The group by which stage `source` reaches stage `target`; None is the default group."""
        return self.groups.get((source, target))

    def settle(self):
        """Wait until the device has done what it was told: a clock reading before that would say nothing."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def link_for(schedule: Schedule, device: str, replicas: int = 1) -> Link:
    """The link of this rank; on a GPU with channels. All ranks of all replicas must ask at the same time."""
    if device == "cpu":
        return Link()
    return open_channels(schedule, torch.device(device), replicas)


def open_channels(schedule: Schedule, device: torch.device, replicas: int = 1) -> Link:
    """Make a group for each channel and send one number through each.

    The first message of a NCCL group waits for the other end on the host. Here that happens for all of them in one order,
    so it cannot happen in a step, where it could be a deadlock.
    """
    groups, me, number = {}, dist.get_rank(), torch.zeros(1, device=device)
    ranks = len(schedule.ranks)
    for (source, target), replica in itertools.product(channels(schedule), range(replicas)):
        ends = tuple(replica * ranks + schedule.stage_to_rank[stage] for stage in (source, target))
        group = dist.new_group(sorted(ends), backend="nccl" if device.type == "cuda" else None)
        if me == ends[0]:
            dist.send(number, ends[1], group=group)
        if me == ends[1]:
            dist.recv(number, ends[0], group=group)
        if me in ends:
            groups[source, target] = group
    return Link(device, groups)
