"""What one rank sends and receives in one step: torch.distributed's isend and irecv, a tag for each message.

Three rules took time to find. The next receive is posted one operation ahead. Handle and tensor of a send are held until
the step ends: without either the message is lost. A receive has the shape that is sent: a smaller one ends the process.
"""

import contextlib
from collections.abc import Sequence

import torch
import torch.distributed as dist

from course.pipeline.link import Link
from course.pipeline.progress import Progress
from course.schedule import KINDS, Operation, Schedule
from course.simulation import Traffic

STAMP = 2  # float32 places at the end of a message: a whole number, the nanosecond at which it arrives


class NeighbourLost(RuntimeError):
    """A message could not be sent or received: as a rule some other rank is at fault."""


@contextlib.contextmanager
def blaming_neighbours():
    """What gloo says of a broken connection becomes a NeighbourLost, where torch itself sends and receives."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, dist.DistError) or "gloo" in str(error):
            raise NeighbourLost(str(error)) from error
        raise


def tag_of(sender: Operation, schedule: Schedule) -> int:
    """The number of the message that an operation sends."""
    return (sender.stage * schedule.micro_batches + sender.micro_batch) * len(KINDS) + KINDS.index(sender.kind)


def receiver_of(sender: Operation, schedule: Schedule) -> int | None:
    """The stage that needs what an operation computes; None when no other stage does."""
    if sender.kind == "W":
        return None
    stage = sender.stage + (1 if sender.kind == "F" else -1)
    return stage if 0 <= stage < schedule.stages else None


class Messages:
    """The messages of one rank in one step. Stages that are neighbours on one rank pass their tensors without a copy."""

    def __init__(self, schedule: Schedule, rank: int, shape: tuple[int, ...], progress: Progress, traffic: Traffic,
                 processes: Sequence[int], link: Link | None = None):
        self.schedule, self.rank, self.shape, self.progress, self.traffic = schedule, rank, shape, progress, traffic
        self.link, self._processes = link or Link(), processes  # by rank
        self.bytes_sent: dict[tuple[int, int], int] = {}
        self._needs = [self._need(operation) for operation in schedule.ranks[rank]]
        self._remote = [position for position, need in enumerate(self._needs) if need and self._home(need.stage) != rank]
        self._next = 0
        self._posted, self._passed, self._sent = {}, {}, []

    def receive(self, position: int) -> tuple[torch.Tensor | None, int]:
        """What the rank's operation at this position needs from another stage, and when it arrives by plan."""
        need = self._needs[position]
        if need is None:
            return None, 0
        if need in self._passed:
            return self._passed.pop(need)
        peer = self._process_of(need.stage)
        self.progress.wait(position, peer)
        while self._next < len(self._remote) and len(self._posted) < 2:
            self._post(self._remote[self._next])
            self._next += 1
        handle, buffer = self._posted.pop(position)
        self._await(handle, peer)
        content, stamp = _parts(buffer, self.shape)
        return content.clone(), int(stamp)  # the stamp's bytes are no activation

    def send(self, operation: Operation, content: torch.Tensor | None, end: int):
        """Pass on what an operation computed; `end` is when the emulated device was done."""
        stage = receiver_of(operation, self.schedule)
        if stage is None:
            return
        if content is None:
            raise ValueError(f"stage {operation.stage} has no gradient for what it was given, and stage {stage} needs it: its "
                             "result must depend on its input")
        if content.shape != self.shape or content.dtype != torch.float32:
            # a receive of another size would end the process, one of another type be nonsense
            raise ValueError(f"stage {operation.stage} gave a tensor of shape {tuple(content.shape)} and {content.dtype}; stage "
                             f"{stage} takes {tuple(self.shape)} and torch.float32")
        if self._home(stage) == self.rank:
            self._passed[operation] = content, end
            return
        peer = self._process_of(stage)
        buffer = _buffer(self.shape, self.link.device)
        place, stamp = _parts(buffer, self.shape)
        place.copy_(content)
        stamp.fill_(self.traffic.arrival(operation.stage, stage, end))
        try:
            handle = dist.isend(buffer, peer, self.link.group(operation.stage, stage), tag_of(operation, self.schedule))
        except RuntimeError as error:
            raise NeighbourLost(f"sending to rank {peer}: {error}") from error
        self._sent.append((handle, buffer, peer))
        crossed = operation.stage, stage
        self.bytes_sent[crossed] = self.bytes_sent.get(crossed, 0) + content.nbytes

    def finish(self):
        """Wait until all that was sent is received."""
        end = len(self._needs)
        for handle, _, peer in self._sent:
            self.progress.wait(end, peer)
            self._await(handle, peer)
        self._sent.clear()

    def _need(self, operation):
        return next((need for need in self.schedule.needs(operation) if need.stage != operation.stage), None)

    def _home(self, stage):
        return self.schedule.stage_to_rank[stage]

    def _process_of(self, stage):
        return self._processes[self._home(stage)]

    def _post(self, position):
        need = self._needs[position]
        peer, buffer = self._process_of(need.stage), _buffer(self.shape, self.link.device)
        group = self.link.group(need.stage, self.schedule.ranks[self.rank][position].stage)
        try:
            self._posted[position] = dist.irecv(buffer, peer, group, tag_of(need, self.schedule)), buffer
        except RuntimeError as error:
            raise NeighbourLost(f"receiving from rank {peer}: {error}") from error

    @staticmethod
    def _await(handle, peer):
        try:
            handle.wait()
        except RuntimeError as error:
            raise NeighbourLost(f"waiting for rank {peer}: {error}") from error


def _buffer(shape, device):
    size = torch.Size(shape).numel()
    return torch.empty(size + size % 2 + STAMP, device=device)  # the stamp is aligned to 8 bytes


def _parts(buffer, shape):
    return buffer[:torch.Size(shape).numel()].view(shape), buffer[-STAMP:].view(torch.int64)
