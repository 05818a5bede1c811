"""Run any legal schedule on processes, measure it, compare it with its simulation and with one process."""

import collections
import contextlib
import math
from collections.abc import Callable, Iterable, Sequence

from course.pipeline.machine import facts
from course.pipeline.measurement import GROWTH, NANO, measure, slot_for
from course.pipeline.places import Places, in_a_row
from course.pipeline.pool import taken, travelling
from course.pipeline.record import Run
from course.pipeline.request import check, check_engine, check_training, read_costs
from course.pipeline.sizes import Sizes
from course.schedule import Operation, Schedule
from course.simulation import Costs, simulate

PATIENCE, PATIENCE_EACH = 60, 0.02  # seconds for a job, and for each operation of it: a guard against what hangs
LARGEST_COMPARED = 500_000_000  # bytes of parameters: larger models are not trained by one process as well
LARGE = 1_000_000  # bytes that a function may drag along without a word


def run(schedule: Schedule, *, clock: str = "paced", forward: float | Sequence | None = None,
        backward: float | Sequence | None = None, costs: Costs | None = None, slot_seconds: float | None = None,
        steps: int = 4, seed: int = 0, learning_rate: float = 0.2, sizes: Sizes | None = None,
        during: Callable[[Operation], object] | None = None, build: Callable | None = None, engine: str = "ours",
        dp: int = 1, workers=None, compare: bool = True) -> Run:
    """Train a small transformer by this schedule, one process a rank, and measure the last of `steps` steps.

    Clocks: `paced` computes everything and lets each operation of the measured step last as long as its emulated
    device would, `real` emulates nothing, `virtual` follows the plan without sleeping. Times are in slots: `forward` and
    `backward`, a number or one per stage, or all `costs`. A slot is `slot_seconds` long; None: as short as this machine
    can keep. `during(operation)` is called inside each operation on its rank, to disturb it: what it takes comes on top.
    `build(sizes, stages, stage)` makes a torch module to take the place of our stage: bytes in at the first stage, logits
    of the next byte out at the last, float32 of the shape `sizes.boundary` in between.
    `dp` replicas of the pipeline train on micro-batches of their own, and sum their gradients by an all-reduce after the
    step, which takes its real time and is measured apart.
    `compare`: whether one process trains the whole model as well, to compare losses and gradients with.
    Engines: `ours`, or `torch` for torch.distributed.pipelining, with the real clock. `workers` None: this process's warm
    pool; else what has its `ranks` and its `run`.

    ValueError when the schedule is illegal or a value cannot be, before any process is touched. PipelineError when a
    rank fails.
    """
    costs = read_costs(forward, backward, costs)
    check(schedule, clock, slot_seconds, steps, seed, costs, workers, dp)
    check_training(learning_rate, sizes, during, build)
    check_engine(engine, clock, schedule, dp)
    dragged = len(travelling((during, build)))
    predicted = simulate(schedule, costs)
    sizes = (sizes or Sizes()).for_stages(schedule.stages)
    ranks, stages = dp * len(schedule.ranks), schedule.stages
    output, places = [""] * ranks, Places(schedule, in_a_row(schedule, dp))
    patience = PATIENCE + steps * PATIENCE_EACH * sum(map(len, schedule.ranks))
    with taken(ranks) if workers is None else contextlib.nullcontext(workers) as pool:
        def do(job, *arguments, on=ranks, planned=0.0):
            replies = pool.run(job, *arguments, ranks=on, timeout=patience + 3 * planned, describe=places)
            for rank, reply in enumerate(replies):
                output[rank] += reply["output"]
            return [reply["result"] for reply in replies]

        prepared = do("course.pipeline.training:prepare", schedule, sizes, seed, during, engine, build, dp)
        # the plan's times need no warm-up
        cold = clock == "virtual" and steps == 1 and slot_seconds is not None
        trained = [{"losses": []}] * ranks if cold else do("course.pipeline.training:train", steps - 1, learning_rate,
                                                           slot_seconds is None)
        slot = _slot(trained, predicted) if slot_seconds is None else round(slot_seconds * NANO)
        planned = float(predicted.makespan) * slot / NANO
        got = measure(lambda *job: do(*job, planned=planned), predicted, steps - 1, clock, costs.per_boundary(stages), slot,
                      GROWTH if slot_seconds is None else 1)
        weights = {stage: size for reply in prepared for stage, size in reply["parameter_bytes"].items()}
        truth, too_large = {"losses": [], "difference": math.nan}, sum(weights.values()) > LARGEST_COMPARED
        if compare and not too_large:
            gradients = by_stage(do("course.pipeline.training:gradients"))
            order = [replica * schedule.micro_batches + number for replica in range(dp) for number in _order(schedule)]
            truth, = do("course.pipeline.reference:reference", sizes, stages, dp * schedule.micro_batches, order, seed,
                        steps, learning_rate, gradients, build, on=1)
    sent = {crossed: size for trace in got.traces for crossed, size in trace.bytes_sent.items()}
    one = {stage: size for trace in got.traces for stage, size in trace.bytes_of_one.items()}
    neighbours = [pair for stage in range(stages - 1) for pair in ((stage, stage + 1), (stage + 1, stage))]
    lasts = range(schedule.stage_to_rank[-1], ranks, len(schedule.ranks))
    every_step = zip(*[[*trained[last]["losses"], got.all_traces[last].losses] for last in lasts], strict=True)
    return Run(
        schedule=schedule, clock=clock, engine=engine, slot_seconds=got.slot_seconds, predicted=predicted, measured=got.timeline,
        bubble_measured=got.bubble, overruns=got.overruns, attempts=got.attempts,
        losses=tuple(total(collections.ChainMap(*losses)) for losses in every_step),
        reference_losses=tuple(map(total, truth["losses"])), max_gradient_difference=truth["difference"],
        peak_activations_measured=tuple(trace.peak_activations for trace in got.traces),
        peak_activation_bytes=tuple(trace.peak_activation_bytes for trace in got.traces),
        activation_bytes_left=tuple(trace.activation_bytes_left for trace in got.traces),
        activation_steps=got.held, bytes_of_one=tuple(one.get(stage, 0) for stage in range(stages)),
        bytes_sent={pair: sent.get(pair, 0) for pair in neighbours},
        parameter_bytes=tuple(weights[stage] for stage in range(stages)), sizes=sizes, dp=dp,
        all_reduce_seconds=_reducing(got.all_traces, len(schedule.ranks)) / NANO,
        pids=tuple(reply["pid"] for reply in prepared), output=tuple(output),
        machine=facts() | {"torch": prepared[0]["torch"], "preloaded": all(reply["preloaded"] for reply in prepared)},
        notes=tuple(_notes(got, dragged, compare and too_large)))


