"""ZB-H2: ZB-H1 with about twice the forwards before the first backward, so that no slot is left idle between first and last.

    2 stages, 3 micro-batches; F, I and W a slot each
    F0 F1 F2 I0 W0 I1 W1 I2 W2 .
    .  F0 I0 F1 I1 F2 I2 W0 W1 W2

Buys a bubble of (p-1)(F+I-2W) on each stage, none where F, I and W are equally long, in place of ZB-H1's (p-1)(F+I-W). It
costs 2p - 1 micro-batches held on every stage, where 1F1B holds p on its first one and one on its last: the price of zero is
memory. And the zero is one of many steps in a row: stage s begins s slots after stage 0 and ends s slots after it. Whatever
waits for all stages at the end of a step (a norm of all gradients, an optimizer's step behind a barrier) makes those slots a
bubble again, and one step is then no shorter than ZB-H1's (`course.steps` shows it). The paper's way out is an optimizer that
steps at once and checks afterwards whether it should have.
"""

from course.schedule import Operation, Schedule
from course.schedules.entry import Entry, need_sizes, unchunked


def zb_h2(stages: int, micro_batches: int) -> Schedule:
    """2(p-s)-1 forwards on stage s, then I, W and F in turn; W's stay 2s micro-batches behind their I's, the rest at the end.

    For m >= 2p-1 and W <= F, W <= I: no stage is idle for longer than (p-1)(F+I-2W) between its first operation and its last,
    and each holds 2p-1 micro-batches (Qi et al. 2023, section 2.2 and table 1). With fewer micro-batches slots stay idle.

    >>> print(zb_h2(2, 3).to_csv(), end="")
    0F0,0F1,0F2,0I0,0W0,0I1,0W1,0I2,0W2
    1F0,1I0,1F1,1I1,1F2,1I2,1W0,1W1,1W2
    """
    need_sizes(stages=stages, micro_batches=micro_batches)
    return Schedule(tuple(_rank(stage, stages, micro_batches) for stage in range(stages)),
                    tuple(range(stages)), micro_batches, "zb_h2")


def _rank(stage, stages, micro_batches):
    warm_up, behind = min(2 * (stages - stage) - 1, micro_batches), 2 * stage
    order = [Operation(stage, "F", number) for number in range(warm_up)]
    for number in range(micro_batches):
        order.append(Operation(stage, "I", number))
        if number >= behind:
            order.append(Operation(stage, "W", number - behind))
        if number + warm_up < micro_batches:
            order.append(Operation(stage, "F", number + warm_up))
    return (*order, *(Operation(stage, "W", number) for number in range(max(0, micro_batches - behind), micro_batches)))


ZB_H2 = Entry("zb_h2", "ZB-H2", unchunked("zb_h2", zb_h2), chunks=1,
              sizes="any ranks, any micro_batches, without idle slots from 2 ranks - 1 micro_batches on",
              source="Qi et al. 2023, Zero Bubble Pipeline Parallelism (ICLR 2024, arXiv:2401.10241), section 2.2")
