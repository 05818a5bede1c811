"""Points that are drawn for each submission: they only confirm what the points that everybody is asked have earned."""

from collections.abc import Callable, Iterable, Mapping
from random import Random

from course.checks.functions import Slip, ask, fits_slip, judge_replies, same
from course.checks.outcome import Message

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


def is_seeded(answer) -> bool:
    """Whether anything is drawn for this answer: not in a notebook."""
    return getattr(answer, "seed", None) is not None


def drawn(answer, draw: Callable[[Random], object], apart_from: Iterable = (), count: int = COUNT) -> list:
    """`count` different things that `draw` makes of the answer's seed, the same for the same seed; none without a seed."""
    if not is_seeded(answer):
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


def disproof(answer, name: str, slips: Iterable[Slip], points: Iterable[tuple], truth: Callable,
             draw: Callable[[Random], tuple], wanted: str, like: Callable = same) -> Message | None:
    """What to say of a function that gives what none of these wrong ideas gives at drawn points; None of one that does.

    For a slip that earns points: what only looks like it at the points that everybody is asked has not made it.
    """
    replies = ask(answer, drawn(answer, draw, points))
    if any(fits_slip(slip, replies, like) for slip in slips):
        return None
    said = judge_replies(name, replies, truth, wanted, "", like=like)
    return Message(f"{name}-wrong", f"`{name}` is right at some sizes only. {wanted}") if said.good else said


def pipeline(random: Random) -> tuple[int, int]:
    """(p, m): at least two stages."""
    return random.randint(2, 12), random.randint(2, 60)
