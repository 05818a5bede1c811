"""The jobs of a run, as the workers do them: build the stages, train, measure one step, hand over the gradients."""

import os
import statistics
import time

import torch

from course.pipeline.clocks import CLOCKS, Real
from course.pipeline.executor import Share, execute
from course.pipeline.link import link_for
from course.pipeline.model import build_stage
from course.pipeline.replicas import replica_of
from course.pipeline.trace import Trace


def prepare(worker, schedule, sizes, seed, during, engine="ours", build=None, replicas=1):
    """Build this rank's stages and keep them for the next jobs. Returns what the rank is, with bytes per stage."""
    ranks = len(schedule.ranks)
    link, replica = link_for(schedule, worker.device, replicas), replica_of(worker, ranks, replicas)
    rank = worker.rank % ranks
    stages = {stage: build_stage(sizes, schedule.stages, stage, seed, build).to(link.device)
              for stage, home in enumerate(schedule.stage_to_rank) if home == rank}
    worker.kept = Share(schedule, rank, sizes, seed, stages, worker.progress, replica, during, link)
    if engine == "torch":
        from course.pipeline.torch_engine import engine_for  # its import takes seconds

        worker.kept.execute = engine_for(worker.kept)
    return {"pid": os.getpid(), "torch": str(torch.__version__), "preloaded": worker.preloaded,
            "parameter_bytes": {stage: sum(parameter.nbytes for parameter in module.parameters())
                                for stage, module in stages.items()}}


def train(worker, steps, learning_rate, timed=True):
    """Warm up, then train on steps 0, 1, ... at full speed. Returns losses per step, and time per (kind, stage).

    That time is processor time of one operation, in nanoseconds, its share of the messages included. Not `timed` and without
    steps it is that of a cold step.
    """
    share, losses = worker.kept, []
    _forget_gradients(share)
    used, trace = _timed(share, 0)
    if timed and not steps:
        _forget_gradients(share)
        used, trace = _timed(share, 0)
    for step in range(steps):
        _forget_gradients(share)
        used, trace = _timed(share, step)
        losses.append(trace.losses)
        # torch.optim would import torch._dynamo: two seconds a worker
        with torch.no_grad():
            for parameter in share.parameters:
                if parameter.grad is not None:
                    parameter -= learning_rate * parameter.grad
    between = max(0, used - sum(trace.computing)) / max(1, len(trace.operations))
    times = {}
    for operation, busy in zip(trace.operations, trace.computing, strict=True):
        times.setdefault((operation.kind, operation.stage), []).append(busy + between)
    return {"losses": losses, "times": {key: statistics.median(of) for key, of in times.items()}}


def measure(worker, step, clock, durations, begin, boundaries) -> Trace:
    """Do one step without changing the parameters, and report it. `durations` are per rank, in the order of its operations.

    With the real clock, `count` comes before: counting would slow the step down.
    """
    share = worker.kept
    _forget_gradients(share)
    plan = dict(zip(share.schedule.ranks[share.rank], durations[share.rank], strict=True))
    timing = Real() if clock == "real" else CLOCKS[clock](plan, begin)
    trace = (share.execute or execute)(share, step, timing, boundaries, counted=clock != "real")
    if clock == "real":
        trace.take_memory(share.counted)
    return trace


def count(worker, step):
    """Do one step for what it holds for the backward, and keep that for `measure`."""
    share = worker.kept
    _forget_gradients(share)
    share.counted = (share.execute or execute)(share, step, Real())


def gradients(worker):
    """The gradients of the last step, as bytes: stage -> all parameters in their order, float32."""
    return {stage: flat_gradient(module).cpu().numpy().tobytes() for stage, module in worker.kept.stages.items()}


def flat_gradient(module: torch.nn.Module) -> torch.Tensor:
    """All gradients of a module in one row, zeros where a parameter has none."""
    rows = [(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).flatten()
            for parameter in module.parameters()]
    return torch.cat(rows) if rows else torch.zeros(0)


def _forget_gradients(share):
    for parameter in share.parameters:
        parameter.grad = None


def _timed(share, step):
    used = time.process_time_ns()
    trace = (share.execute or execute)(share, step, Real())
    return time.process_time_ns() - used, trace
