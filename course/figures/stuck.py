"""A schedule that does not come to its end, as far as it goes: where each rank stands, and the rank that it waits for."""

from html import escape
from textwrap import wrap

from course.figures.boxes import sign
from course.figures.figure import Figure
from course.figures.layout import BAR, RIGHT, WIDTH, Layout
from course.figures.looks import FAULT
from course.figures.svg import box, document, path, text
from course.figures.timeline import LINE, plot
from course.figures.words import fault_lines, grid
from course.legality import Standing, cycles, in_words, rings, violations
from course.schedule import Schedule
from course.simulation import as_far_as_it_goes, standing
from course.waiting import DRAIN, Wait, waits
from course.words import counted

LEAST_SLOTS = 8  # a row of fewer slots has no wider boxes
LETTER, GAP, ARROWS, UP = 7.2, 10, 96, 18  # a letter of a label, before the hollow boxes, behind them, and what goes up
OUT, IN = 0.68 * BAR, 0.32 * BAR  # where arrows leave a row and reach one
MOST_LISTED, MOST_SAID = 8, 100  # lines about ranks in the picture, in the text form
WIDEST = 120  # letters of a line in the picture
HOLLOW = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.4, "stroke_dasharray": "4 2"}
HEAVY_HOLLOW = {"fill": "none", "stroke": FAULT, "stroke_width": 3}
ARROW = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.2}
HEAVY_ARROW = {"fill": "none", "stroke": FAULT, "stroke_width": 3}
KEY = "Hollow: the operation at which a rank stands. Arrow: to the rank that it waits for."
HEAVY_KEY = " Heavy: they wait in a circle."


def stuck_figure(schedule: Schedule, title: str = "") -> Figure:
    """Draw a schedule, legal or not, as far as it goes, in slots of one operation, with its faults marked.

    A rank that stands has a hollow box with the operation at which it stands, and an arrow to the rank that it waits for;
    where they wait in a circle, boxes and arrows are heavy. The text form says the same.
    """
    gone, faults = as_far_as_it_goes(schedule), violations(schedule)
    stands = {stand.rank: stand for stand in standing(schedule, gone)}
    heavy = {rank for ring in rings({rank: stand.on for rank, stand in stands.items()}) for rank in ring}
    lengths = [len(rank) for rank in gone.schedule.ranks]
    inside, outside = [], []
    for fault in faults:
        (outside if fault.position is None or fault.position >= lengths[fault.rank] else inside).append(fault)
    idle = [wait for wait in waits(gone) if not (wait.reason == DRAIN and wait.rank in stands)]
    idle += [_for_ever(gone, stand, schedule) for stand in stands.values() if _free(gone, stand.rank) < gone.makespan]
    wide = LETTER * max((len(schedule.label_on(stand.rank, stand.operation)) for stand in stands.values()), default=0) + 12
    right = RIGHT + (GAP + wide + ARROWS if stands else 0)
    layout, _, body = plot(gone, title, inside, "slot", max(gone.makespan, LEAST_SLOTS), idle, right, until=gone.makespan)
    edge = layout.x(gone.makespan) + GAP
    body += [*_arrows(stands, heavy, layout, edge, wide), *_hollows(schedule, stands, heavy, layout, edge, wide)]
    at_hollow = {fault.rank for fault in faults if fault.position == lengths[fault.rank] and fault.rank in stands}
    body.append(f'<g text-anchor="middle">{"".join(sign(edge, layout.y(rank)) for rank in sorted(at_hollow))}</g>')
    total = f"{counted(len(gone.spans), 'operation')} of {sum(map(len, schedule.ranks))} can run, until slot {gone.makespan}"
    key = [KEY + HEAVY_KEY * bool(heavy)] if stands else []
    deadlocks, told = _deadlocks(schedule, stands)
    ends = [_said(schedule, stand) for stand in sorted(stands.values(), key=lambda stand: stand.rank not in heavy)]
    bold = [*deadlocks[:MOST_LISTED], *fault_lines(_others(outside, told), MOST_LISTED)]
    plain = [*_first(ends, MOST_LISTED), *key, total]
    notes = [(part, weight) for lines, weight in ((bold, "bold"), (plain, "normal"))
             for line in lines for part in wrap(line, WIDEST)]
    body += [text(8, layout.bottom + 40 + LINE * line, words, font_weight=weight) for line, (words, weight) in enumerate(notes)]
    lines = [*[title] * bool(title), grid(gone, 1), *deadlocks, *fault_lines(_others(faults, told)),
             *_first(ends, MOST_SAID), total]
    said, label = "\n".join(lines), title or "As far as it goes"
    return Figure(document(WIDTH, layout.bottom + 28 + LINE * len(notes), "".join(body), label, said), said)


def _deadlocks(schedule, stands):
    """A line for each circle in the picture, and the rank at which `violations` finds it."""
    circles = [cycle for cycle in cycles(schedule) if all(stands.get(stand.rank) == stand for stand in cycle)]
    lines = [f"! deadlock: {', '.join(schedule.place(stand.rank) for stand in cycle)}, each waits for the next, for ever"
             for cycle in circles]
    return lines, {cycle[0].rank for cycle in circles}


def _others(faults, told):
    """The faults without the deadlocks that are told already."""
    return [fault for fault in faults if fault.code != "deadlock" or fault.rank not in told]


def _free(gone, rank):
    return max(gone.ends[rank], default=0)


def _for_ever(gone, stand, schedule):
    return Wait(stand.rank, _free(gone, stand.rank), gone.makespan, "input", stand.operation, stand.needed,
                f"{_said(schedule, stand)}, for ever")


def _said(schedule, stand: Standing):
    there = any(stand.needed in rank for rank in schedule.ranks)
    return in_words(schedule, stand) + (", which is nowhere" if not there else "")


def _first(lines, most):
    return lines[:most] + [f"and {counted(len(lines) - most, 'more rank')} that cannot go on"] * (len(lines) > most)


def _hollows(schedule, stands, heavy, layout: Layout, edge, wide):
    for rank, stand in stands.items():
        y = layout.y(rank)
        yield path(box(edge, y, wide, BAR), **(HEAVY_HOLLOW if rank in heavy else HOLLOW))
        yield text(edge + wide / 2, y + 17, schedule.label_on(rank, stand.operation), text_anchor="middle")
        yield (f'<path d="{box(edge, y, wide, BAR)}" fill="none" pointer-events="all">'
               f"<title>{escape(_said(schedule, stand))}</title></path>")


def _arrows(stands, heavy, layout: Layout, edge, wide):
    farthest = max((abs(stand.on - rank) for rank, stand in stands.items()), default=0) or 1
    for rank, stand in stands.items():
        # one that goes up passes around one that goes down
        bulge = 18 + (ARROWS - 18) * abs(stand.on - rank) / farthest + UP * (stand.on < rank)
        begin, end = edge + wide, (edge + wide if stand.on in stands else edge - 4) + 7
        leaves, reaches = layout.y(rank) + OUT, layout.y(stand.on) + IN
        look = HEAVY_ARROW if rank in heavy else ARROW
        yield path(f"M{begin:.1f} {leaves:.1f}C{begin + bulge:.1f} {leaves:.1f} "
                   f"{end + bulge:.1f} {reaches:.1f} {end:.1f} {reaches:.1f}", **look)
        half = 2 * look["stroke_width"] + 1
        yield path(f"M{end - 6:.1f} {reaches:.1f}l{half + 2:.1f} {-half:.1f}v{2 * half:.1f}z", fill=look["stroke"])
