"""A schedule that does not come to its end, as far as it goes: where each rank stands, and the rank that it waits for."""

from dataclasses import dataclass
from html import escape
from textwrap import wrap

from course.figures.boxes import sign
from course.figures.figure import Figure
from course.figures.layout import BAR, RIGHT
from course.figures.looks import FAULT
from course.figures.svg import box, path, text
from course.figures.timeline import finished, plot
from course.figures.words import fault_lines, grid
from course.legality import Standing, Violation, cycles, in_words, rings, violations
from course.schedule import Schedule
from course.simulation import as_far_as_it_goes, standing
from course.timeline import Timeline
from course.waiting import DRAIN, INPUT, Wait, waits
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


@dataclass(frozen=True)
class _Stop:
    """Where a schedule stops: what ran, who stands and what to say of it, who waits in a circle, the faults."""

    schedule: Schedule
    gone: Timeline
    stands: dict[int, Standing]
    sentences: dict[int, str]
    heavy: set[int]
    faults: list[Violation]

    def passed(self, fault: Violation) -> bool:
        """Whether a fault lies in what ran."""
        return fault.position is not None and fault.position < len(self.gone.schedule.ranks[fault.rank])

    def stands_at(self, fault: Violation) -> bool:
        """Whether its rank stands at it."""
        return fault.rank in self.stands and fault.position == len(self.gone.schedule.ranks[fault.rank])


def _stop(schedule):
    gone = as_far_as_it_goes(schedule)
    stands = {stand.rank: stand for stand in standing(schedule, gone)}
    there = {operation for rank in schedule.ranks for operation in rank} if stands else ()
    sentences = {rank: in_words(schedule, stand) + ("" if stand.needed in there else ", which is nowhere")
                 for rank, stand in stands.items()}
    heavy = {rank for ring in rings({rank: stand.on for rank, stand in stands.items()}) for rank in ring}
    return _Stop(schedule, gone, stands, sentences, heavy, violations(schedule))


def stuck_figure(schedule: Schedule, title: str = "") -> Figure:
    """Draw a schedule, legal or not, as far as it goes, in slots of one operation, with its faults marked.

    A rank that stands has a hollow box with the operation at which it stands, and an arrow to the rank that it waits for;
    where they wait in a circle, boxes and arrows are heavy. The text form says the same.
    """
    stop = _stop(schedule)
    gone, until = stop.gone, stop.gone.makespan
    wide = LETTER * max((len(schedule.label_on(stand.rank, stand.operation)) for stand in stop.stands.values()), default=0) + 12
    right = RIGHT + (GAP + wide + ARROWS if stop.stands else 0)
    marks = [fault for fault in stop.faults if stop.passed(fault)]
    layout, _, body = plot(gone, title, marks, "slot", max(until, LEAST_SLOTS), _idle(stop), right, until)
    edge = layout.x(until) + GAP
    body += [*_arrows(stop, layout, edge, wide), *_hollows(stop, layout, edge, wide)]
    signs = (sign(edge, layout.y(rank)) for rank in sorted({fault.rank for fault in stop.faults if stop.stands_at(fault)}))
    body.append(f'<g text-anchor="middle">{"".join(signs)}</g>')
    notes, said = _words(stop, title)
    return finished(layout, body, notes, title or "As far as it goes", said)


def _idle(stop):
    """Why the ranks are idle: who stands has something left, so that it is no drain."""
    found = [wait for wait in waits(stop.gone) if not (wait.reason == DRAIN and wait.rank in stop.stands)]
    until = stop.gone.makespan
    for rank, stand in stop.stands.items():
        free = max(stop.gone.ends[rank], default=0)
        if free < until:
            found.append(Wait(rank, free, until, INPUT, stand.operation, stand.needed, f"{stop.sentences[rank]}, for ever"))
    return found


def _words(stop, title):
    """The notes under the picture, each with its weight, and the text form."""
    schedule, gone = stop.schedule, stop.gone
    circles = [cycle for cycle in cycles(schedule) if all(stop.stands.get(stand.rank) == stand for stand in cycle)]
    told = {cycle[0].rank for cycle in circles}
    deadlocks = [f"! deadlock: {', '.join(schedule.place(stand.rank) for stand in cycle)}, each waits for the next, for ever"
                 for cycle in circles]
    faults = [fault for fault in stop.faults if fault.code != "deadlock" or fault.rank not in told]
    ends = [stop.sentences[rank] for rank in sorted(stop.stands, key=lambda rank: rank not in stop.heavy)]
    total = f"{counted(len(gone.spans), 'operation')} of {sum(map(len, schedule.ranks))} can run, until slot {gone.makespan}"
    key = [KEY + HEAVY_KEY * bool(stop.heavy)] if stop.stands else []
    bold = [*deadlocks[:MOST_LISTED], *fault_lines([fault for fault in faults if not stop.passed(fault)], MOST_LISTED)]
    plain = [*_first(ends, MOST_LISTED), *key, total]
    notes = [(part, weight) for lines, weight in ((bold, "bold"), (plain, "normal"))
             for line in lines for part in wrap(line, WIDEST)]
    said = [*[title] * bool(title), grid(gone, 1), *deadlocks, *fault_lines(faults), *_first(ends, MOST_SAID), total]
    return notes, "\n".join(said)


def _first(lines, most):
    return lines[:most] + [f"and {counted(len(lines) - most, 'more rank')} that cannot go on"] * (len(lines) > most)


def _hollows(stop, layout, edge, wide):
    for rank, stand in stop.stands.items():
        y = layout.y(rank)
        yield path(box(edge, y, wide, BAR), **(HEAVY_HOLLOW if rank in stop.heavy else HOLLOW))
        yield text(edge + wide / 2, y + 17, stop.schedule.label_on(rank, stand.operation), text_anchor="middle")
        yield (f'<path d="{box(edge, y, wide, BAR)}" fill="none" pointer-events="all">'
               f"<title>{escape(stop.sentences[rank])}</title></path>")


def _arrows(stop, layout, edge, wide):
    farthest = max((abs(stand.on - rank) for rank, stand in stop.stands.items()), default=0) or 1
    for rank, stand in stop.stands.items():
        # one that goes up passes around one that goes down
        bulge = 18 + (ARROWS - 18) * abs(stand.on - rank) / farthest + UP * (stand.on < rank)
        begin, end = edge + wide, (edge + wide if stand.on in stop.stands else edge - 4) + 7
        leaves, reaches = layout.y(rank) + OUT, layout.y(stand.on) + IN
        look = HEAVY_ARROW if rank in stop.heavy else ARROW
        yield path(f"M{begin:.1f} {leaves:.1f}C{begin + bulge:.1f} {leaves:.1f} "
                   f"{end + bulge:.1f} {reaches:.1f} {end:.1f} {reaches:.1f}", **look)
        half = 2 * look["stroke_width"] + 1
        yield path(f"M{end - 6:.1f} {reaches:.1f}l{half + 2:.1f} {-half:.1f}v{2 * half:.1f}z", fill=look["stroke"])
