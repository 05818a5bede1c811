"""Notebook 4: runs with and without chunks side by side, other orders, slow links, and formulas beside what was measured."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from course.answers import LocalAnswer, Raised
from course.checks.megatron_flags import CONFIG, RUN
from course.checks.outcome import as_number, is_number, show_value
from course.figures.words import share
from course.formulas import leanest_chunks, peak_chunks
from course.lessons.one_line import given, need, shown
from course.real_run import NoRun, RealRun, busy, missing_runs
from course.recognition import recognize
from course.schedule import Schedule
from course.schedules import interleaved_1f1b, one_f_one_b
from course.schedules.one_f_one_b import alternate
from course.simulation import Costs, simulate
from course.view import View, table, together


def lean_order(ranks: int, micro_batches: int, chunks: int) -> Schedule:
    """Megatron's order with the shorter warm-up, (p-rank-1) + (v-1) p."""
    theirs = interleaved_1f1b(ranks, micro_batches, chunks)
    rows = []
    for rank, row in enumerate(theirs.ranks):
        forwards, backwards = ([operation for operation in row if operation.kind == kind] for kind in "FB")
        warm_up = min(len(forwards), ranks - rank - 1 + (chunks - 1) * ranks)
        rows.append(tuple(alternate(forwards, backwards, warm_up)))
    return replace(theirs, ranks=tuple(rows), name="")


@given
def other_order(run: RealRun | NoRun) -> Schedule | NoRun:
    """Beside Megatron's order the lean one, beside any other one Megatron's."""
    if isinstance(run, NoRun):
        return run
    sizes = len(run.run.schedule.ranks), run.run.schedule.micro_batches, run.run.schedule.chunks
    return lean_order(*sizes) if recognize(run.run.schedule) == "interleaved_1f1b" else interleaved_1f1b(*sizes)


def title_of(run: RealRun) -> str:
    """What a run with or without chunks is called in a table."""
    schedule, peaks = run.run.schedule, run.run.predicted.peak_activations
    p, m, v = len(schedule.ranks), schedule.micro_batches, schedule.chunks
    if v == 1:
        return "1F1B, one stage a rank"
    if recognize(schedule) == "interleaved_1f1b":
        return f"Megatron's order, {v} chunks"
    lean = peaks == tuple(leanest_chunks(p, m, v, rank) for rank in range(p))
    return f"{'lean order' if lean else 'an order of your own'}, {v} chunks"


@shown
def side_by_side(*runs: RealRun | NoRun) -> View:
    """Bubble, messages and memory of runs of one model, measured, and that they compute the same."""
    if missing := missing_runs(runs):
        return missing
    rows = [["bubble fraction, simulated", *(share(run.bubble) for run in runs)],
            ["bubble fraction, measured", *(f"{run.bubble_measured:.1%}" for run in runs)],
            ["slots of the step, measured", *(f"{float(run.run.measured.makespan):.2f}" for run in runs)],
            ["messages sent in the step", *(f"{messages_of(run):,}" for run in runs)],
            ["bytes sent in the step", *(f"{sum(run.run.bytes_sent.values()):,}" for run in runs)],
            ["most bytes of activations, rank 0", *(f"{run.run.peak_activation_bytes[0]:,}" for run in runs)],
            ["the same against 1F1B", *(f"{run.run.peak_activation_bytes[0] / runs[0].run.peak_activation_bytes[0]:.3f}"
                                        for run in runs)],
            ["loss of the last step", *(f"{run.run.losses[-1]:.6f}" for run in runs)]]
    return together(table(["", *map(title_of, runs)], rows, "The same model, the same text; a slot is a forward of one layer"),
                    *busy({title_of(run): run for run in runs}))


def messages_of(run: RealRun) -> int:
    """How many tensors of b s h elements of 4 bytes a run sent in its step."""
    b, s, h = run.sizes.boundary
    return sum(run.run.bytes_sent.values()) // (4 * b * s * h)


