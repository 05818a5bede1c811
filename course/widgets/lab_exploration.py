"""What the open lab shows of one setting: the schedule in time with its waits, its name, its numbers and its place."""

from collections import Counter
from dataclasses import dataclass, replace
from operator import itemgetter

from course.figures.figure import Figure, stack
from course.figures.memory import memory_figure
from course.figures.plot import Floor, Point, plot_figure
from course.figures.stuck import stuck_figure
from course.figures.timeline import timeline_figure
from course.figures.words import held_word, share
from course.lab import floor_of, known_places, placed, stage_costs, timed
from course.schedules import SCHEDULES
from course.waiting import REASONS, waits
from course.widgets.lab_setting import LabSetting, LabSubject
from course.widgets.still import Still, html_table, still_form
from course.words import counted, number

MOST_FAULTS = 4
MOST_ROWS = 16  # ranks in the table of waits
REASON_NAMES = {"input": "an input is not done", "message": "a message is on its way", "choice": "nothing stops it",
                "drain": "drain: nothing left"}
HELD, STEP = "most held on a rank, micro-batches of a whole rank", "step, slots"


@dataclass(frozen=True)
class LabExploration:
    """One setting worked out: pictures, tables as HTML and as lines, remarks, a summary to be read out."""

    figure: Figure
    numbers: str
    lines: tuple[str, ...]
    remarks: tuple[str, ...]
    summary: str


def explored_lab(setting: LabSetting, subject: LabSubject) -> LabExploration:
    """Simulate, name, explain and place a schedule; of an illegal one show how far it goes, and why no further."""
    if subject.faults:
        said = {fault.message for fault in subject.faults}
        remarks = (*_first(subject.faults), *_first([fault for fault in subject.drawn_faults if fault.message not in said]))
        figures = [*_as_drawn(subject, setting), stuck_figure(subject.schedule, "In its order, as far as it goes")]
        figures.append(_plot(subject, setting, floor_of(subject.schedule, setting.costs)))
        return LabExploration(stack(*figures), "", (), remarks, f"{subject.sizes}: {remarks[0]}")
    timeline = timed(subject.schedule, setting.costs)
    found, floor = waits(timeline, stage_costs(subject.schedule, setting.costs)), floor_of(subject.schedule, setting.costs)
    drawn = subject.drawing.makespan if subject.drawing else 0
    figures = [*_as_drawn(subject, setting, timeline.makespan),
               timeline_figure(timeline, f"{subject.name}, each operation as early as it can: {_times(setting, subject)}",
                               scale=drawn, summary=False, grid=setting.grid, waits=found)]
    figures += [_memory(timeline, drawn)] * setting.memory + [_plot(subject, setting, floor, timeline)]
    tables = [_numbers(timeline, subject, floor), _idle(timeline, found)]
    numbers = f"<div class='lex-tables'>{''.join(html_table(*table) for table in tables)}</div>"
    own = placed(timeline)
    return LabExploration(stack(*figures), numbers, tuple(line for table in tables for line in _lines(*table)),
                          (_named(subject), *_first(subject.drawn_faults)),
                          f"{subject.name}: {number(own.step)} slots; at most {counted(own.peak, 'micro-batch')} held on a rank; "
                          f"bubble {share(timeline.bubble_fraction)}")


def _named(subject):
    """What it is, in a sentence."""
    if subject.known:
        return f"Recognised: this is {subject.known}, with {subject.sizes}."
    return f"None of the known schedules: an order of your own, with {subject.sizes}."


def _first(faults):
    """What is wrong: the first of each kind, then more of them, so many that they can be read."""
    seen, rounds = Counter(), []
    for fault in faults:
        rounds.append(seen[fault.code])
        seen[fault.code] += 1
    faults = [fault for _, fault in sorted(zip(rounds, faults, strict=True), key=itemgetter(0))]
    said = [f"{fault.message[0].upper()}{fault.message[1:]}." for fault in faults[:MOST_FAULTS]]
    return said + [f"And {counted(len(faults) - MOST_FAULTS, 'more fault')}."] * (len(faults) > MOST_FAULTS)


