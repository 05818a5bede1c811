"""The same step by torch.distributed.pipelining: its public schedules where it has ours, else its runtime with our CSV.

Everything here that starts with an underscore there is private to PyTorch and may change with its version; this file is
the one place that uses it. Model, data, micro-batches and the scale of the loss are ours, so the gradients must be too.
"""

import contextlib
import logging
import os
import tempfile
import time

import torch
from torch.distributed import pipelining
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

from course.pipeline.data import micro_batch
from course.pipeline.memory import NotCounted, SavedBytes
from course.pipeline.messages import blaming_neighbours
from course.pipeline.model import loss_of
from course.pipeline.sizes import VOCABULARY
from course.pipeline.trace import Trace
from course.schedule import Operation, Schedule
from course.schedules import SCHEDULES

PUBLIC = {"gpipe": pipelining.ScheduleGPipe, "1f1b": pipelining.Schedule1F1B,
          "interleaved_1f1b": pipelining.ScheduleInterleaved1F1B}

# on an error it writes the whole schedule, from every rank
logging.getLogger("torch.distributed.pipelining.schedules").setLevel(logging.CRITICAL)


def engine_for(share):
    """What does a step of this share, in place of the executor: a function of (share, step, clock, boundaries) -> Trace."""
    return _Engine(share).execute


def class_for(schedule: Schedule) -> type:
    """PyTorch's class of a schedule that it knows, else its runtime, which follows any order."""
    if schedule.name not in PUBLIC:
        return _Runtime
    if schedule.name == "1f1b" and schedule.micro_batches < schedule.stages:
        return _Runtime  # PyTorch's class refuses it
    if schedule.name == "interleaved_1f1b" and schedule.chunks == 1:
        return _Runtime  # PyTorch's warm-up is twice as long there
    sizes = len(schedule.ranks), schedule.micro_batches, schedule.chunks
    with contextlib.suppress(ValueError):
        if SCHEDULES[schedule.name].make(*sizes) == schedule:
            return PUBLIC[schedule.name]
    return _Runtime


class _Runtime(_PipelineScheduleRuntime):
    """The runtime with losses found by micro-batch: PyTorch's takes the n-th that was computed for that of micro-batch n."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._internal_losses = {}

    def _maybe_compute_loss(self, stage, output, target_mbs, mb_index, loss_kwargs=None):
        if stage.is_last:
            self._internal_losses[mb_index] = self._compute_loss(output, target_mbs[mb_index], loss_kwargs)

    def _maybe_get_loss(self, stage, mb_index):
        return self._internal_losses.pop(mb_index) if stage.is_last else None


class _Stage(pipelining.PipelineStage):
    """A stage whose operations are taken down. Its group is as large as the schedule; the warm pool's may be larger."""

    def __init__(self, record, *args):
        self.record = record
        super().__init__(*args)

    @property
    def group_size(self):
        return len(self.record.share.schedule.ranks)

    @group_size.setter
    def group_size(self, size):
        pass

    def forward_one_chunk(self, fwd_chunk_id, *args, **options):
        with self.record.operation(Operation(self.stage_index, "F", fwd_chunk_id)):
            return super().forward_one_chunk(fwd_chunk_id, *args, **options)

    def backward_one_chunk(self, bwd_chunk_id, loss=None, full_backward=True, last_backward=False):
        with self.record.operation(Operation(self.stage_index, "B" if full_backward else "I", bwd_chunk_id)):
            return super().backward_one_chunk(bwd_chunk_id, loss, full_backward, last_backward)

    def backward_weight_one_chunk(self, bwd_chunk_id, last_backward=False):
        with self.record.operation(Operation(self.stage_index, "W", bwd_chunk_id)):
            return super().backward_weight_one_chunk(bwd_chunk_id, last_backward)

    def get_fwd_send_ops(self, fwd_chunk_id):
        return self._sent(super().get_fwd_send_ops(fwd_chunk_id), self.stage_index + 1)

    def get_bwd_send_ops(self, bwd_chunk_id):
        return self._sent(super().get_bwd_send_ops(bwd_chunk_id), self.stage_index - 1)

    def _sent(self, operations, target):
        for operation in operations:
            self.record.sent(self.stage_index, target, operation.tensor.nbytes)
        return operations


