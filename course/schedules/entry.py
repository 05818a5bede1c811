"""What the table of schedules says of each, and the check of sizes that all share."""

from collections.abc import Callable
from dataclasses import dataclass

from course.schedule import Schedule


@dataclass(frozen=True)
class Entry:
    """A line of the table: `make(ranks, micro_batches, chunks)`, the chunks a rank (None: any number), sizes allowed, source."""

    name: str
    title: str
    make: Callable[[int, int, int], Schedule]
    chunks: int | None
    sizes: str
    source: str

    @property
    def chunked(self) -> bool:
        """Whether a rank can hold more than one stage."""
        return self.chunks != 1


def need_sizes(**sizes):
    """ValueError for the first size that is not a whole number of at least 1: names it, its value and the rule."""
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{name} = {value!r}: a whole number of at least 1 is needed")
        if value < 1:
            raise ValueError(f"{name} = {value}: at least 1 is needed")


def unchunked(name: str, make) -> Callable[[int, int, int], Schedule]:
    """Turn `make(stages, micro_batches)` into a table's make, which refuses more than one chunk a rank."""
    def made(ranks, micro_batches, chunks=1):
        if chunks != 1:
            raise ValueError(f"chunks = {chunks}: {name} has one stage a rank; leave chunks at 1, "
                             "or take interleaved_1f1b")
        return make(ranks, micro_batches)
    return made


def need_two_chunks(name: str, chunks: int):
    """ValueError for other than two chunks a rank."""
    if chunks != 2:
        raise ValueError(f"chunks = {chunks}: {name} has two stages a rank, one on the way down its V and one on the way up; "
                         "take chunks = 2")


def v_shape(ranks: int) -> tuple[int, ...]:
    """The rank of each of 2 `ranks` stages: down the ranks and up again.

    >>> v_shape(3)
    (0, 1, 2, 2, 1, 0)
    """
    return (*range(ranks), *reversed(range(ranks)))
