"""Notebook 3: formulas beside simulations, the two definitions of the bubble, and runs in which the formula no longer holds."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from course.answers import UNANSWERED, LocalAnswer, Raised
from course.checks.bubble_steps import judge_step
from course.checks.functions import same
from course.checks.outcome import as_number, show_value
from course.figures import curves_figure
from course.formulas import bubble_fraction, bubble_over_ideal, micro_batches_needed, to_fraction_of_total
from course.lessons.one_line import shown
from course.real_run import NoRun, RealRun, busy, missing_runs
from course.schedules import gpipe, one_f_one_b
from course.simulation import Costs, simulate
from course.view import View, outcome_view, paragraphs, table, together
from course.words import counted

SIZES = tuple((p, m) for p in (2, 4, 8) for m in (4, 8, 16, 32, 64))
LARGEST = 10**9  # numbers from here on are shown as they are: no float need hold them
# Not-interleaved rows of Table 1 of Narayanan et al. 2021: name, stages, global batch, micro-batch size, replicas.
PUBLISHED = (("39 billion parameters", 2, 1536, 4, 32), ("1 trillion parameters", 64, 3072, 1, 6))


@shown
def step(key: str, formula: Callable) -> View:
    """Practice: one step of the derivation, a function of p and m, tried at sizes drawn at random."""
    return outcome_view(f"Step {key}", judge_step(key, LocalAnswer(formula)))


def compared(p: int, m: int) -> tuple[Fraction, Fraction]:
    """The bubble fraction of GPipe, simulated and by the formula, both exact."""
    return simulate(gpipe(p, m)).bubble_fraction, bubble_fraction(p, m)


@shown
def your_formula(total_slots: Callable, busy_slots: Callable, fraction: Callable) -> View:
    """The learner's three functions beside the simulator, at sizes that no exercise asks for."""
    total, busy, share, rows, ratios = LocalAnswer(total_slots), LocalAnswer(busy_slots), LocalAnswer(fraction), [], []
    for p, m in ((1, 1), (2, 3), (3, 2), (3, 6), (5, 20), (16, 64)):
        timeline, mine = simulate(gpipe(p, m)), (total.call(p, m), busy.call(p, m))
        there = timeline.makespan, timeline.work // p
        ratios.append((_ratio(*mine) == _ratio(*there), same(mine[1], there[1])))
        rows.append([p, m, " : ".join(map(_said, mine)), " : ".join(map(str, there)), _percent(share.call(p, m)),
                     _percent(timeline.bubble_fraction)])
    view = table(["stages", "micro-batches", "total : busy, yours", "simulated", "bubble, yours", "simulated"], rows)
    if not all(equal for equal, _ in ratios) or all(alike for _, alike in ratios):
        return view
    return together(view, paragraphs("Yours count in another unit than the simulator's single slots of one stage. Both of yours "
                                     "do, so the ratio is the same, and the fraction needs no more than the ratio."))


def _ratio(total, busy):
    """Total over busy, up to the rounding of floats; None where one of them is no number above 0."""
    total, busy = as_number(total), as_number(busy)
    return None if total is None or busy is None or min(total, busy) <= 0 else round(Fraction(total) / Fraction(busy), 9)


@shown
def ratio_table(p: int = 3, m: int = 6) -> View:
    """The same two schedules with backwards of several lengths: the slots change, the bubble fraction does not."""
    rows = []
    for backward in (Fraction(1, 2), 1, 2, 3):
        timelines = [simulate(make(p, m), Costs(1, backward)) for make in (gpipe, one_f_one_b)]
        cells = [(timeline.makespan, _percent(timeline.bubble_fraction)) for timeline in timelines]
        rows.append([f"{backward} x F", *cells[0], *cells[1]])
    return table(["backward", "GPipe, slots", "bubble", "1F1B, slots", "bubble"], rows,
                 f"{counted(p, 'stage')}, {counted(m, 'micro-batch')}")


@shown
def bubble_table(fraction: Callable) -> View:
    """The lesson's table: bubble and useful share, simulated, by the formula and by the learner's function; and its curves."""
    yours, rows = LocalAnswer(fraction), []
    for p, m in SIZES:
        simulated, formula = compared(p, m)
        rows.append([p, m, simulated, formula, "yes" if simulated == formula else "no", _percent(yours.call(p, m)),
                     _percent(float(1 - simulated))])
    values = {f"{p} stages": [100 * float(compared(p, m)[0]) for q, m in SIZES if q == p] for p in (2, 4, 8)}
    return together(
        table(["stages", "micro-batches", "bubble, simulated", "by the formula", "equal", "bubble, yours", "useful share"], rows),
        curves_figure([m for p, m in SIZES if p == 2], values, "Bubble over the number of micro-batches", "micro-batches",
                      "% of the step"))


