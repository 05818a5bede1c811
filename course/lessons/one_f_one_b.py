"""Notebook 2: stages with little room, GPipe beside 1F1B, and measured bytes beside counted ones."""

from collections.abc import Callable, Sequence

from course.answers import LocalAnswer
from course.checks.functions import ask, call, same
from course.checks.one_f_one_b import pattern
from course.checks.outcome import Message, show_value
from course.checks.phases import WAYS, fits, three_numbers
from course.checks.room import first_over, judge_within_room
from course.figures import memory_figure, stack, timeline_figure
from course.formulas import peak_in_flight
from course.lessons.one_line import given, need, shown
from course.real_run import NoRun, RealRun, asked, busy, missing_runs
from course.recognition import recognize
from course.schedule import Operation, Schedule
from course.schedules import SCHEDULES, gpipe, one_f_one_b
from course.simulation import Costs, as_far_as_it_goes, simulate
from course.view import View, outcome_view, paragraphs, table, together
from course.words import counted

NOT_1F1B = "a run of your order, once it is 1F1B"


@shown
def within_room(schedule: Schedule, room: int, title: str = "") -> View:
    """A schedule on stages with room for so many micro-batches each: as far as it goes, what is held, and where it stops."""
    rooms = [room] * len(schedule.ranks)
    over, timeline = first_over(simulate(schedule), rooms), as_far_as_it_goes(schedule, rooms)
    held = memory_figure(timeline.held, timeline.makespan, title=f"Micro-batches held; room for {room}", capacity=room)
    if over is None:
        said = f"It fits, and takes {counted(timeline.makespan, 'slot')}."
    else:
        said = (f"Stage {over.rank} stops at {over.operation.short}, in slot {over.time}: it holds "
                f"{counted(over.held - 1, 'micro-batch')} and has room for {room}. Only a backward makes room, and in this order "
                f"the next one comes after {over.operation.short}. The machine stands still, for ever.")
    return together(stack(timeline_figure(timeline, title=title, summary=False), held), paragraphs(said))


@shown
def practise_within_room(drawing, stages: int, micro_batches: int, room: int | Sequence[int]) -> View:
    """Look at a drawing for stages with so much room, the same on each or one number a stage. No points, no record."""
    rooms = [room] * stages if isinstance(room, int) else room
    return outcome_view("Practice", judge_within_room(LocalAnswer(drawing), "the drawing", stages, micro_batches, rooms))


@given
def in_rounds(stages: int, micro_batches: int, room: int) -> Schedule:
    """GPipe as often as needed, with at most `room` micro-batches in each round.

    >>> in_rounds(1, 3, room=2).to_csv()
    '0F0,0F1,0B0,0B1,0F2,0B2\\n'
    """
    need(stages=stages, micro_batches=micro_batches, room=room)
    rounds = [range(first, min(first + room, micro_batches)) for first in range(0, micro_batches, room)]
    return Schedule(tuple(tuple(Operation(stage, kind, index) for numbers in rounds for kind in "FB" for index in numbers)
                          for stage in range(stages)), tuple(range(stages)), micro_batches)


@shown
def side_by_side(stages: int, micro_batches: int) -> View:
    """GPipe, GPipe in rounds and 1F1B: how long the step is, how long each stage idles, what each stage holds."""
    need(stages=stages, micro_batches=micro_batches)
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
    return table(heads, rows, f"{counted(stages, 'stage')}, {counted(micro_batches, 'micro-batch')}")