def _times(setting, subject):
    """The setting in a line."""
    parts = [f"F {number(setting.forward)}"]
    if subject.schedule.split:
        parts += [f"I {number(setting.input_grad)}", f"W {number(setting.weight_grad)}"]
    else:
        parts.append(f"B = I + W = {number(setting.input_grad + setting.weight_grad)}")
    chunks = subject.schedule.chunks
    parts += [f"a chunk 1/{chunks} of it"] * (chunks > 1) + [f"latency {number(setting.latency)}"] * (setting.latency > 0)
    return ", ".join(parts)


def _as_drawn(subject, setting, scale=0):
    if subject.drawing is None:
        return []
    how, cell = ("was measured", 1) if subject.measured else ("is drawn", None)
    costs = stage_costs(subject.schedule, setting.costs)
    return [timeline_figure(subject.drawing, f"As it {how}", marks=subject.drawn_faults, scale=scale, slot=cell, summary=False,
                            grid=setting.grid, waits=waits(subject.drawing, costs))]


def _memory(timeline, scale):
    held, place = held_word(timeline.schedule), timeline.schedule.row_word
    return memory_figure(timeline.held, timeline.makespan, f"{held} held", held, scale=scale, place=place)


def _plot(subject, setting, floor, timeline=None):
    """Its place beside the known schedules of this size, and the floor of its placement."""
    schedule = subject.schedule
    known = known_places(len(schedule.ranks), schedule.micro_batches, setting.costs)
    points = [Point(found.title, found.peak, found.step, list(SCHEDULES).index(found.name)) for found in known]
    if timeline:
        own = placed(timeline)
        points.append(Point(own.title, own.peak, own.step, own=True))
    if subject.measured:
        ran = placed(subject.drawing)
        points.append(Point("measured", ran.peak, ran.step, own=True))
    stair = Floor(tuple((held, step) for step, held in reversed(floor)),
                  f"proven floor of this placement{', backwards whole' * (not schedule.split)}")
    return plot_figure(points, HELD, STEP, f"Step time against memory: {subject.sizes}", stair)


def _numbers(timeline, subject, floor):
    """Heads and rows of the numbers, beside what is proven."""
    own = placed(timeline)
    least = next(held for step, held in reversed(floor) if step <= own.step)
    shortest = floor[0][0]
    over = "no shorter one is possible" if own.step == shortest else f"{number(own.step - shortest)} above it"
    rows = [("step", f"{number(own.step)} slots", f"{number(shortest)} slots: {over}"),
            ("most held on a rank", counted(own.peak, "micro-batch"), f"{number(least)} in a step of this length"),
            ("bubble, idle over total", share(timeline.bubble_fraction), "")]
    return ("", subject.known or "yours", "proven floor of this placement"), rows


def _idle(timeline, found):
    """Heads and rows of the idle slots, by rank and by reason."""
    ranks = len(timeline.schedule.ranks)
    idle = {(rank, reason): 0 for rank in range(ranks) for reason in REASONS}
    for wait in found:
        idle[wait.rank, wait.reason] += wait.end - wait.start
    shown = [reason for reason in REASONS if any(idle[rank, reason] for rank in range(ranks))]
    rows = [(timeline.schedule.place(rank), *(number(idle[rank, reason]) for reason in shown)) for rank in range(ranks)]
    if ranks > MOST_ROWS:
        rows = [("all ranks", *(number(sum(idle[rank, reason] for rank in range(ranks))) for reason in shown))]
    return ("idle slots, because", *(REASON_NAMES[reason] for reason in shown)), rows if shown else []


def _lines(heads, rows):
    return [f"{name}: {'; '.join(f'{head}: {value}' for head, value in zip(heads[1:], values, strict=True) if value)}"
            for name, *values in rows]


def still_lab(setting: LabSetting, subject: LabSubject) -> Still:
    """What stands where there is no kernel."""
    found = explored_lab(replace(setting, grid=True), subject)
    return still_form(found.figure, found.numbers, list(found.lines), found.remarks)
