"""Several steps in a row: what a barrier between them costs, at which every rank waits for the last one."""

from course.schedule import Operation, Schedule
from course.schedules.entry import need_sizes
from course.simulation import Costs, simulate
from course.timeline import Timeline


def in_a_row(schedule: Schedule, steps: int) -> Schedule:
    """The same order `steps` times, the micro-batches of step k numbered from k m on. ValueError for less than one step.

    >>> from course.schedules import gpipe
    >>> print(in_a_row(gpipe(1, 2), 2).to_csv(), end="")
    0F0,0F1,0B0,0B1,0F2,0F3,0B2,0B3
    """
    need_sizes(steps=steps)
    m = schedule.micro_batches
    ranks = tuple(tuple(Operation(op.stage, op.kind, op.micro_batch + step * m) for step in range(steps) for op in rank)
                  for rank in schedule.ranks)
    return Schedule(ranks, schedule.stage_to_rank, m * steps, schedule.name if steps == 1 else "")


def repeated(schedule: Schedule, steps: int, costs: Costs | None = None, barrier: bool = True) -> Timeline:
    """The timeline of so many steps; an optimizer's step is counted as no time.

    With a barrier no rank begins a step before all have ended the one before: a norm of all gradients, the check for
    infinite ones, an optimizer that waits for either. Without one a rank goes on with its own next step at once: its own weights
    are all that it needs. ValueError where the schedule is illegal, or the costs are those of single operations.
    """
    if (costs or Costs()).single:
        raise ValueError("single: several steps take costs that are the same in each; leave single out")
    together = in_a_row(schedule, steps)
    if not barrier:
        return simulate(together, costs)
    one = simulate(schedule, costs)
    starts, ends = (tuple(tuple(time + step * one.makespan for step in range(steps) for time in row) for row in rows)
                    for rows in (one.starts, one.ends))
    return Timeline(together, starts, ends)


def further_step(schedule: Schedule, costs: Costs | None = None):
    """How much longer it takes with one step more, where there is no barrier: after as many steps as there are ranks, and one.

    >>> from course.schedules import zb_h1, zb_h2
    >>> parts = Costs(1, input_grad=1, weight_grad=1)
    >>> [further_step(make(4, 8), parts) for make in (zb_h1, zb_h2)]
    [27, 24]
    """
    steps = len(schedule.ranks) + 1
    return repeated(schedule, steps + 1, costs, barrier=False).makespan - repeated(schedule, steps, costs, barrier=False).makespan