@shown
def warm_ups(ranks: int, micro_batches: int, chunks: int) -> View:
    """The forwards before the first pair and the chunks held, rank by rank, of 1F1B, the lean and Megatron's order."""
    need(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    p, m, v = ranks, micro_batches, chunks
    orders = [("1F1B, one stage a rank", "p-rank-1", v, [peak_chunks(p, m, 1, rank) for rank in range(p)]),
              ("lean order", "(p-rank-1) + (v-1) p", 1, [leanest_chunks(p, m, v, rank) for rank in range(p)]),
              ("Megatron's order", "2 (p-rank-1) + (v-1) p", 1, [peak_chunks(p, m, v, rank) for rank in range(p)])]
    rows = [[name, formula, ", ".join(str(number - 1) for number in held), ", ".join(str(weight * number) for number in held)]
            for name, formula, weight, held in orders]
    return table(["", "warm-up", f"on ranks 0 to {p - 1}", "held at most, chunks"], rows,
                 f"What a rank holds at most is its warm-up and one more (p={p}, m={m}, v={v})")


@shown
def with_latency(ranks: int, micro_batches: int, chunks: int, latencies: Sequence) -> View:
    """How long the step is when messages take longer and longer: without chunks, lean, and in Megatron's order."""
    orders = [(one_f_one_b(ranks, micro_batches), chunks), (lean_order(ranks, micro_batches, chunks), 1),
              (interleaved_1f1b(ranks, micro_batches, chunks), 1)]
    rows = [[latency, *(f"{float(simulate(order, Costs(time, time, latency=latency)).makespan):g}" for order, time in orders)]
            for latency in latencies]
    heads = ["latency, slots", "1F1B, one stage a rank", f"lean order, {chunks} chunks", f"Megatron's order, {chunks} chunks"]
    return table(heads, rows, f"Slots of the step, simulated: {ranks} ranks, {micro_batches} micro-batches; a slot is a chunk's "
                 "forward")


@given
def stage_times(layer_times: Sequence, stages: int) -> list:
    """The time of each stage, from the times of its layers.

    >>> stage_times([1, 1, 2, 2], 2)
    [2, 4]
    """
    need(stages=stages)
    each, rest = divmod(len(layer_times), stages)
    if rest or not each:
        raise ValueError(f"stages = {stages}: the number of layers, {len(layer_times)}, must be a multiple of it")
    return [sum(layer_times[stage * each:(stage + 1) * each]) for stage in range(stages)]


@shown
def your_formulas(bubble: Callable, messages: Callable, factor: Callable, *runs: RealRun | NoRun) -> View:
    """A learner's three formulas beside the runs, the first of them without chunks; and for the lesson's command."""
    if missing := missing_runs(runs):
        return missing
    plain, megatrons = runs[0], next((run for run in runs if recognize(run.run.schedule) == "interleaved_1f1b"), runs[-1])
    schedule, answers = megatrons.run.schedule, [LocalAnswer(function) for function in (bubble, messages, factor)]
    p, m, v = len(schedule.ranks), schedule.micro_batches, schedule.chunks
    memory = megatrons.run.peak_activation_bytes[0] / plain.run.peak_activation_bytes[0]
    rows = [["bubble fraction", _percent(answers[0].call(p, m, v)), f"{megatrons.bubble_measured:.1%}"],
            ["messages", _said(answers[1].call(p, m, v)), f"{messages_of(megatrons):,}"],
            ["activations of rank 0, against 1F1B", _said(answers[2].call(p, v)), f"{memory:.3f}"]]
    pp, wanted = CONFIG.pp, RUN["v"]
    lesson = [["bubble fraction", *(_percent(answers[0].call(pp, RUN["m"], chunks)) for chunks in (1, wanted))],
              ["messages", *(_said(answers[1].call(pp, RUN["m"], chunks)) for chunks in (1, wanted))],
              ["activations of rank 0, against 1F1B", "1", _said(answers[2].call(pp, wanted))]]
    return together(table(["", "your formula", "measured"], rows, f"p={p}, m={m}, v={v}, {title_of(megatrons)}"),
                    *busy({title_of(run): run for run in (plain, megatrons)}),
                    table(["", "without chunks", f"with {wanted} chunks a rank"], lesson,
                          f"The lesson's command by your formulas: p={pp}, m={RUN['m']}"))


def _percent(value):
    number = as_number(value)
    return _said(value) if number is None else share(number if isinstance(number, Fraction) else float(number))


def _said(value):
    if isinstance(value, Raised):
        return f"{value.type}: {value.text}"
    return f"{float(value):,.10g}" if is_number(value) else show_value(value)
