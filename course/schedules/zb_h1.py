"""ZB-H1: 1F1B whose backward is split, so that the weight gradients, for which no other stage waits, fill idle slots.

    2 stages, 3 micro-batches; F, I and W a slot each
    F0 F1 .  I0 W0 F2 I1 W1 I2 W2
    .  F0 I0 F1 I1 W0 F2 I2 W1 W2

Buys a bubble of (p-1)(F+I-W) on each stage in place of (p-1)(F+I+W), with no more held than 1F1B's stage 0 holds. It costs
that room on every stage: an activation stays until its W, and the last stage holds p of them where 1F1B holds one. And the
idle slots are only pushed to the ends of the step: stages begin and end at different times, so whatever waits for all of them
(a norm of all gradients, an optimizer's step behind a barrier) turns the slots back into a bubble: `course.steps` shows it.
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes, unchunked


def zb_h1(stages: int, micro_batches: int) -> Schedule:
    """1F1B's order of F and I; stage s does its W's s micro-batches behind its I's, the rest at the end.

    For m >= p: makespan m(F+I+W) + (p-1)(F+I-W) where W <= F and W <= I, and p micro-batches held on each stage (Qi et al.
    2023, section 2.1 and table 1).

    >>> print(zb_h1(2, 2).to_csv(), end="")
    0F0,0F1,0I0,0W0,0I1,0W1
    1F0,1I0,1F1,1I1,1W0,1W1
    """
    need_sizes(stages=stages, micro_batches=micro_batches)
    return Schedule(tuple(_rank(stage, stages, micro_batches) for stage in range(stages)),
                    tuple(range(stages)), micro_batches, "zb_h1")


def _rank(stage, stages, micro_batches):
    warm_up, order = min(stages - 1 - stage, micro_batches), []
    order += [Operation(stage, "F", number) for number in range(warm_up)]
    for number in range(micro_batches):
        if number + warm_up < micro_batches:
            order.append(Operation(stage, "F", number + warm_up))
        order.append(Operation(stage, "I", number))
        if number >= stage:
            order.append(Operation(stage, "W", number - stage))
    return (*order, *(Operation(stage, "W", number) for number in range(max(0, micro_batches - stage), micro_batches)))


ZB_H1 = Entry("zb_h1", "ZB-H1", unchunked("zb_h1", zb_h1), chunks=1, sizes="any ranks, any micro_batches",
              source="Qi et al. 2023, Zero Bubble Pipeline Parallelism (ICLR 2024, arXiv:2401.10241), section 2.1")
