"""Points that are drawn for each submission: they only confirm what is right at the points that everybody is asked."""

from collections.abc import Callable, Iterable, Mapping
from random import Random

from course.checks.functions import ask, same

COUNT = 3  # points drawn for a function


class Seeded:
    """An answer of a submission that is graded: some of what it is asked is drawn from `seed`."""

    def __init__(self, answer, seed: int):
        self._answer, self.seed = answer, seed

    def value(self):
        """The answer as plain data, or Raised."""
        return self._answer.value()

    def call(self, *arguments):
        """What the answer returns for these arguments, as plain data, or Raised."""
        return self._answer.call(*arguments)


def drawn(answer, draw: Callable[[Random], object], apart_from: Iterable = (), count: int = COUNT) -> list:
    """`count` different things that `draw` makes of the answer's seed, the same for the same seed; none without a seed."""
    if getattr(answer, "seed", None) is None:
        return []
    random, known, found = Random(f"asked with {answer.seed}"), list(apart_from), []
    while len(found) < count:
        if (one := draw(random)) not in [*known, *found]:
            found.append(one)
    return found


def confirm(answer, points: Iterable[tuple], replies: Mapping[tuple, object], truth: Callable, draw: Callable[[Random], tuple],
            like: Callable = same, count: int = COUNT) -> dict[tuple, object]:
    """Arguments -> what the function returned at drawn points, which it is asked only where it is right at all of `points`."""
    points = list(points)
    if not all(point in replies and like(replies[point], truth(*point)) for point in points):
        return {}
    return ask(answer, drawn(answer, draw, points, count))


def ask_and_confirm(answer, points: Iterable[tuple], truth: Callable, draw: Callable[[Random], tuple],
                    like: Callable = same) -> dict[tuple, object]:
    """Arguments -> what the function returned: at these points, and at drawn ones where it is right at all of these."""
    points = list(points)
    replies = ask(answer, points)
    return replies | confirm(answer, points, replies, truth, draw, like)


def pipeline(random: Random) -> tuple[int, int]:
    """(p, m): at least two stages."""
    return random.randint(2, 12), random.randint(2, 60)
