"""What the open lab does with a schedule of 10,000 operations, each part and all together. Target: about a second.

Beside it the same for a quarter and for four times as many: linear is four times the time. The bytes are the picture's and the
line's, which a page and a mail have to bear.
"""

import argparse
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


def row_of(name: str, operations: int, repeats: int) -> list[str]:
    """One schedule: medians in milliseconds of each part, then bytes of the picture and of the line."""
    schedule = MADE[name](operations)
    faults = clocked(lambda: violations(schedule), repeats)
    if violations(schedule):
        simulated = waited = [0.0]
        drawn = clocked(lambda: stuck_figure(schedule), repeats)
        figure = stuck_figure(schedule)
    else:
        timeline = simulate(schedule, COSTS)
        simulated = clocked(lambda: simulate(schedule, COSTS), repeats)
        waited = clocked(lambda: waits(timeline, COSTS), repeats)
        found = waits(timeline, COSTS)
        drawn = clocked(lambda: timeline_figure(timeline, waits=found), repeats)
        figure = timeline_figure(timeline, waits=found)
    line = to_line(schedule)
    written, read = clocked(lambda: to_line(schedule), repeats), clocked(lambda: from_line(line), repeats)
    parts = [faults, simulated, waited, drawn, written, read]
    times = [middle(part) * 1000 for part in parts]
    return [name, f"{sum(map(len, schedule.ranks)):,}", *(f"{time:.0f}" for time in times), f"{sum(times):.0f}",
            f"{len(figure.svg):,}", f"{len(line):,}"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    heading(f"the open lab, {options.repeats} repeats, medians in milliseconds")
    show(["schedule", "operations", "violations", "simulate", "waits", "figure", "line", "read it", "together", "svg bytes",
          "line bytes"],
         [row_of(name, operations, options.repeats) for name in MADE for operations in (2_500, 10_000, 40_000)])


if __name__ == "__main__":
    main()
