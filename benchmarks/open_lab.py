"""What the open lab does with a schedule of 10,000 operations, each part and all together. Target: about a second.

Beside it the same for a quarter and for four times as many: linear is one time an operation, a ratio of 1 to the smallest. The
bytes are the picture's and the line's, which a page and a mail have to bear.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from benchmarks.core import clocked
from benchmarks.table import heading, middle, show
from course.figures import stuck_figure, timeline_figure
from course.legality import violations
from course.schedule import Operation, Schedule
from course.schedules import interleaved_1f1b, zb_h1
from course.sharing import from_line, to_line
from course.simulation import Costs, simulate
from course.waiting import waits

RANKS = 8
SIZES = (2_500, 10_000, 40_000)
COSTS = Costs(1, 2, latency=1)


def interleaved(operations: int) -> Schedule:
    """Interleaved 1F1B of about so many operations, two chunks on each of eight ranks."""
    return interleaved_1f1b(RANKS, operations // (4 * RANKS) // RANKS * RANKS, 2)


def own(operations: int) -> Schedule:
    """ZB-H1 with two operations of a rank exchanged: legal, and in no table."""
    schedule = zb_h1(RANKS, operations // (3 * RANKS))
    first = list(schedule.ranks[0])
    place = next(index for index, (one, other) in enumerate(pairwise(first)) if (one.kind, other.kind) == ("W", "F"))
    first[place:place + 2] = reversed(first[place:place + 2])
    return replace(schedule, ranks=(tuple(first), *schedule.ranks[1:]), name="")


def deadlocked(operations: int) -> Schedule:
    """1F1B's operations, of each rank after the first one in an order that crosses the rank before, from the middle on."""
    half = operations // (2 * RANKS) // 2

    def order(stage):
        for micro_batch in range(2 * half):
            turned = micro_batch ^ 1 if stage and micro_batch >= half else micro_batch
            yield from (Operation(stage, kind, turned) for kind in "FB")
    return Schedule(tuple(tuple(order(stage)) for stage in range(RANKS)), tuple(range(RANKS)), 2 * half)


MADE = {"interleaved 1F1B": interleaved, "one's own": own, "deadlocked": deadlocked}


def measured(name: str, operations: int, repeats: int) -> tuple[int, list[float], int, int]:
    """One schedule: its operations, median seconds of each part, bytes of the picture and of the line."""
    schedule = MADE[name](operations)
    faults = clocked(lambda: violations(schedule), repeats)
    if violations(schedule):
        simulated = waited = [0.0]

        def draw():
            return stuck_figure(schedule)
    else:
        timeline = simulate(schedule, COSTS)
        simulated = clocked(lambda: simulate(schedule, COSTS), repeats)
        waited = clocked(lambda: waits(timeline, COSTS), repeats)
        found = waits(timeline, COSTS)

        def draw():
            return timeline_figure(timeline, waits=found)
    line = to_line(schedule)
    parts = [faults, simulated, waited, clocked(draw, repeats), clocked(lambda: to_line(schedule), repeats),
             clocked(lambda: from_line(line), repeats)]
    return sum(map(len, schedule.ranks)), [middle(part) for part in parts], len(draw().svg), len(line)


def rows_of(name: str, sizes: Sequence[int], repeats: int) -> Iterator[list[str]]:
    """A row for each size: milliseconds of each part and of all, microseconds an operation, their ratio to the first size's."""
    first = None
    for size in sizes:
        operations, times, picture, line = measured(name, size, repeats)
        each = sum(times) / operations
        first = first or each
        yield [name, f"{operations:,}", *(f"{1000 * time:.0f}" for time in [*times, sum(times)]), f"{1e6 * each:.0f}",
               f"{each / first:.2f}", f"{picture:,}", f"{line:,}"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    heading(f"the open lab, {options.repeats} repeats, medians in milliseconds")
    show(["schedule", "operations", "violations", "simulate", "waits", "figure", "line", "read it", "together", "us each",
          "ratio", "svg bytes", "line bytes"],
         [row for name in MADE for row in rows_of(name, SIZES, options.repeats)])


if __name__ == "__main__":
    main()
