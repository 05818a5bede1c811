"""Run any legal schedule on processes, measure it, compare it with its simulation and with one process."""

import math
from collections.abc import Callable, Sequence

import cloudpickle

from course.legality import violations
from course.pipeline.machine import facts
from course.pipeline.measurement import GROWTH, NANO, measure, slot_for
from course.pipeline.pool import pool_of
from course.pipeline.record import CLOCKS, Run
from course.pipeline.sizes import Sizes, need_whole
from course.schedule import Operation, Schedule
from course.simulation import Costs, simulate

MOST_RANKS = 16  # a process each
MOST_STAGES = 64
PATIENCE, PATIENCE_EACH = 60, 0.02  # seconds for a job, and for each operation of it: a guard against what hangs
LARGEST_COMPARED = 500_000_000  # bytes of parameters: larger models are not trained by one process as well
ENGINES = ("ours", "torch")
LARGE = 1_000_000  # bytes that a function may drag along without a word


def run(schedule: Schedule, *, clock: str = "paced", forward: float | Sequence | None = None,
        backward: float | Sequence | None = None, costs: Costs | None = None, slot_seconds: float | None = None,
        steps: int = 4, seed: int = 0, learning_rate: float = 0.2, sizes: Sizes | None = None,
        during: Callable[[Operation], object] | None = None, engine: str = "ours", workers=None) -> Run:
    """Train a small transformer by this schedule, one process a rank, and measure the last of `steps` steps.

    Clocks: `paced` computes everything and lets each operation of the measured step last as long as its emulated
    device would, `real` emulates nothing, `virtual` follows the plan without sleeping. Times are in slots: `forward` and
    `backward`, a number or one per stage, or all `costs`. A slot is `slot_seconds` long; None: as short as this machine
    can keep. `during(operation)` is called inside each operation on its rank, to disturb it: what it takes comes on top.
    Engines: `ours`, or `torch` for torch.distributed.pipelining, with the real clock. `workers` None: this process's warm
    pool; else what has its `ranks` and its `run`.

    ValueError when the schedule is illegal or a value cannot be, before any process is touched. PipelineError when a
    rank fails.
    """
    costs = _costs(forward, backward, costs)
    _check(schedule, clock, slot_seconds, steps, seed, costs, workers)
    _check_engine(engine, clock, schedule)
    predicted = simulate(schedule, costs)
    sizes = (sizes or Sizes()).for_stages(schedule.stages)
    ranks, stages = len(schedule.ranks), schedule.stages
    pool, output = pool_of(ranks) if workers is None else workers, [""] * ranks
    patience = PATIENCE + steps * PATIENCE_EACH * sum(map(len, schedule.ranks))

    def do(job, *arguments, on=ranks, planned=0.0):
        replies = pool.run(job, *arguments, ranks=on, timeout=patience + 3 * planned, describe=_describe(schedule))
        for rank, reply in enumerate(replies):
            output[rank] += reply["output"]
        return [reply["result"] for reply in replies]

    prepared = do("course.pipeline.training:prepare", schedule, sizes, seed, during, engine)
    trained = do("course.pipeline.training:train", steps - 1, learning_rate)
    times = {key: time for reply in trained for key, time in reply["times"].items()}
    lengths = {span.operation: span.end - span.start for span in predicted.spans}
    slot = slot_for(times, lengths, ranks) if slot_seconds is None else round(slot_seconds * NANO)
    planned = float(predicted.makespan) * slot / NANO
    got = measure(lambda *job: do(*job, planned=planned), predicted, steps - 1, clock, costs.per_boundary(stages), slot,
                  GROWTH if slot_seconds is None else 1)
    weights = {stage: size for reply in prepared for stage, size in reply["parameter_bytes"].items()}
    truth, compared = {"losses": [], "difference": math.nan}, sum(weights.values()) <= LARGEST_COMPARED
    if compared:
        gradients = {stage: flat for reply in do("course.pipeline.training:gradients") for stage, flat in reply.items()}
        truth, = do("course.pipeline.reference:reference", sizes, stages, schedule.micro_batches, _order(schedule), seed,
                    steps, learning_rate, gradients, on=1)
    sent = {crossed: size for trace in got.traces for crossed, size in trace.bytes_sent.items()}
    one = {stage: size for trace in got.traces for stage, size in trace.bytes_of_one.items()}
    neighbours = [pair for stage in range(stages - 1) for pair in ((stage, stage + 1), (stage + 1, stage))]
    last = schedule.stage_to_rank[-1]
    return Run(
        schedule=schedule, clock=clock, engine=engine, slot_seconds=got.slot_seconds, predicted=predicted, measured=got.timeline,
        bubble_measured=got.bubble, overruns=got.overruns, attempts=got.attempts,
        losses=tuple(map(_total, [*trained[last]["losses"], got.traces[last].losses])),
        reference_losses=tuple(map(_total, truth["losses"])), max_gradient_difference=truth["difference"],
        peak_activations_measured=tuple(trace.peak_activations for trace in got.traces),
        peak_activation_bytes=tuple(trace.peak_activation_bytes for trace in got.traces),
        activation_bytes_left=tuple(trace.activation_bytes_left for trace in got.traces),
        activation_steps=got.held, bytes_of_one=tuple(one.get(stage, 0) for stage in range(stages)),
        bytes_sent={pair: sent.get(pair, 0) for pair in neighbours},
        parameter_bytes=tuple(weights[stage] for stage in range(stages)), sizes=sizes,
        pids=tuple(reply["pid"] for reply in prepared), output=tuple(output),
        machine=facts() | {"torch": prepared[0]["torch"], "preloaded": all(reply["preloaded"] for reply in prepared)},
        notes=tuple(_notes(got, during, compared)))


