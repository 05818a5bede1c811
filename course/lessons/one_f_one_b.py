"""Notebook 2: stages with little room, GPipe beside 1F1B, and measured bytes beside counted ones."""

from collections.abc import Callable, Sequence

from course.answers import LocalAnswer
from course.checks.outcome import Message, is_number, show_value
from course.checks.room import first_over, judge_within_room
from course.figures import memory_figure, stack, timeline_figure
from course.formulas import peak_in_flight
from course.real_run import NoRun, RealRun, asked
from course.recognition import recognize
from course.schedule import Operation, Schedule
from course.schedules import SCHEDULES, gpipe, one_f_one_b
from course.simulation import Costs, as_far_as_it_goes, simulate
from course.view import View, outcome_view, paragraphs, table, together

NOT_1F1B = "a run of your order, once it is 1F1B"


def within_room(schedule: Schedule, room: int, title: str = "") -> View:
    """A schedule on stages with room for so many micro-batches each: as far as it goes, what is held, and where it stops."""
    rooms = [room] * len(schedule.ranks)
    over, timeline = first_over(simulate(schedule), rooms), as_far_as_it_goes(schedule, rooms)
    held = memory_figure(timeline.held, timeline.makespan, title=f"Micro-batches held; room for {room}", capacity=room)
    if over is None:
        said = f"It fits, and takes {timeline.makespan} slots."
    else:
        said = (f"Stage {over.rank} stops at {over.operation.short}, in slot {over.time}: it holds {over.held - 1} micro-batches "
                f"and has room for {room}. Only a backward makes room, and in this order the next one comes after "
                f"{over.operation.short}. The machine stands still, for ever.")
    return together(stack(timeline_figure(timeline, title=title, summary=False), held), paragraphs(said))


def practise_within_room(drawing, stages: int, micro_batches: int, room: int | Sequence[int]) -> View:
    """Look at a drawing for stages with so much room, the same on each or one number a stage. No points, no record."""
    rooms = [room] * stages if isinstance(room, int) else room
    return outcome_view("Practice", judge_within_room(LocalAnswer(drawing), "the drawing", stages, micro_batches, rooms))


def in_rounds(stages: int, micro_batches: int, room: int) -> Schedule:
    """GPipe as often as needed, with at most `room` micro-batches in each round.

    >>> in_rounds(1, 3, room=2).to_csv()
    '0F0,0F1,0B0,0B1,0F2,0B2\\n'
    """
    rounds = [range(first, min(first + room, micro_batches)) for first in range(0, micro_batches, room)]
    return Schedule(tuple(tuple(Operation(stage, kind, index) for numbers in rounds for kind in "FB" for index in numbers)
                          for stage in range(stages)), tuple(range(stages)), micro_batches)


def side_by_side(stages: int, micro_batches: int) -> View:
    """GPipe, GPipe in rounds and 1F1B: how long the step is, how long each stage idles, what each stage holds."""
    compared = {"GPipe": gpipe(stages, micro_batches),
                f"GPipe in rounds of {stages}": in_rounds(stages, micro_batches, stages),
                "1F1B": one_f_one_b(stages, micro_batches)}
    rows = []
    for name, schedule in compared.items():
        one, two = (simulate(schedule, Costs(1, backward)) for backward in (1, 2))
        rows.append([name, one.makespan, one.makespan - 2 * micro_batches, two.makespan, two.makespan - 3 * micro_batches,
                     ", ".join(map(str, one.peak_activations))])
    heads = ["", "slots, B takes 1", "idle of them, each stage", "slots, B takes 2", "idle of them, each stage",
             "micro-batches held at most, per stage"]
    return table(heads, rows, f"{stages} stages, {micro_batches} micro-batches")


def phases_of(order: Callable, lengths: Callable, stages: int, micro_batches: int) -> View:
    """A learner's own order, cut where the learner's own phase lengths say."""
    schedule = asked(order, stages, micro_batches)
    if isinstance(schedule, Message):
        return paragraphs(schedule.text)
    answer, rows, fits = LocalAnswer(lengths), [], True
    for stage, row in enumerate(schedule.ranks):
        reply = answer.call(stages, micro_batches, stage)
        found = list(reply.values()) if isinstance(reply, dict) else reply
        if not isinstance(found, list) or len(found) != 3 or not all(map(is_number, found)):
            return paragraphs(f"`phase_lengths({stages}, {micro_batches}, {stage})` gave {show_value(reply)}, not three numbers.")
        warm_up, pairs = int(found[0]), 2 * int(found[1])
        names = [operation.short for operation in row]
        fits &= "B" not in "".join(names[:warm_up]) and "F" not in "".join(names[warm_up + pairs:])
        rows.append([f"stage {stage}", *(" ".join(part) or "-" for part in (
            names[:warm_up], names[warm_up:warm_up + pairs], names[warm_up + pairs:]))])
    found = table(["", "warm-up", "steady state", "cooldown"], rows)
    return found if fits else together(found, paragraphs(
        "A warm-up with a backward in it, or a cooldown with a forward: your order is not that of these phases."))