@shown
def two_definitions(over_ideal: Callable, of_total: Callable) -> View:
    """Idle over ideal and idle over total, by the learner's functions, at sizes of this notebook and of published runs."""
    ideal, total, rows = LocalAnswer(over_ideal), LocalAnswer(of_total), []
    named = [("notebook 1", 4, 4), ("above", 4, 8), ("above", 8, 64),
             *((name, p, batch // (b * dp)) for name, p, batch, b, dp in PUBLISHED)]
    for name, p, m in named:
        x = ideal.call(p, m)
        converted = None if as_number(x) is None else total.call(x)
        rows.append([name, p, m, _percent(x), _percent(converted), _percent(bubble_fraction(p, m))])
    x, f = bubble_over_ideal(4, 4), bubble_fraction(4, 4)
    return together(
        table(["", "stages", "micro-batches", "over ideal, yours", "made over total, yours", "over total"], rows),
        paragraphs("Over total, (p-1)/(m+p-1): the GPipe paper (Huang et al. 2019, section 2.3), and this course.",
                   "Over ideal, (p-1)/m: the Megatron paper (Narayanan et al. 2021, section 2.2), from whose Table 1 the two "
                   "large runs are.",
                   f"With 4 stages and 4 micro-batches {x} and {f} are one bubble: the same idle time, over two times. "
                   f"x = {x} is over ideal, and x/(1+x) = {to_fraction_of_total(x)} over total. With m much larger than p they "
                   "are nearly equal, with m near p they are far apart."))


@shown
def needed_table(needed: Callable) -> View:
    """The micro-batches that some bubbles take, by the learner's function; where it is one too many, what can do that."""
    yours, rows, above = LocalAnswer(needed), [], False
    percents = (20, 10, 5, 1)
    for p in (2, 4, 8, 16):
        given = [yours.call(p, percent / 100) for percent in percents]
        above |= any(as_number(value) == micro_batches_needed(p, Fraction(percent, 100)) + 1
                     for value, percent in zip(given, percents, strict=True))
        rows.append([p, *map(_said, given)])
    view = table(["stages", *(f"bubble at most {percent}%" for percent in percents)], rows, "Micro-batches needed, yours")
    if not above:
        return view
    return together(view, paragraphs(
        "Where the bubble can be exactly the fraction, yours is one micro-batch higher here than it must be. Floats can do that "
        f"to right algebra: 0.2 is no exact number in binary, so 3 * (1 - 0.2) / 0.2 is {3 * (1 - 0.2) / 0.2!r}, and that "
        f"is rounded up. With Fraction(1, 5) it is exactly {micro_batches_needed(4, Fraction(1, 5))}."))


@shown
def where_it_ends(runs: Mapping[str, RealRun | NoRun]) -> View:
    """The formula for equal stages and free messages beside what was simulated and measured, a run a line."""
    if missing := missing_runs(runs.values()):
        return missing
    rows = []
    for name, run in runs.items():
        formula = bubble_fraction(run.run.schedule.stages, run.run.schedule.micro_batches)
        rows.append([name, _percent(formula), _percent(run.bubble), f"{run.bubble_measured:.1%}", run.slots,
                     f"{float(run.run.measured.makespan):.2f}"])
    heads = ["", "bubble by the formula", "simulated", "measured", "slots simulated", "measured"]
    return together(table(heads, rows), *busy(runs))


def _percent(value):
    """`3/11 = 27.3%`; what is no number as it is."""
    number = as_number(value)
    if number is None or abs(number) >= LARGEST:
        return _said(value)
    exact = f"{number} = " if isinstance(number, Fraction) and number.denominator > 1 else ""
    return f"{exact}{100 * float(number):.3g}%"


def _said(value):
    """A number as people write it, `-` where a function gave nothing."""
    number = as_number(value)
    if number is not None and abs(number) < LARGEST:
        return f"{float(number):g}"
    return "-" if value is None or value == UNANSWERED or isinstance(value, Raised) else show_value(value)
