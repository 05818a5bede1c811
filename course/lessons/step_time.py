"""Notebook 3: the time of a step over the number of micro-batches, at a fixed global batch, from real runs."""

from collections.abc import Callable, Mapping

from course.answers import LocalAnswer
from course.checks.outcome import as_number, show_value
from course.figures import curves_figure
from course.formulas import PPConfig, bubble_fraction, total_slots
from course.lessons.one_line import given, need, shown
from course.pipeline import Sizes
from course.real_run import NoRun, RealRun, busy, missing_runs
from course.simulation import Costs
from course.view import View, paragraphs, table, together

FIXED, EACH, MESSAGE = 12, 8, 24  # milliseconds: an operation, and each of its samples; a message on its link
MILLISECOND = 0.001


@given
def emulated(samples: int) -> dict:
    """What run_for_real takes for micro-batches of this many samples: the times of the emulated devices and links.

    A forward or a backward lasts 12 ms and 8 ms a sample, a message occupies its link for 24 ms. The model has one layer a
    stage of four, and the one step that is measured.
    """
    need(samples=samples)
    each = FIXED + EACH * samples
    return {"costs": Costs(forward=each, backward=each, message=MESSAGE), "slot_seconds": MILLISECOND, "steps": 1,
            "sizes": Sizes(micro_batch_size=samples, layers=4)}


@shown
def step_times(runs: Mapping[int, RealRun | NoRun]) -> View:
    """The curve over m: measured, simulated, and by the formula, which counts no messages. `runs`: m -> run."""
    if missing := missing_runs(runs.values()):
        return missing
    measured = [run.run.step_time_measured * 1000 for run in runs.values()]
    simulated = [run.run.step_time_predicted * 1000 for run in runs.values()]
    formula = [_by_formula(run) for run in runs.values()]
    figure = curves_figure(list(runs), {"measured": measured, "simulated": simulated, "formula, without messages": formula},
                           "Time of a step, one global batch", "micro-batches", "milliseconds")
    rows = [[m, run.sizes.micro_batch_size, PPConfig(run.run.schedule.stages, m, run.sizes.micro_batch_size).global_batch(),
             _operation(run), *(f"{value:.0f}" for value in times), f"{float(bubble_fraction(run.run.schedule.stages, m)):.1%}"]
            for (m, run), *times in zip(runs.items(), measured, simulated, formula, strict=True)]
    heads = ["micro-batches", "samples in one", "global batch", "F, ms", "step measured, ms", "simulated", "by the formula",
             "bubble by the formula"]
    return together(figure, table(heads, rows), *busy({f"m = {m}": run for m, run in runs.items()}))


@given
def shortest(runs: Mapping[int, RealRun | NoRun]):
    """The number of micro-batches with the shortest step measured; `...` where something was not run."""
    if any(isinstance(run, NoRun) for run in runs.values()):
        return ...
    return min(runs, key=lambda m: runs[m].run.step_time_measured)


@shown
def your_choice(best_micro_batch_size: Callable, runs: Mapping[int, RealRun | NoRun]) -> View:
    """The learner's function asked about the devices of these runs, beside the shortest step that was measured."""
    if missing := missing_runs(runs.values()):
        return missing
    by_size = {run.sizes.micro_batch_size: run for run in runs.values()}
    stages, batch = next(((run.run.schedule.stages, m * run.sizes.micro_batch_size) for m, run in runs.items()))
    times = {b: 2 * _operation(run) / 1000 for b, run in by_size.items()}
    chosen = as_number(reply := LocalAnswer(best_micro_batch_size).call(batch, stages, 1, times))
    if chosen not in by_size:
        return paragraphs(f"Your function returned {show_value(reply)}, which is none of the sizes that were run.")
    taken, best = by_size[chosen], runs[shortest(runs)]
    rows = [[name, run.run.sizes.micro_batch_size, run.run.schedule.micro_batches, f"{run.run.step_time_measured * 1000:.0f}"]
            for name, run in (("your function picks", taken), ("shortest of all that were run", best))]
    return together(table(["", "samples in one", "micro-batches", "step measured, ms"], rows),
                    *busy({f"m = {m}": run for m, run in runs.items()}))


def _operation(run):
    """Milliseconds of one forward of the first stage, as planned."""
    first = run.run.predicted.spans[0]
    return first.end - first.start


def _by_formula(run):
    return total_slots(run.run.schedule.stages, run.run.schedule.micro_batches, _operation(run), _operation(run))