@shown
def phases_of(order: Callable, lengths: Callable, stages: int, micro_batches: int) -> View:
    """A learner's own order, cut where the learner's own phase lengths say; a line where either is not right any more."""
    schedule = asked(order, stages, micro_batches)
    if isinstance(schedule, Message):
        return paragraphs(schedule.text)
    replies = ask(LocalAnswer(lengths), [(stages, micro_batches, stage) for stage in range(stages)])
    cuts = {point: three_numbers(reply) for point, reply in replies.items()}
    pair, rows = max(WAYS, key=lambda way: sum(fits(cut, *point, way) for point, cut in cuts.items())), []
    for (point, cut), row in zip(cuts.items(), schedule.ranks, strict=False):
        if not fits(cut, *point, pair):
            return paragraphs(_no_longer("phase_lengths", point, replies[point]))
        names = [operation.short for operation in row]
        if "".join(name[0] for name in names) != pattern(*point):
            return paragraphs(f"{call('one_f_one_b', point)} returns another order than that of these phases. Its check says "
                              "more.")
        warm_up, pairs = round(cut[0]), 2 * round(cut[1])
        rows.append([f"stage {point[2]}", *(" ".join(part) or "-" for part in (
            names[:warm_up], names[warm_up:warm_up + pairs], names[warm_up + pairs:]))])
    return table(["", "warm-up", "steady state", "cooldown"], rows)


def _no_longer(name, arguments, reply):
    return (f"{call(name, arguments)} now gives {show_value(reply)}: its check no longer passes. Run the check again, it says "
            "what is asked for.")


def why_it_shrinks() -> View:
    """What refutes the tempting wrong idea about the warm-up: it names the answer, so it comes after it."""
    return paragraphs("It holds for stage 0 only. The warm-up bridges the way of the first micro-batch from a stage to the last "
                      "one and back. The last stage has no way to bridge.")


def who_holds_most() -> View:
    """What refutes the tempting wrong idea about the memory of the stages: it names the answer, so it comes after it."""
    return paragraphs("That is GPipe. In 1F1B the first stage holds the most, each stage after it one micro-batch less, the last "
                      "one a single one: the sooner its backwards come, the sooner a stage has room again.")


def nothing_gained() -> View:
    """What refutes the tempting wrong idea about more stages: it names an answer, so it comes after it."""
    return paragraphs("With twice the stages, each has half the layers, but stage 0 has twice as many micro-batches in flight. "
                      "Layers times micro-batches stays what it is: all layers' worth of activations for one micro-batch, "
                      "whatever p is. Only the later stages have less.")


@shown
def same_step(one: RealRun | NoRun, other: RealRun | NoRun) -> View:
    """Two measured timelines on one axis, and what they took."""
    if missing := missing_runs((one, other)):
        return together(paragraphs("Both runs are needed for this: GPipe's and that of your order."), missing)
    scale = max(float(run.run.measured.makespan) for run in (one, other))
    figures = [timeline_figure(run.run.measured, title=f"{_title(run)}, measured", scale=scale, slot=1, summary=False)
               for run in (one, other)]
    rows = [["slots, simulated", *(run.slots for run in (one, other))],
            ["slots, measured", *(f"{float(run.run.measured.makespan):.2f}" for run in (one, other))],
            ["bubble, simulated", *(f"{float(run.bubble):.1%}" for run in (one, other))],
            ["bubble, measured", *(f"{run.bubble_measured:.1%}" for run in (one, other))],
            ["bytes of activations at most, stage 0", *(f"{run.run.peak_activation_bytes[0]:,}" for run in (one, other))]]
    return together(stack(*figures), table(["", _title(one), _title(other)], rows), *_busy(one, other))


def _busy(*runs):
    """What to say where the clocks cannot show that two steps are equally long."""
    found = busy({_title(run): run for run in runs})
    if not found and any(float(run.run.measured.makespan) > float(run.slots) + 1 for run in runs):
        return [paragraphs("A measured step is more than one slot longer than the simulated one: the processes were woken late, "
                           "because this machine has other work. Go by the simulated rows, or run both again.")]
    return found


def _title(run):
    name = recognize(run.run.schedule)
    return SCHEDULES[name].title if name else "Your order"