def same_step(one: RealRun | NoRun, other: RealRun | NoRun) -> View:
    """Two measured timelines on one axis, and what they took."""
    if isinstance(one, NoRun) or isinstance(other, NoRun):
        return paragraphs("Both runs are needed for this: GPipe's and that of your order.")
    scale = max(float(run.run.measured.makespan) for run in (one, other))
    figures = [timeline_figure(run.run.measured, title=f"{_title(run)}, measured", scale=scale, slot=1, summary=False)
               for run in (one, other)]
    rows = [["slots, simulated", *(run.slots for run in (one, other))],
            ["slots, measured", *(f"{float(run.run.measured.makespan):.2f}" for run in (one, other))],
            ["bubble, simulated", *(f"{float(run.bubble):.1%}" for run in (one, other))],
            ["bubble, measured", *(f"{run.bubble_measured:.1%}" for run in (one, other))],
            ["bytes of activations at most, stage 0", *(f"{run.run.peak_activation_bytes[0]:,}" for run in (one, other))]]
    late = one.run.overruns + other.run.overruns
    busy = paragraphs(f"Operations that took longer than their planned time, in the two runs: {late}. This machine was busy, so "
                      "the measured step is longer than it should be: run the cells of both runs again, then this one.")
    return together(stack(*figures), table(["", _title(one), _title(other)], rows), *[busy] * bool(late))


def _title(run):
    name = recognize(run.run.schedule)
    return SCHEDULES[name].title if name else "Your order"


def bytes_beside(count: Callable, *runs: RealRun | NoRun) -> View:
    """Measured bytes beside a learner's own count, `count(schedule, p, m, stage)`, times the bytes of one micro-batch."""
    rows, answer = [], LocalAnswer(count)
    named = [(None if isinstance(run, NoRun) else recognize(run.run.schedule), run) for run in runs]
    for name, run in named:
        if name not in ("gpipe", "1f1b"):
            continue
        schedule = run.run.schedule
        for stage, (one, peak) in enumerate(zip(run.run.bytes_of_one, run.run.peak_activation_bytes, strict=True)):
            mine = answer.call(name, schedule.stages, schedule.micro_batches, stage)
            product = f"{int(mine) * one:,}" if is_number(mine) else "-"
            rows.append([SCHEDULES[name].title, f"stage {stage}", show_value(mine), f"{one:,}", product, f"{peak:,}"])
    found = table(["", "", "your peak_in_flight", "bytes of one", "count x bytes", "bytes measured at most"], rows)
    there = {name for name, _ in named}
    missing = [text for name, text in (("gpipe", "GPipe's run"), ("1f1b", NOT_1F1B)) if name not in there]
    return together(*[found] * bool(rows), *[paragraphs(f"Not here yet: {' and '.join(missing)}.")] * bool(missing))


def layers_in_flight(layers: int, micro_batches: int, stages: Sequence[int]) -> View:
    """What stage 0 of 1F1B holds, in layers' worth of one micro-batch's activations, for each number of stages."""
    rows = []
    for p in stages:
        first, last = (peak_in_flight("1f1b", p, micro_batches, stage) for stage in (0, p - 1))
        rows.append([p, layers // p, first, layers // p * first, layers // p * last])
    heads = ["stages", "layers on each", "in flight on stage 0", "layers' worth held on stage 0", "on the last stage"]
    return table(heads, rows, f"1F1B, {layers} layers, {micro_batches} micro-batches")


def fewer_stages(few: RealRun | NoRun, many: RealRun | NoRun) -> View:
    """The activation bytes of the same model's first stage, measured on two numbers of stages."""
    if isinstance(few, NoRun) or isinstance(many, NoRun) or recognize(many.run.schedule) != "1f1b":
        return paragraphs(f"Not here yet: {NOT_1F1B}.")
    rows = [[run.run.schedule.stages, run.sizes.layers // run.run.schedule.stages,
             run.run.peak_activations_measured[0], f"{run.run.peak_activation_bytes[0]:,}"] for run in (few, many)]
    return table(["stages", "layers on each", "held at most on stage 0", "bytes measured at most, stage 0"], rows,
                 f"The same model of {few.sizes.layers} layers")


def what_room_buys(stages: int, room: int, sizes: Sequence[int]) -> View:
    """For each number of micro-batches what GPipe and 1F1B need on stage 0, against the room there is, and the bubble."""
    rows = []
    for micro_batches in sizes:
        needs = [peak_in_flight(name, stages, micro_batches, 0) for name in ("gpipe", "1f1b")]
        bubble = float(simulate(one_f_one_b(stages, micro_batches)).bubble_fraction)
        rows.append([micro_batches, *(f"{need}: {'fits' if need <= room else 'no room'}" for need in needs), f"{bubble:.1%}"])
    heads = ["micro-batches", "GPipe holds", "1F1B holds", "bubble"]
    return table(heads, rows, f"{stages} stages with room for {room}")
