"""Step time at full speed, ours against PyTorch's ScheduleGPipe and Schedule1F1B: same model, data and processes.

The engines do whole steps in turn, in the same workers. A step is from a barrier until the last rank is done, data
included. "ours" is the step that a run with the real clock measures; "counted" is the one before it, in which the bytes
held for the backward are counted, which PyTorch's engine does not do. Target: ours at a ratio of at most 1.0 in every
cell. On a busy machine the processor time says more than the step time.
"""

import argparse
import time

from benchmarks.table import best, heading, middle, show
from course.pipeline import Sizes, close
from course.pipeline.pool import pool_of
from course.schedules import SCHEDULES

ENGINES = ("ours", "counted", "torch")


def setup(worker, schedule, sizes):
    """A job: both engines on stages of their own, equal in every parameter."""
    import torch
    import torch.distributed.pipelining as pipelining

    from course.pipeline.clocks import Real
    from course.pipeline.data import micro_batch
    from course.pipeline.executor import execute
    from course.pipeline.model import build_stage, loss_of
    from course.pipeline.training import prepare

    prepare(worker, schedule, sizes, 0, None)
    share, rank, last = worker.kept, worker.rank, schedule.stages - 1
    module = build_stage(sizes, schedule.stages, rank, 0)
    classes = {"gpipe": pipelining.ScheduleGPipe, "1f1b": pipelining.Schedule1F1B}
    theirs = classes[schedule.name](
        pipelining.PipelineStage(module, rank, schedule.stages, torch.device("cpu")), schedule.micro_batches,
        loss_fn=lambda logits, targets: loss_of(logits, targets, schedule.micro_batches), scale_grads=False)

    def by_torch(step):
        tokens = targets = None
        if rank in (0, last):
            parts = [micro_batch(sizes, 0, step, number) for number in range(schedule.micro_batches)]
            tokens, targets = (torch.cat(part) for part in zip(*parts, strict=True))
        theirs.step(*[tokens] if rank == 0 else [], **{"target": targets} if rank == last else {}, return_outputs=False)

    mine, its = list(share.stages[rank].parameters()), list(module.parameters())
    worker.kept = {"ours": (lambda step: execute(share, step, Real(), counted=False), mine),
                   "counted": (lambda step: execute(share, step, Real()), mine), "torch": (by_torch, its)}


def steps(worker, engine, number):
    """A job: some steps. Returns (seconds, processor seconds) of each."""
    import torch.distributed as dist

    step, parameters = worker.kept[engine]
    found = []
    for count in range(number):
        for parameter in parameters:
            parameter.grad = None
        dist.barrier()
        used, begin = time.process_time(), time.perf_counter()
        step(count)
        found.append((time.perf_counter() - begin, time.process_time() - used))
    return found


def difference(worker):
    """A job: the largest difference between the gradients of the two."""
    return max((one.grad - other.grad).abs().max().item()
               for one, other in zip(worker.kept["ours"][1], worker.kept["torch"][1], strict=True))


def compare(name, ranks, micro_batches, sizes, rounds, number):
    """One row of the table."""
    schedule = SCHEDULES[name].make(ranks, micro_batches, 1)
    pool = pool_of(ranks)
    results = {engine: [] for engine in ENGINES}
    pool.run("benchmarks.step_time:setup", schedule, sizes.for_stages(ranks), stall=None)
    for count in range(rounds + 1):
        for engine in ENGINES if count % 2 else reversed(ENGINES):
            replies = [reply["result"] for reply in pool.run("benchmarks.step_time:steps", engine, number, stall=None)]
            if count:  # the first is for the caches
                results[engine] += [(max(wall for wall, _ in step), sum(used for _, used in step))
                                    for step in zip(*replies, strict=True)]
    apart = max(reply["result"] for reply in pool.run("benchmarks.step_time:difference"))
    row = [f"{name} p={ranks} m={micro_batches}"]
    for which in (0, 1):
        times = {engine: [step[which] for step in results[engine]] for engine in ENGINES}
        row.append(f"{middle(times['torch']) * 1e3:.1f}")
        row += [f"{of(times[engine]) / of(times['torch']):.2f}" for engine in ENGINES[:-1] for of in (middle, best)]
    return [*row, f"{apart:.0e}"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=4, help="steps of one engine in one round")
    parser.add_argument("--micro-batches", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=Sizes().hidden)
    options = parser.parse_args()
    sizes = Sizes(hidden=options.hidden)
    heading(f"step time, unpaced, hidden {sizes.hidden}: {options.rounds} rounds of {options.steps} steps, engines in turn")
    try:
        rows = [compare(name, ranks, options.micro_batches, sizes, options.rounds, options.steps)
                for ranks in (2, 4) for name in ("gpipe", "1f1b")]
    finally:
        close()
    ratios = ["ours", "p10", "counted", "p10"]
    print("ratios to PyTorch's, of medians and of tenth percentiles: first of the step time, then of the processor time of all "
          "ranks;\ngradients: the largest difference between the two\n")
    show(["", "torch ms", *ratios, "torch cpu ms", *ratios, "gradients"], rows)


if __name__ == "__main__":
    main()