@shown
def bytes_beside(count: Callable, *runs: RealRun | NoRun) -> View:
    """Measured bytes beside a learner's own count, `count(schedule, p, m, stage)`, times the bytes of one micro-batch.

    A line in its place where the count is not right any more.
    """
    rows, answer = [], LocalAnswer(count)
    named = [(None if isinstance(run, NoRun) else recognize(run.run.schedule), run) for run in runs]
    for name, run in named:
        if name not in ("gpipe", "1f1b"):
            continue
        schedule = run.run.schedule
        for stage, (one, peak) in enumerate(zip(run.run.bytes_of_one, run.run.peak_activation_bytes, strict=True)):
            point = name, schedule.stages, schedule.micro_batches, stage
            mine, right = answer.call(*point), peak_in_flight(*point)
            if not (same(mine, right) or same(mine, [right])):
                return paragraphs(_no_longer("peak_in_flight", point, mine))
            rows.append([SCHEDULES[name].title, f"stage {stage}", right, f"{one:,}", f"{right * one:,}", f"{peak:,}"])
    found = table(["", "", "your peak_in_flight", "bytes of one", "count x bytes", "bytes measured at most"], rows)
    there = {name for name, _ in named}
    missing = [text for name, text in (("gpipe", "GPipe's run"), ("1f1b", NOT_1F1B)) if name not in there]
    waits = paragraphs(f"Not here yet: {' and '.join(missing)}.") if missing else None
    return together(*filter(None, (found if rows else None, waits, missing_runs(runs))))


@shown
def layers_in_flight(layers: int, micro_batches: int, stages: Sequence[int]) -> View:
    """What stage 0 of 1F1B holds, in layers' worth of one micro-batch's activations, for each number of stages."""
    rows = []
    need(layers=layers, micro_batches=micro_batches)
    for p in stages:
        need(stages=p)
        first, last = (peak_in_flight("1f1b", p, micro_batches, stage) for stage in (0, p - 1))
        rows.append([p, layers // p, first, layers // p * first, layers // p * last])
    heads = ["stages", "layers on each", "in flight on stage 0", "layers' worth held on stage 0", "on the last stage"]
    return table(heads, rows, f"1F1B, {counted(layers, 'layer')}, {counted(micro_batches, 'micro-batch')}")


@shown
def fewer_stages(few: RealRun | NoRun, many: RealRun | NoRun) -> View:
    """The activation bytes of the same model's first stage, measured on two numbers of stages."""
    if missing := missing_runs((few, many)):
        return together(paragraphs(f"Not here yet: a run of two stages and {NOT_1F1B}."), missing)
    if recognize(many.run.schedule) != "1f1b":
        return paragraphs(f"Not here yet: {NOT_1F1B}.")
    rows = [[run.run.schedule.stages, run.sizes.layers // run.run.schedule.stages,
             run.run.peak_activations_measured[0], f"{run.run.peak_activation_bytes[0]:,}"] for run in (few, many)]
    return table(["stages", "layers on each", "held at most on stage 0", "bytes measured at most, stage 0"], rows,
                 f"The same model of {counted(few.sizes.layers, 'layer')}")


@shown
def what_room_buys(stages: int, room: int, sizes: Sequence[int]) -> View:
    """For each number of micro-batches what GPipe and 1F1B need on stage 0, against the room there is, and the bubble."""
    rows = []
    for micro_batches in sizes:
        need(stages=stages, micro_batches=micro_batches, room=room)
        needs = [peak_in_flight(name, stages, micro_batches, 0) for name in ("gpipe", "1f1b")]
        bubble = float(simulate(one_f_one_b(stages, micro_batches)).bubble_fraction)
        rows.append([micro_batches, *(f"{need}: {'fits' if need <= room else 'no room'}" for need in needs), f"{bubble:.1%}"])
    heads = ["micro-batches", "GPipe holds", "1F1B holds", "bubble"]
    return table(heads, rows, f"{counted(stages, 'stage')} with room for {room}")
