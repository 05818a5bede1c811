"""`python -m course.figures OUT.svg gpipe 1f1b --ranks 4 --micro-batches 8` writes a picture of schedules."""

import argparse

from course.figures.figure import Figure, stack
from course.figures.save import save
from course.figures.timeline import timeline_figure
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate


def overview(names, ranks: int, micro_batches: int, chunks: int = 2, backward: int = 1) -> Figure:
    """The schedules of these names above each other on one time axis; a forward takes one slot."""
    entries = [SCHEDULES[name] for name in names]
    costs = Costs(forward=1, backward=backward)
    timelines = [simulate(entry.make(ranks, micro_batches, entry.chunks or chunks), costs)
                 for entry in entries]
    scale = max(timeline.makespan for timeline in timelines)
    sizes = f"{ranks} ranks, {micro_batches} micro-batches"
    return stack(*(timeline_figure(timeline, f"{entry.title}, {sizes}", scale=scale)
                   for entry, timeline in zip(entries, timelines, strict=True)))


def main(arguments=None) -> None:
    """Draw schedules above each other, on one time axis, into an .svg file."""
    parser = argparse.ArgumentParser(prog="python -m course.figures", description=main.__doc__)
    parser.add_argument("file", help="the .svg file to write")
    parser.add_argument("schedules", nargs="+", choices=SCHEDULES, metavar="schedule",
                        help=", ".join(SCHEDULES))
    parser.add_argument("--ranks", "--stages", type=int, default=4)
    parser.add_argument("--micro-batches", type=int, default=4)
    parser.add_argument("--chunks", type=int, default=2, help="chunks a rank, where a schedule has them")
    parser.add_argument("--backward", type=int, default=1, help="slots that a backward takes")
    given = parser.parse_args(arguments)
    try:
        save(overview(given.schedules, given.ranks, given.micro_batches, given.chunks, given.backward), given.file)
    except (ValueError, OSError) as error:
        parser.exit(2, f"python -m course.figures: {error}\n")


if __name__ == "__main__":
    main()
