"""What the table of schedules says of each, and the check of sizes that all share."""

from collections.abc import Callable
from dataclasses import dataclass

from course.schedule import Schedule


@dataclass(frozen=True)
class Entry:
    """A line of the table: `make(ranks, micro_batches, chunks)`, whether chunks may differ from 1, sizes allowed, source."""

    name: str
    title: str
    make: Callable[[int, int, int], Schedule]
    chunked: bool
    sizes: str
    source: str


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
