"""The interpreter: a rank does its operations in their order, whatever the schedule is. Receive, compute, send."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from course.pipeline.clocks import now
from course.pipeline.data import micro_batch
from course.pipeline.link import Link
from course.pipeline.memory import NotCounted, SavedBytes
from course.pipeline.messages import Messages
from course.pipeline.model import loss_of
from course.pipeline.progress import Progress
from course.pipeline.replicas import Replica
from course.pipeline.sizes import Sizes
from course.pipeline.trace import Trace
from course.schedule import Operation, Schedule
from course.simulation import Traffic


@dataclass
class Share:
    """What one rank holds of the training: its stages, by number, and all that says what to do with them.

    `rank` is the rank in the schedule.
    """

    schedule: Schedule
    rank: int
    sizes: Sizes
    seed: int
    stages: dict[int, torch.nn.Module]
    progress: Progress
    replica: Replica
    during: Callable[[Operation], object] | None = None
    link: Link = field(default_factory=Link)
    execute: Callable | None = None  # who does a step instead of `execute` below
    counted: Trace | None = None  # a step whose memory was counted, for one that is timed without

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        """All parameters that live here."""
        return [parameter for stage in self.stages.values() for parameter in stage.parameters()]

    @property
    def all_micro_batches(self) -> int:
        """Of all replicas: a loss is divided by it."""
        return self.replica.count * self.schedule.micro_batches

    def number(self, micro_batch: int) -> int:
        """The number in the whole step of one of this replica's micro-batches."""
        return self.replica.number * self.schedule.micro_batches + micro_batch


def execute(share: Share, step: int, clock, boundaries: Sequence[tuple[int, int]] | None = None, counted: bool = True) -> Trace:
    """One step of one rank. Gradients are added to the parameters'; `clock` is one of course.pipeline.clocks.

    `boundaries`: what a message takes between two stages, as Costs.per_boundary has it, in the clock's unit.
    `counted`: whether the trace says what is held for the backward.
    """
    trace, meter = Trace(), SavedBytes(share.parameters) if counted else NotCounted()
    traffic = Traffic(share.schedule.stage_to_rank, boundaries or [(0, 0)] * share.schedule.stages)
    messages = Messages(share.schedule, share.rank, share.sizes.boundary, share.progress, traffic, share.replica.processes,
                        share.link)
    stages = _Stages(share, step, meter, trace)
    for position, operation in enumerate(share.schedule.ranks[share.rank]):
        needed, arrival = messages.receive(position)
        share.progress.compute(position)
        start = clock.start(arrival)
        before, busy = meter.bytes, time.thread_time_ns()
        result = stages.compute(operation, needed)
        busy = time.thread_time_ns() - busy
        if share.during:
            begin = now()
            share.during(operation)
            clock.disturb(now() - begin)
        share.link.settle()
        end = clock.end(operation)
        messages.send(operation, result, clock.planned_end)
        trace.operations.append(operation)
        trace.starts.append(start)
        trace.ends.append(end)
        trace.computing.append(busy)
        trace.levels.append(meter.bytes)
        if operation.kind == "F":
            trace.bytes_of_one.setdefault(operation.stage, meter.bytes - before)
    messages.finish()
    if share.replica.count > 1:
        share.progress.wait(len(trace.operations), share.replica.peer)
        trace.reducing = share.replica.sum_gradients(share.parameters)
    share.progress.reset()
    trace.overruns, trace.disturbance, trace.bytes_sent = clock.overruns, clock.disturbance, messages.bytes_sent
    trace.peak_activations, trace.peak_activation_bytes = meter.peak_owners, meter.peak_bytes
    trace.activation_bytes_left = meter.bytes
    return trace


class _Stages:
    """The arithmetic of one rank in one step; holds a micro-batch's graph from its F until its B, or its W."""

    def __init__(self, share, step, meter, trace):
        self.share, self.step, self.meter, self.trace = share, step, meter, trace
        self.last = share.schedule.stages - 1
        self.held = {}

    def compute(self, operation, needed):
        """The tensor that the neighbour needs, None where nobody does."""
        do = {"F": self._forward, "B": self._backward, "I": self._input_gradient, "W": self._weight_gradient}
        return do[operation.kind](operation.stage, operation.micro_batch, needed)

    def _forward(self, stage, number, arrived):
        if stage in (0, self.last):
            tokens, targets = (part.to(self.share.link.device) for part in micro_batch(
                self.share.sizes, self.share.seed, self.step, self.share.number(number)))
        begin = tokens if stage == 0 else arrived.requires_grad_()
        with self.meter.saving((stage, number)):
            end = self.share.stages[stage](begin)
        if stage == self.last:
            end = loss_of(end, targets, self.share.all_micro_batches)
            self.trace.losses[self.share.number(number)] = end.item()
        self.held[stage, number] = begin, end
        return None if stage == self.last else end.detach()

    def _backward(self, stage, number, gradient):
        begin, end = self.held.pop((stage, number))
        end.backward(gradient)
        return begin.grad

    def _input_gradient(self, stage, number, gradient):
        begin, end = self.held[stage, number]
        self.held[stage, number] = end, gradient
        return torch.autograd.grad(end, begin, gradient, retain_graph=True)[0] if stage else None

    def _weight_gradient(self, stage, number, _):
        end, gradient = self.held.pop((stage, number))
        end.backward(gradient, inputs=list(self.share.stages[stage].parameters()))
