"""Notebook 7: what a bubble of zero costs, and who is the shortest where messages take time; simulated, and on processes."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from course.figures import stack, timeline_figure
from course.floors import step_floor
from course.lessons.one_line import need, shown
from course.reading import read_schedule
from course.real_run import NoRun, RealRun, busy, missing_runs
from course.recognition import recognize
from course.schedule import Operation, Schedule
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate
from course.steps import further_step, repeated
from course.timeline import Timeline
from course.view import View, paragraphs, table, together
from course.words import number

PRICED = ("1f1b", "zb_h1", "zb_h2", "zb_v")


def parts_of(schedule: Schedule) -> Costs:
    """F, I and W equally long: a slot each of a whole rank, shared by its chunks."""
    each = Fraction(1, schedule.chunks)
    return Costs(each, input_grad=each, weight_grad=each)


@shown
def price_of_zero(ranks: int = 4, micro_batches: int = 8) -> View:
    """1F1B and the zero-bubble schedules: the step with a barrier at its end, each further one without, and what is held."""
    need(ranks=ranks, micro_batches=micro_batches)
    rows, work = [], 3 * micro_batches
    for name in PRICED:
        schedule = SCHEDULES[name].make(ranks, micro_batches, SCHEDULES[name].chunks or 1)
        timeline, further = simulate(schedule, parts_of(schedule)), further_step(schedule, parts_of(schedule))
        held = Fraction(max(timeline.peak_activations), schedule.chunks)
        rows.append([SCHEDULES[name].title, number(timeline.makespan), number(timeline.makespan - work), number(further),
                     number(further - work), number(held), _messages(schedule)])
    heads = ["", "slots of a step, barrier at its end", "idle of them, each rank", "slots of each further step, no barrier",
             "idle of them", "micro-batches held at most", "messages of a step"]
    return together(table(heads, rows, f"{ranks} ranks, {micro_batches} micro-batches; F, I and W a slot each"), paragraphs(
        "With a barrier the ranks wait for the last one, and the slots before a rank's first operation and after its last are "
        "a bubble again."))


def _messages(schedule):
    """How many cross from rank to rank in a step, both directions."""
    return 2 * schedule.micro_batches * sum(one != other for one, other in pairwise(schedule.stage_to_rank))


@shown
def steps_in_a_row(schedule, steps: int = 2) -> View:
    """So many steps of a schedule on one time axis, with a barrier between them and without."""
    need(steps=steps)
    read = read_schedule(schedule)
    schedule = read.schedule if isinstance(read, Timeline) else read
    both, title = [repeated(schedule, steps, parts_of(schedule), barrier) for barrier in (True, False)], _title(schedule)
    scale, drawn = both[0].makespan, [_each_from_zero(timeline, schedule.micro_batches) for timeline in both]
    figures = [timeline_figure(timeline, title=f"{title}, {steps} steps, {words}", scale=scale, summary=False)
               for timeline, words in zip(drawn, ("a barrier after each", "no barrier"), strict=True)]
    return together(stack(*figures), paragraphs(f"With the barrier {number(scale)} slots, without {number(both[1].makespan)}: "
                                                f"each rank works for {number(both[0].work / len(schedule.ranks))} of them."))


def _each_from_zero(timeline, micro_batches):
    """The same with the micro-batches of each step counted from 0: numbers of two digits have no room."""
    ranks = tuple(tuple(Operation(op.stage, op.kind, op.micro_batch % micro_batches) for op in rank)
                  for rank in timeline.schedule.ranks)
    return replace(timeline, schedule=replace(timeline.schedule, ranks=ranks))


@shown
def zero_measured(*runs: RealRun | NoRun) -> View:
    """Steps and bytes of runs of one model, the first one that against which the others are held."""
    if missing := missing_runs(runs):
        return missing
    rows = [*_slots(runs),
            ["most idle slots between a rank's first and last operation", *(number(_inside(run.run.predicted)) for run in runs)],
            ["the same, measured", *(f"{float(_inside(run.run.measured)):.2f}" for run in runs)],
            ["micro-batches held at most", *(max(run.run.peak_activations_measured) for run in runs)],
            ["bytes of activations at most", *(f"{max(run.run.peak_activation_bytes):,}" for run in runs)],
            ["the same, over all stages", *(f"{sum(run.run.peak_activation_bytes):,}" for run in runs)],
            ["loss of the last step", *(f"{run.run.losses[-1]:.6f}" for run in runs)]]
    return _beside(rows, runs, "The same model, the same text")


def _inside(timeline):
    """How long the rank that waits the longest is idle after it began and before it is done."""
    return max(ends[-1] - starts[0] - (sum(ends) - sum(starts))
               for starts, ends in zip(timeline.starts, timeline.ends, strict=True))


@shown
def who_is_shorter(ranks: int = 4, micro_batches: int = 32, latencies: Sequence = (0, Fraction(1, 4), Fraction(1, 2), 1)) -> View:
    """GPipe's and 1F1B's steps for messages that take longer and longer, beside what no order is below; B takes 2 F."""
    need(ranks=ranks, micro_batches=micro_batches)
    rows, made = [], {name: SCHEDULES[name].make(ranks, micro_batches, 1) for name in ("gpipe", "1f1b")}
    held = {name: max(simulate(schedule).peak_activations) for name, schedule in made.items()}
    for latency in latencies:
        costs = Costs(1, 2, latency=latency)
        steps = {name: simulate(schedule, costs).makespan for name, schedule in made.items()}
        best = [SCHEDULES[name].title for name in steps if steps[name] == min(steps.values())]
        floor = step_floor(range(ranks), micro_batches, costs)
        rows.append([number(latency), *map(number, steps.values()), " and ".join(best), number(floor)])
    heads = ["slots a message takes", *(f"{SCHEDULES[name].title}'s step" for name in made), "the shorter one",
             "no order is below"]
    caption = f"Slots of a step: {ranks} stages, {micro_batches} micro-batches, a forward of 1 slot, a backward of 2"
    return together(table(heads, rows, caption), paragraphs(
        f"At most GPipe holds {held['gpipe']} micro-batches, 1F1B {held['1f1b']}."))


@shown
def links_measured(*runs: RealRun | NoRun) -> View:
    """Steps of runs with slow links, measured beside simulated, and what they hold."""
    if missing := missing_runs(runs):
        return missing
    return _beside([*_slots(runs), ["micro-batches held at most", *(max(run.run.peak_activations_measured) for run in runs)],
                    ["bytes of activations at most", *(f"{max(run.run.peak_activation_bytes):,}" for run in runs)]], runs)


def _slots(runs):
    return [["slots of the step, simulated", *(number(run.slots) for run in runs)],
            ["slots of the step, measured", *(f"{float(run.run.measured.makespan):.2f}" for run in runs)]]


def _beside(rows, runs, caption=""):
    titles = [_title(run.run.schedule) for run in runs]
    return together(table(["", *titles], rows, caption), *busy(dict(zip(titles, runs, strict=True))))


def _title(schedule):
    name = recognize(schedule)
    return SCHEDULES[name].title if name else "your order"