class _Engine:
    """PyTorch's stages and schedule of one rank, kept from step to step, and the record of the step that is under way."""

    def __init__(self, share):
        self.share = share
        schedule, last = share.schedule, share.schedule.stages - 1
        self.stages = [self._stage(stage) for stage in sorted(share.stages)]
        kind = class_for(schedule)
        single = kind in (pipelining.ScheduleGPipe, pipelining.Schedule1F1B)
        self.schedule = kind(self.stages[0] if single else self.stages, n_microbatches=schedule.micro_batches,
                             loss_fn=self._loss, scale_grads=False)
        if kind is _Runtime:
            _load(self.schedule, schedule.to_csv())
        self.first, self.last = 0 in share.stages, last in share.stages

    def _stage(self, stage):
        schedule, sizes = self.share.schedule, self.share.sizes
        device, last = self.share.link.device, stage == schedule.stages - 1
        tokens = torch.zeros(sizes.boundary[:2], dtype=torch.int64, device=device)
        between = torch.zeros(sizes.boundary, device=device, requires_grad=True)
        logits = torch.zeros(*sizes.boundary[:2], VOCABULARY, device=device, requires_grad=True)
        made = _Stage(self, self.share.stages[stage], stage, schedule.stages, device, between if stage else tokens,
                      logits if last else between)
        made.stage_index_to_group_rank = dict(enumerate(schedule.stage_to_rank))
        return made

    def execute(self, share, step: int, clock, boundaries=None, counted: bool = True) -> Trace:
        """One step; the same as the executor's, but messages take what they take: the clock is the real one."""
        self.trace, self.clock = Trace(), clock
        self.meter = SavedBytes(share.parameters) if counted else NotCounted()
        batches = [micro_batch(share.sizes, share.seed, step, number) for number in range(share.schedule.micro_batches)]
        tokens, targets = (torch.cat(parts).to(share.link.device) for parts in zip(*batches, strict=True))
        with blaming_neighbours():
            self.schedule.step(*[tokens] if self.first else [], **{"target": targets} if self.last else {},
                               return_outputs=False)
        share.progress.reset()
        self.trace.peak_activations, self.trace.peak_activation_bytes = self.meter.peak_owners, self.meter.peak_bytes
        self.trace.activation_bytes_left = self.meter.bytes
        return self.trace

    @contextlib.contextmanager
    def operation(self, operation):
        """Take down an operation: its times, what it holds for the backward."""
        trace = self.trace
        self.share.progress.compute(len(trace.operations))
        trace.operations.append(operation)
        trace.starts.append(self.clock.start(0))
        before, busy = self.meter.bytes, time.thread_time_ns()
        with self.meter.saving((operation.stage, operation.micro_batch)) if operation.kind == "F" else contextlib.nullcontext():
            yield
        trace.computing.append(time.thread_time_ns() - busy)
        if self.share.during:
            self.share.during(operation)
        self.share.link.settle()
        trace.ends.append(self.clock.end(operation))
        trace.levels.append(self.meter.bytes)
        if operation.kind == "F":
            trace.bytes_of_one.setdefault(operation.stage, self.meter.bytes - before)

    def sent(self, source, target, size):
        """Count what a stage sends."""
        self.trace.bytes_sent[source, target] = self.trace.bytes_sent.get((source, target), 0) + size

    def _loss(self, logits, targets):
        """Called right after the last stage's forward, whose end moves behind it."""
        loss = loss_of(logits, targets, self.share.schedule.micro_batches)
        operation = self.trace.operations[-1]
        self.trace.losses[operation.micro_batch] = loss.item()
        self.trace.ends[-1] = self.clock.end(operation)
        return loss


def _load(runtime, csv):
    folder = tempfile.mkdtemp(prefix="course-pipeline-")
    path = os.path.join(folder, "schedule.csv")
    try:
        with open(path, "w") as file:
            file.write(csv)
        runtime._load_csv(path, format="compute_only")
    finally:
        os.remove(path)
        os.rmdir(folder)
