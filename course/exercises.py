"""The one table of exercises: id, notebook, answers, points, check, hints; everything else asks it."""

from collections.abc import Callable
from dataclasses import dataclass

from course.checks import gpipe_diagram, spot_the_error
from course.checks.outcome import Message, Outcome
from course.timeline import Timeline


@dataclass(frozen=True)
class Exercise:
    """One graded part of a notebook. `answers` are the names of the learner's variables, in the order of the check."""

    grade_id: str
    notebook: str
    title: str
    answers: tuple[str, ...]
    points: float
    hints: tuple[str, str, str]
    check: Callable[..., Outcome] | None = None

    @property
    def manual(self) -> bool:
        """Whether a person marks it."""
        return self.check is None


@dataclass(frozen=True)
class Verdict:
    """What a check of one exercise gives; its repr is the points as a plain float, nbgrader's partial credit."""

    grade_id: str
    points: float
    maximum: float
    messages: tuple[Message, ...]
    steps: tuple = ()
    drawing: Timeline | None = None
    marks: tuple[tuple[int, int], ...] = ()

    def __repr__(self):
        return repr(float(self.points))


_GPIPE = "1_gpipe_diagram"

EXERCISES: dict[str, Exercise] = {exercise.grade_id: exercise for exercise in (
    Exercise("ex1-diagram", _GPIPE, "The GPipe diagram", ("gpipe_diagram",), 10, (
        "Draw stage 0's forwards first: it waits for nobody. Then ask of each next stage: when has the stage above handed "
        "over F0?",
        "The last stage can start its first backward right after its last forward. From there gradients climb back, one "
        "stage a slot: B0 on stage 2 comes one slot after B0 on stage 3.",
        "Stage 1's row begins with one `.`, then F0 F1 F2 F3. Between its F3 and its B0 there are four idle cells, and one "
        "`.` ends the row. The other rows follow the same pattern, shifted.",
    ), gpipe_diagram.check_diagram),
    Exercise("ex1-bubbles", _GPIPE, "Counting the bubble", ("bubbles_per_stage", "bubble_fraction_4_4"), 4, (
        "Count the `.` in each row of your diagram, the ones before the first and after the last operation too.",
        "Every row is as long as the step, and every stage has the same amount of work. So how can the idle cells differ?",
        "Idle cells of a row = columns - 8 operations. The fraction is all idle cells over 4 rows times all columns.",
    ), gpipe_diagram.check_bubbles),
    Exercise("ex1-backward-twice", _GPIPE, "Backwards that take two slots",
             ("slots_when_backward_takes_two", "fraction_when_backward_takes_two"), 2, (
        "Split the step: until the last stage has done its forwards, and from there to the end. Which part grows?",
        "Forwards alone fill 7 columns, backwards alone 7 columns of one slot. Make the latter two slots wide.",
        "7 + 2 x 7 slots. Then count one stage: 4 forwards of one slot and 4 backwards of two; the rest is idle.",
    ), gpipe_diagram.check_backward_twice),
    Exercise("ex1-spot-the-error", _GPIPE, "Spot the error", ("illegal_operations",), 4, (
        "For each operation ask two things: has its own stage done what comes before it, and has the neighbour's result "
        "arrived?",
        "A result arrives when its slot has ended. Look for an operation in the same slot as the one it needs, or before it.",
        "In a look at stage 1's backwards; in b at stage 1's forwards; in c at the last stage: every B there needs its own F.",
    ), spot_the_error.check_spot_the_error),
)}


def exercise(grade_id: str) -> Exercise:
    """The exercise with this id. KeyError-free: ValueError names the id and those that exist."""
    try:
        return EXERCISES[grade_id]
    except (KeyError, TypeError):
        raise ValueError(f"there is no exercise {grade_id!r}; there are {', '.join(EXERCISES)}") from None


def judge(grade_id: str, *answers) -> Verdict:
    """Ask the check of an exercise about Answer objects. ValueError when their number is not the exercise's."""
    entry = exercise(grade_id)
    if entry.manual:
        raise ValueError(f"{grade_id} is marked by a person: there is nothing to check")
    if len(answers) != len(entry.answers):
        raise ValueError(f"{grade_id} takes {len(entry.answers)} answers ({', '.join(entry.answers)}), got {len(answers)}")
    outcome = entry.check(*answers)
    points = min(float(entry.points), max(0.0, outcome.points))
    return Verdict(grade_id, points, float(entry.points), outcome.messages, outcome.steps, outcome.drawing, outcome.marks)
