"""1F1B: fill, then one forward and one backward in turn, then drain.

    F0 F1 .  B0 F2 B1 F3 B2 .  B3
    .  F0 B0 F1 B1 F2 B2 F3 B3 .

As long as GPipe, but stage s never holds more than p - s micro-batches.
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes, unchunked


def one_f_one_b(stages: int, micro_batches: int) -> Schedule:
    """Warm-up of min(p-1-stage, m) forwards, F and B in turn, cooldown: Megatron-core's order, m < p included.

    >>> print(one_f_one_b(2, 2).to_csv(), end="")
    0F0,0F1,0B0,0B1
    1F0,1B0,1F1,1B1
    """
    need_sizes(stages=stages, micro_batches=micro_batches)
    return Schedule(tuple(_rank(stage, stages, micro_batches) for stage in range(stages)),
                    tuple(range(stages)), micro_batches, "1f1b")


def _rank(stage, stages, micro_batches):
    forwards = [Operation(stage, "F", mb) for mb in range(micro_batches)]
    backwards = [Operation(stage, "B", mb) for mb in range(micro_batches)]
    return tuple(alternate(forwards, backwards, warm_up=min(stages - 1 - stage, micro_batches)))


def alternate(forwards, backwards, warm_up):
    """Warm-up forwards, then a forward and a backward in turn, then the backwards that are left."""
    order = forwards[:warm_up]
    for forward, backward in zip(forwards[warm_up:], backwards, strict=False):
        order += [forward, backward]
    return order + backwards[len(forwards) - warm_up:]


ONE_F_ONE_B = Entry("1f1b", "1F1B", unchunked("1f1b", one_f_one_b), chunks=1, sizes="any ranks, any micro_batches",
                    source="Narayanan et al. 2021, Megatron-LM (SC21), section 2.2.1, PipeDream-Flush; "
                           "order of Megatron-core's forward_backward_pipelining_without_interleaving")