def by_stage(replies: Iterable[dict[int, bytes]]) -> dict[int, set[bytes]]:
    """What the processes have of each stage, each content once: as a rule all that have a stage have the same."""
    found = {}
    for stage, content in (item for reply in replies for item in reply.items()):
        found.setdefault(stage, set()).add(content)
    return found


def keepable_slot(schedule: Schedule, costs: Costs, sizes: Sizes | None = None, dp: int = 1) -> float:
    """Seconds of a slot with which this machine can keep the paced clock for this schedule: a step is timed, none is measured.

    ValueError and PipelineError as `run` has them.
    """
    check(schedule, "paced", None, 1, 0, costs, None, dp)
    ranks, places = dp * len(schedule.ranks), Places(schedule, in_a_row(schedule, dp))
    patience = PATIENCE + PATIENCE_EACH * sum(map(len, schedule.ranks))
    with taken(ranks) as pool:
        for job, *arguments in (("prepare", schedule, (sizes or Sizes()).for_stages(schedule.stages), 0, None, "ours", None, dp),
                                ("train", 0, 0.0)):
            replies = pool.run(f"course.pipeline.training:{job}", *arguments, ranks=ranks, timeout=patience, describe=places)
    return _slot([reply["result"] for reply in replies], simulate(schedule, costs)) / NANO


def _slot(trained, predicted):
    """Nanoseconds of a slot that this machine can keep, by the times of a step at full speed."""
    times = {key: time for reply in trained for key, time in reply["times"].items()}
    lengths = {span.operation: span.end - span.start for span in predicted.spans}
    return slot_for(times, lengths, len(trained))


def _order(schedule):
    """The order in which gradients are added up: the last stage's, which in most schedules is every stage's."""
    last = schedule.stages - 1
    return [operation.micro_batch for operation in schedule.ranks[schedule.stage_to_rank[last]]
            if operation.stage == last and operation.kind in "BW"]


def _reducing(traces, ranks):
    """How long the all-reduce took from when the last replica was there; the others waited for it before."""
    return max(min(trace.reducing for trace in traces[rank::ranks]) for rank in range(ranks))


def total(losses: dict[int, float]) -> float:
    """The loss of a step, from those of its micro-batches by their numbers."""
    return sum(losses[number] for number in sorted(losses))


def _notes(got, dragged, too_large):
    if too_large:
        yield f"gradients are not compared: the model is larger than {LARGEST_COMPARED:,} bytes"
    if got.overruns:
        yield (f"{got.overruns} operations took longer than their emulated device would, in the best of {got.attempts} "
               "steps: the machine is busy, or slot_seconds is too short")
    if disturbance := sum(trace.disturbance for trace in got.all_traces):
        yield f"during= took {disturbance / NANO:.3f} s inside the operations, on top of their time"
    if dragged > LARGE:
        yield f"the functions given to this run drag {dragged:,} bytes along: give them less to refer to"
