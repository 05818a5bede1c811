"""What the positions in a schedule's ranks are called, and which of them waits for which."""

from course.schedule import Schedule


class Places:
    """Describes the places of a schedule: `places(rank, position)` is a name, `needs` says who must send there.

    Ranks beyond the schedule's are those of further replicas of the pipeline.
    """

    def __init__(self, schedule: Schedule):
        self._schedule = schedule
        self._where = {operation: (rank, position) for rank, row in enumerate(schedule.ranks)
                       for position, operation in enumerate(row)}

    def __call__(self, rank: int, position: int) -> str:
        """The operation as text; behind the last one, the end of the step."""
        row = self._schedule.ranks[rank % len(self._schedule.ranks)]
        return str(row[position]) if position < len(row) else "the end of its step"

    def needs(self, rank: int, position: int) -> tuple[int, int] | None:
        """The place on another rank that sends what is needed here; None where nothing is."""
        own = rank % len(self._schedule.ranks)
        first, row = rank - own, self._schedule.ranks[own]
        found = [self._where[need] for need in self._schedule.needs(row[position])] if position < len(row) else []
        return next(((first + home, place) for home, place in found if home != own), None)
