"""What a step can be with each memory, by exhaustive search, beside the floor, which takes a formula; and how long both take.

No peer does either. A solver of whole numbers would do the search as well, with a dependency more.
"""

import argparse

from benchmarks.core import clocked
from benchmarks.table import heading, middle, show
from course.challenges import CHALLENGES, Challenge
from course.floors import floor_curve
from course.frontier import frontier
from course.words import number


def corners_of(found) -> str:
    """Steps with what is held, shortest first: 22:4 is 22 slots with 4 micro-batches."""
    return " ".join(f"{number(step)}:{number(held)}" for step, held, *_ in found)


def row_of(asked: Challenge, repeats: int) -> list[str]:
    """One challenge: both curves, and medians in milliseconds."""
    split, found = bool(asked.split), []
    size = asked.homes, asked.micro_batches, asked.costs, split
    searched = clocked(lambda: found.append(frontier(*size)), repeats)
    floors = clocked(lambda: floor_curve(*size), repeats)
    return [asked.key, f"{asked.ranks} x {asked.micro_batches}", "I and W" if split else "B", corners_of(floor_curve(*size)),
            corners_of(found[-1]), f"{middle(floors) * 1000:.1f}", f"{middle(searched) * 1000:.0f}"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    heading(f"floors and the frontier of the challenges, slots:micro-batches held, {options.repeats} repeats, milliseconds")
    show(["challenge", "size", "backward", "floor", "reached", "floor ms", "search ms"],
         [row_of(asked, options.repeats) for asked in CHALLENGES.values()])


if __name__ == "__main__":
    main()