def _costs(forward, backward, costs):
    if costs is None:
        return Costs(forward=1 if forward is None else forward, backward=backward)
    if forward is not None or backward is not None:
        raise ValueError("costs and forward or backward: the times are given twice; leave one of them out")
    if not isinstance(costs, Costs):
        raise ValueError(f"costs = {costs!r}: Costs(forward=1, backward=2) is wanted; forward= and backward= do it too")
    return costs


def _check(schedule, clock, slot_seconds, steps, seed, costs, workers):
    """ValueError for the first value that cannot be."""
    if not isinstance(schedule, Schedule):
        raise ValueError(f"a Schedule is needed, not a {type(schedule).__name__}: take schedules.gpipe(4, 4), or the "
                         ".schedule of a drawing")
    if clock not in tuple(CLOCKS):
        raise ValueError(f"clock = {clock!r}: one of {', '.join(CLOCKS)} is needed")
    need_whole("steps", steps)
    need_whole("seed", seed, least=0, most=2**31 - 1)
    need_whole("micro_batches", schedule.micro_batches)
    need_whole("stages", schedule.stages, most=MOST_STAGES if workers is None else None)
    need_whole("ranks", len(schedule.ranks), most=MOST_RANKS if workers is None else workers.ranks, why=", a process each")
    if slot_seconds is not None and not (isinstance(slot_seconds, (int, float)) and 0 < slot_seconds < math.inf):
        raise ValueError(f"slot_seconds = {slot_seconds!r}: a number of seconds above 0 is needed, or None")
    faults = violations(schedule)
    if faults:
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise ValueError("this schedule cannot run: " + "; ".join(fault.message for fault in faults[:3]) + more)
    per_stage, singles = costs.per_stage(schedule.stages), costs.singles(schedule)
    for operation in (operation for rank in schedule.ranks for operation in rank):
        if clock == "paced" and not singles.get(operation, per_stage[operation.kind][operation.stage]):
            raise ValueError(f"{operation} takes 0 slots: the paced clock needs a time above 0; clock='virtual' does not")


def _check_engine(engine, clock, schedule):
    if engine not in ENGINES:
        raise ValueError(f"engine = {engine!r}: one of {', '.join(ENGINES)} is needed")
    if engine == "torch" and clock != "real":
        raise ValueError(f"clock = {clock!r}: torch.distributed.pipelining keeps no time of its own; take clock = 'real'")
    if engine == "torch" and set(schedule.stage_to_rank) != set(range(len(schedule.ranks))):
        raise ValueError("engine = 'torch': torch.distributed.pipelining needs a stage on every rank")


def _describe(schedule):
    return lambda rank, position: str(schedule.ranks[rank][position])


def _order(schedule):
    """The order in which gradients are added up: the last stage's, which in most schedules is every stage's."""
    last = schedule.stages - 1
    return [operation.micro_batch for operation in schedule.ranks[schedule.stage_to_rank[last]]
            if operation.stage == last and operation.kind in "BW"]


def _total(losses):
    return sum(losses[number] for number in sorted(losses))


def _notes(got, during, compared):
    if not compared:
        yield f"gradients are not compared: the model is larger than {LARGEST_COMPARED:,} bytes"
    if got.overruns:
        yield (f"{got.overruns} operations took longer than their emulated device would, in the best of {got.attempts} "
               "steps: the machine is busy, or slot_seconds is too short")
    if disturbance := sum(trace.disturbance for trace in got.traces):
        yield f"during= took {disturbance / NANO:.3f} s inside the operations, on top of their time"
    if during is not None and (size := len(cloudpickle.dumps(during))) > LARGE:
        yield f"the function given as during= drags {size:,} bytes along: give it less to refer to"
