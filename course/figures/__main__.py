"""`python -m course.figures OUT.svg gpipe 1f1b --ranks 4 --micro-batches 8` writes a picture of schedules."""

import argparse
from pathlib import Path

from course.figures.animation import appearing
from course.figures.figure import Figure, stack
from course.figures.layout import left_of
from course.figures.memory import memory_figure
from course.figures.save import save
from course.figures.timeline import timeline_figure
from course.figures.words import held_word, place
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate
from course.words import counted


def overview(names, ranks: int, micro_batches: int, chunks: int = 2, backward: int = 1) -> Figure:
    """The schedules of these names above each other on one time axis; a forward takes one slot."""
    drawn = _simulated(names, ranks, micro_batches, chunks, backward)
    scale = max(timeline.makespan for _, timeline in drawn)
    return stack(*(timeline_figure(timeline, title, scale=scale) for title, timeline in drawn))


def moving(names, ranks: int, micro_batches: int, chunks: int = 2, backward: int = 1) -> str:
    """The same as an SVG document in which time goes on, with what each rank holds under each schedule."""
    drawn = _simulated(names, ranks, micro_batches, chunks, backward)
    scale = max(timeline.makespan for _, timeline in drawn)
    full = max(max(timeline.peak_activations) for _, timeline in drawn)
    figures = []
    for title, timeline in drawn:
        held = held_word(timeline.schedule)
        figures += [timeline_figure(timeline, title, scale=scale, summary=False),
                    memory_figure(timeline.held, timeline.makespan, f"{held} whose activations are held", held, scale=scale,
                                  place=timeline.schedule.row_word, full=full)]
    return appearing(figures, ranks, left_of(place(drawn[0][1], ranks - 1)), int(scale))


def _simulated(names, ranks, micro_batches, chunks, backward):
    sizes = f"{counted(ranks, 'rank')}, {counted(micro_batches, 'micro-batch')}"
    return [(f"{entry.title}, {sizes}",
             simulate(entry.make(ranks, micro_batches, entry.chunks or chunks), Costs(forward=1, backward=backward)))
            for entry in map(SCHEDULES.__getitem__, names)]


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
    parser.add_argument("--moving", action="store_true", help="let time go on, with what each rank holds under each schedule")
    given = parser.parse_args(arguments)
    setting = given.schedules, given.ranks, given.micro_batches, given.chunks, given.backward
    try:
        if given.moving:
            Path(given.file).write_text(moving(*setting), encoding="utf-8")
        else:
            save(overview(*setting), given.file)
    except (ValueError, OSError) as error:
        parser.exit(2, f"python -m course.figures: {error}\n")


if __name__ == "__main__":
    main()
