"""Which known schedule is this."""

from course.schedule import Schedule
from course.schedules import SCHEDULES


def recognize(schedule: Schedule) -> str | None:
    """The name in SCHEDULES whose order this is, micro-batches renumbered in the order of stage 0; None for another.

    GPipe fixes no order of its backwards, so any that all its stages share is GPipe's.

    >>> from course.schedules import gpipe
    >>> recognize(gpipe(4, 8))
    'gpipe'
    """
    firsts = [op.micro_batch for rank in schedule.ranks for op in rank if op.stage == 0 and op.kind == "F"]
    renumbered = {micro_batch: index for index, micro_batch in enumerate(firsts)}
    orders = [[(op.stage, op.kind, renumbered.get(op.micro_batch)) for op in rank] for rank in schedule.ranks]
    if schedule.rank_is_stage and _is_gpipe(orders, schedule.micro_batches):
        return "gpipe"
    for entry in SCHEDULES.values():
        try:
            known = entry.make(len(schedule.ranks), schedule.micro_batches, schedule.chunks)
        except ValueError:  # a size that this schedule does not have
            continue
        if orders == [[(op.stage, op.kind, op.micro_batch) for op in rank] for rank in known.ranks]:
            return entry.name
    return None


def _is_gpipe(orders, micro_batches):
    rows = [[(kind, micro_batch) for _, kind, micro_batch in order] for order in orders]
    forwards, backwards = ([(kind, micro_batch) for micro_batch in range(micro_batches)] for kind in "FB")
    return bool(rows) and all(row == rows[0] for row in rows) and (
        rows[0][:micro_batches] == forwards and sorted(rows[0][micro_batches:]) == backwards)
