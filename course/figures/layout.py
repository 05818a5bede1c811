"""Where things stand in a timeline's picture."""

import math
from dataclasses import dataclass
from fractions import Fraction

from course.timeline import Timeline

WIDTH, RIGHT, ROW, BAR = 840, 22, 30, 25
LEAST_CELL = 5  # narrower cells are not outlined


@dataclass(frozen=True)
class Layout:
    """The upper edge of the rows, the left edge of time 0, the width of a unit of time, the number of rows."""

    top: float
    left: float
    per_unit: float
    rows: int

    def x(self, time) -> float:
        """The horizontal place of a moment."""
        return self.left + float(time) * self.per_unit

    def y(self, row) -> float:
        """The upper edge of a row's boxes."""
        return self.top + row * ROW

    @property
    def bottom(self) -> float:
        """The time axis."""
        return self.top + self.rows * ROW


def left_of(name: str) -> float:
    """The left edge of time 0, behind the names of the rows; `name` is the longest. Stages and ranks share one axis."""
    return 18 + 6.4 * max(len("stage 0"), len(name))


def slot_of(timeline: Timeline):
    """The longest slot that all times are whole numbers of; None for floats, which come in no slots."""
    times = [time for rows in (timeline.starts, timeline.ends) for row in rows for time in row]
    if not all(isinstance(time, (int, Fraction)) for time in times):
        return None
    parts = {(time.numerator, time.denominator) for time in times}
    scale = math.lcm(*{below for _, below in parts})
    slot = math.gcd(*(above * (scale // below) for above, below in parts)) or 1
    return slot if scale == 1 else Fraction(slot, scale)
