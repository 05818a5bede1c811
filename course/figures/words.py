"""What a figure says in words: the summary under it, the faults in it, the names of places and times."""

from dataclasses import dataclass
from fractions import Fraction

from course.drawing import CONTINUED
from course.schedule import Schedule
from course.timeline import Timeline
from course.words import at, counted, number, units

_LARGEST_DENOMINATOR = 9999
_WIDEST_GRID = 400
_MOST_CELLS = 200_000
_MOST_PEAKS = 16
_MOST_FAULTS = 100


@dataclass(frozen=True)
class Mark:
    """A place to point at: `position` is the index in the rank's order, None for what is not there."""

    rank: int
    position: int | None
    message: str


def read_marks(timeline: Timeline, marks, unit="slot") -> list[Mark]:
    """Violations, or pairs (rank, position), as marks."""
    return [_read_mark(timeline, mark, unit) for mark in marks]


def _read_mark(timeline, mark, unit):
    if hasattr(mark, "message"):
        return Mark(mark.rank, mark.position, mark.message)
    rank, position = mark
    operations = timeline.schedule.ranks
    if not (0 <= rank < len(operations) and 0 <= position < len(operations[rank])):
        raise ValueError(f"mark {mark!r}: there is no operation {position} on rank {rank}; "
                         "a mark is a Violation, or (rank, index in that rank's order)")
    token = timeline.schedule.label(operations[rank][position])
    start = at(timeline.starts[rank][position], unit)
    return Mark(rank, position, f"{token} on {place(timeline, rank)}, which starts at {start}")


def place(timeline: Timeline, rank: int) -> str:
    """`stage 0` where a rank is a stage, else `rank 0`."""
    return timeline.schedule.place(rank)


def held_word(schedule: Schedule) -> str:
    """What is counted of its activations: chunks where a rank has several."""
    return "chunks" if schedule.chunks > 1 else "micro-batches"


def share(fraction) -> str:
    """A fraction with its percentage: `3/7 = 42.9%`."""
    percent = f"{100 * float(fraction):.3g}%"
    exact = isinstance(fraction, Fraction) and 1 < fraction.denominator <= _LARGEST_DENOMINATOR
    return f"{fraction} = {percent}" if exact else percent


def summary_line(timeline: Timeline, unit="slot") -> str:
    """Makespan, bubble and peaks in one line."""
    peaks = timeline.peak_activations
    listed = " ".join(map(str, peaks)) if len(peaks) <= _MOST_PEAKS else f"{min(peaks)} to {max(peaks)}"
    return (f"{number(timeline.makespan)} {units(unit)}; bubble {share(timeline.bubble_fraction)}; "
            f"most {held_word(timeline.schedule)} held, per {timeline.schedule.row_word}: {listed}")


def fault_lines(marks, most=_MOST_FAULTS) -> list[str]:
    """A line for each fault, the last one for all that are more than `most`."""
    shown = len(marks) if len(marks) <= most else most - 1
    more = len(marks) - shown
    return [f"! {mark.message}" for mark in marks[:shown]] + [f"! and {more} more faults"] * bool(more)


def text_form(timeline: Timeline, title, marks, unit, slot, summary, with_grid, idle=()) -> str:
    """Title, grid, faults, idle stretches and summary: the figure for whoever reads text."""
    lines = [title] if title else []
    drawn = grid(timeline, slot) if with_grid else ""
    lines += [drawn] * with_grid + [f"({CONTINUED} the operation on its left goes on)"] * (CONTINUED in drawn)
    lines += [*fault_lines(marks), *idle]
    if summary:
        lines.append(summary_line(timeline, unit))
    return "\n".join(lines)


def grid(timeline: Timeline, slot=None) -> str:
    """The text grid; a measured one whose shortest operations would make it endless gets coarser cells.

    One of a size that no page bears is a line that says so.
    """
    rows, slots = len(timeline.starts), timeline.makespan / (slot or timeline.makespan or 1)
    if rows * slots > _MOST_CELLS:
        return f"({number(slots)} slots on {counted(rows, timeline.schedule.row_word)}: too many cells for text)"
    drawn = timeline.grid(slot)
    if slot is None and len(drawn.partition("\n")[0]) > 4 * _WIDEST_GRID:
        drawn = timeline.grid(timeline.makespan / _WIDEST_GRID)
    return drawn
