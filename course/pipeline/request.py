"""What may be asked of a run: everything is checked before a process is touched."""

import math

from course.legality import violations
from course.pipeline.record import CLOCKS, ENGINES
from course.pipeline.sizes import Sizes, need_whole
from course.schedule import Schedule
from course.simulation import Costs
from course.words import a_type

MOST_RANKS = 16  # a process each
MOST_STAGES = 64
SHORTEST, LONGEST = 1e-6, 600  # seconds of a slot


def read_costs(forward, backward, costs) -> Costs:
    """The costs of a run, given as forward and backward or all in one."""
    if costs is None:
        return Costs(forward=1 if forward is None else forward, backward=backward)
    if forward is not None or backward is not None:
        raise ValueError("costs and forward or backward: the times are given twice; leave one of them out")
    if not isinstance(costs, Costs):
        raise ValueError(f"costs = {costs!r}: Costs(forward=1, backward=2) is wanted; forward= and backward= do it too")
    return costs


def check(schedule, clock, slot_seconds, steps, seed, costs, workers, dp=1):
    """ValueError for the first value that cannot be."""
    if not isinstance(schedule, Schedule):
        raise ValueError(f"a Schedule is needed, not {a_type(schedule)}: take schedules.gpipe(4, 4), or the "
                         ".schedule of a drawing")
    if clock not in tuple(CLOCKS):
        raise ValueError(f"clock = {clock!r}: one of {', '.join(CLOCKS)} is needed")
    need_whole("steps", steps)
    need_whole("seed", seed, least=0, most=2**31 - 1)
    need_whole("micro_batches", schedule.micro_batches)
    need_whole("stages", schedule.stages, most=MOST_STAGES if workers is None else None)
    need_whole("dp", dp)
    ranks = len(schedule.ranks)
    need_whole("ranks" if dp == 1 else f"dp x ranks = {dp} x {ranks}", dp * ranks,
               most=MOST_RANKS if workers is None else workers.ranks, why=", a process each")
    if slot_seconds is not None and not (_is_number(slot_seconds) and SHORTEST <= slot_seconds <= LONGEST):
        raise ValueError(f"slot_seconds = {slot_seconds!r}: a number of seconds from "
                         f"{SHORTEST:g} to {LONGEST} is needed, or None")
    faults = violations(schedule)
    if faults:
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise ValueError("this schedule cannot run: " + "; ".join(fault.message for fault in faults[:3]) + more)
    per_stage, singles = costs.per_stage(schedule.stages), costs.singles(schedule)
    for operation in (operation for rank in schedule.ranks for operation in rank):
        if clock == "paced" and not singles.get(operation, per_stage[operation.kind][operation.stage]):
            raise ValueError(f"{operation} takes 0 slots: the paced clock needs a time above 0; clock='virtual' does not")


def check_training(learning_rate, sizes, during, build):
    """ValueError for the first of these that cannot be."""
    if not (_is_number(learning_rate) and math.isfinite(learning_rate)):
        raise ValueError(f"learning_rate = {learning_rate!r}: a finite number is needed")
    if sizes is not None and not isinstance(sizes, Sizes):
        raise ValueError(f"sizes = {sizes!r}: Sizes(hidden=64) is wanted, or None")
    for name, value in (("during", during), ("build", build)):
        if value is not None and not callable(value):
            raise ValueError(f"{name} = {value!r}: a function is needed, or None")


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_engine(engine, clock, schedule, dp=1):
    """ValueError where the engine is none, or cannot do this."""
    if engine not in tuple(ENGINES):
        raise ValueError(f"engine = {engine!r}: one of {', '.join(ENGINES)} is needed")
    if engine == "torch" and dp > 1:
        raise ValueError(f"dp = {dp}: with engine = 'torch' there is one replica; engine = 'ours' has more")
    if engine == "torch" and clock != "real":
        raise ValueError(f"clock = {clock!r}: torch.distributed.pipelining keeps no time of its own; take clock = 'real'")
    if engine == "torch" and set(schedule.stage_to_rank) != set(range(len(schedule.ranks))):
        raise ValueError("engine = 'torch': torch.distributed.pipelining needs a stage on every rank")
