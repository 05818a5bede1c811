"""Which known schedule is this."""

from course.schedule import Schedule
from course.schedules import SCHEDULES


def recognize(schedule: Schedule) -> str | None:
    """The name in SCHEDULES whose order this is, micro-batches renumbered in the order of stage 0; None for another.

    >>> from course.schedules import gpipe
    >>> recognize(gpipe(4, 8))
    'gpipe'
    """
    firsts = [op.micro_batch for rank in schedule.ranks for op in rank if op.stage == 0 and op.kind == "F"]
    renumbered = {micro_batch: index for index, micro_batch in enumerate(firsts)}
    orders = [[(op.stage, op.kind, renumbered.get(op.micro_batch)) for op in rank] for rank in schedule.ranks]
    for entry in SCHEDULES.values():
        try:
            known = entry.make(len(schedule.ranks), schedule.micro_batches, schedule.chunks)
        except ValueError:  # a size that this schedule does not have
            continue
        if orders == [[(op.stage, op.kind, op.micro_batch) for op in rank] for rank in known.ranks]:
            return entry.name
    return None
