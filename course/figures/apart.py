"""Words beside points, where none covers another word or a point."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

NEAR, FAR, STEP = 13, 120, 11  # how far from its point a word may stand, and in which steps it goes away from it
ANGLES = (0, 180, 270, 90, 315, 45, 225, 135, 337, 22, 202, 157)  # the first that is free is taken, the right side first


class Area(NamedTuple):
    """A rectangle: left, upper, right and lower edge."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Area") -> bool:
        """Whether the two have a part in common."""
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: "Area") -> bool:
        """Whether the other is inside."""
        return self.left <= other.left and self.top <= other.top and other.right <= self.right and other.bottom <= self.bottom


def around(x: float, y: float, half: float) -> Area:
    """The square around a point."""
    return Area(x - half, y - half, x + half, y + half)


def set_apart(points: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]], inside: Area,
              taken: Iterable[Area] = ()) -> list[Area]:
    """An area of its size for the words of each point, as near as can be, clear of the others and of what is taken.

    Where there is no room left inside, the words stand where they cover the least.
    """
    busy, found = list(taken), []
    for (x, y), (width, height) in zip(points, sizes, strict=True):
        places = [place for place in _places(x, y, width, height) if inside.holds(place)] or [
            Area(inside.left, inside.top, inside.left + width, inside.top + height)]
        free = next((place for place in places if not any(place.meets(other) for other in busy)), None)
        chosen = free or min(places, key=lambda place: sum(place.meets(other) for other in busy))
        busy.append(chosen)
        found.append(chosen)
    return found


def _places(x, y, width, height):
    """Where the words of a point could stand, the best place first."""
    for distance in range(NEAR, FAR + 1, STEP):
        for angle in ANGLES:
            right, down = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            middle = x + right * (distance + width / 2), y + down * (distance + height / 2)
            yield Area(middle[0] - width / 2, middle[1] - height / 2, middle[0] + width / 2, middle[1] + height / 2)
