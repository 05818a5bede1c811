"""Numbers of repeated measurements, and a table of them."""

import os
from collections.abc import Iterable, Sequence
from statistics import median

from course.pipeline.machine import facts


def middle(values: Iterable[float]) -> float:
    """The median."""
    return median(values)


def best(values: Iterable[float]) -> float:
    """The tenth percentile: what it takes when the machine is left alone."""
    ordered = sorted(values)
    return ordered[len(ordered) // 10]


def heading(title: str):
    """A title, and what this machine is and how busy."""
    about = facts()
    print(f"{title}\n{about['system']}, Python {about['python']}, {about['cores']:g} cores"
          + (f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "") + "\n")


def show(head: Sequence[str], rows: Iterable[Sequence]):
    """Print rows under their heads, text left, numbers right; a float keeps the digits that its text has."""
    table = [list(map(str, head)), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        print("  ".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                        for place, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip(), flush=True)
    print()
