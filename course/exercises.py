"""The one table of exercises: id, notebook, answers, points, check, hints; everything else asks it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from course.checks import gpipe_diagram, one_f_one_b, one_f_one_b_claims, phases, spot_the_error
from course.checks.outcome import Message, Outcome
from course.timeline import Timeline


@dataclass(frozen=True)
class Exercise:
    """One graded part of a notebook. `answers` are the names of the learner's variables, in the order of the check.

    `statements` are what a dict of verdicts or conclusions is about, by its keys.
    """

    grade_id: str
    notebook: str
    title: str
    answers: tuple[str, ...]
    points: float
    hints: tuple[str, str, str]
    check: Callable[..., Outcome] | None = None
    statements: Mapping[str, str] = field(default_factory=dict)

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


_GPIPE, _1F1B = "1_gpipe_diagram", "2_1f1b_phases"

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
    Exercise("ex2-order", _1F1B, "The order of 1F1B", ("one_f_one_b",), 8, (
        "Write down the rows for p=3 from above as tokens, one list a stage. Which forwards come before the first pair of one F "
        "and one B, and how does their number change from stage to stage?",
        "Three loops: the forwards of the warm-up, then pairs, then the backwards that are left. In the pairs, F is ahead of B "
        "by the warm-up.",
        "With w forwards in the warm-up, pair i is F(w+i) and B(i), for i from 0 to m-w-1, and the cooldown is B(m-w) to B(m-1). "
        "The last stage has w=0, each stage before it one more; and w cannot be more than m.",
    ), one_f_one_b.check_order),
    Exercise("ex2-phases", _1F1B, "The lengths of the phases", ("phase_lengths",), 3, (
        "Your function of the order already knows them: count in the lists that it returns.",
        "Each forward is in the warm-up or in a pair, each backward in a pair or in the cooldown. So one number gives the other "
        "two.",
        "Warm-up w, then m - w pairs, then w backwards. Look at the w of the order above, and at what bounds it when m is small.",
    ), phases.check_phases),
    Exercise("ex2-in-flight", _1F1B, "How many in flight", ("peak_in_flight",), 4, (
        "Go along the order of one stage: add 1 at each F, take 1 away after each B, and note the largest.",
        "GPipe: the first B comes after all forwards. 1F1B: the worst moment is the first pair, after its F and before the end "
        "of its B.",
        "1F1B: the warm-up's forwards and the one of the first pair. And nobody can hold more micro-batches than there are.",
    ), phases.check_in_flight),
    Exercise("ex2-claims", _1F1B, "True or false", ("claims",), 1, (
        "Each statement is answered by a table or a run of this notebook.",
        "Look at the two steps side by side for a, at the memory of the four stages for b, at 2, 4 and 8 stages for c.",
        "For d count the warm-up of the last stage; for e see where GPipe stopped; for f compare the losses and the gradients.",
    ), one_f_one_b_claims.check_claims, {key: claim.text for key, claim in one_f_one_b_claims.CLAIMS.items()}),
    Exercise("ex2-explain", _1F1B, "1F1B in your own words", (), 4, (
        "Follow one stage through a step: what can it do before the first gradient reaches it, after that, and after its last "
        "forward?",
        "The time until the first gradient comes is the way to the last stage and back. How long is that way for the last stage?",
        "Say for each phase which of forward and backward makes room and which takes it. Then compare the idle slots with those "
        "of GPipe.",
    )),
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
