"""What the positions in a schedule's ranks are called, and which of them waits for which."""

from collections.abc import Iterable, Sequence

from course.schedule import Schedule


class Places:
    """Describes the places of a schedule: `places(process, position)` is a name, `needs` says who must send there.

    `pipelines` are the processes of each replica of the pipeline, a rank of the schedule after the other.
    """

    def __init__(self, schedule: Schedule, pipelines: Iterable[Sequence[int]]):
        self._schedule = schedule
        self._home = {process: (rank, processes) for processes in pipelines for rank, process in enumerate(processes)}
        self._where = {operation: (rank, position) for rank, row in enumerate(schedule.ranks)
                       for position, operation in enumerate(row)}

    def __call__(self, process: int, position: int) -> str:
        """The operation as text; behind the last one, the end of the step."""
        row = self._schedule.ranks[self._home[process][0]]
        return str(row[position]) if position < len(row) else "the end of its step"

    def needs(self, process: int, position: int) -> tuple[int, int] | None:
        """The place on another process that sends what is needed here; None where nothing is."""
        own, processes = self._home[process]
        row = self._schedule.ranks[own]
        found = [self._where[need] for need in self._schedule.needs(row[position])] if position < len(row) else []
        return next(((processes[home], place) for home, place in found if home != own), None)


def in_a_row(schedule: Schedule, replicas: int = 1) -> list[range]:
    """The processes of each replica where the first p are the first one, the next p the second, and so on."""
    ranks = len(schedule.ranks)
    return [range(first, first + ranks) for first in range(0, replicas * ranks, ranks)]
