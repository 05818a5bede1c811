"""What the Explorer shows of one setting: the timeline, the memory under it, its numbers beside the closed forms."""

from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real

from course import formulas
from course.figures.figure import Figure, stack
from course.figures.memory import memory_figure
from course.figures.timeline import timeline_figure
from course.figures.words import held_word, share
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate
from course.timeline import Timeline
from course.widgets.still import Still, html_table, still_form
from course.widgets.values import along, whole
from course.words import counted, number

LIMITS = {"ranks": (1, 16), "micro_batches": (1, 64), "chunks": (1, 4), "backward": (0.5, 4.0)}
STEP = Fraction(1, 2)  # of backward
MOST_LISTED = 8
LESSONS = ("gpipe", "1f1b", "interleaved_1f1b")  # to choose from where no others are named
CLOSED = frozenset(LESSONS)  # those with closed forms
NONE_KNOWN = "no closed form known here"


@dataclass(frozen=True)
class Setting:
    """Where the sliders stand: a backward takes `backward` forwards; `memory` and `grid` say what is shown below."""

    schedule: str
    ranks: int
    micro_batches: int
    chunks: int
    backward: Fraction
    memory: bool = False
    grid: bool = False


@dataclass(frozen=True)
class Scope:
    """What an Explorer offers: the schedules to choose from, and whether the closed forms stand beside what is simulated."""

    schedules: tuple[str, ...] = LESSONS
    formulas: bool = True

    @property
    def chunked(self) -> bool:
        """Whether any of them cuts a rank into chunks; where none does, a rank is a stage."""
        return any(SCHEDULES[name].chunked for name in self.schedules)

    @property
    def place(self) -> str:
        """What a row of the picture is."""
        return "rank" if self.chunked else "stage"

    def sliders(self) -> list[list]:
        """Key, words, least, most and values of each slider; chunks only where they change something."""
        words = {"ranks": f"{self.place}s p", "micro_batches": "micro-batches m", "chunks": "chunks a rank v"}
        least, most = LIMITS["backward"]
        ratios = [least + step * float(STEP) for step in range(int((most - least) / STEP) + 1)]
        return [*([key, words[key], *LIMITS[key], []] for key in words if key != "chunks" or self.chunked),
                along("backward", "backward : forward", ratios, "{:g} : 1")]


EVERYTHING = Scope()


@dataclass(frozen=True)
class Exploration:
    """One setting worked out: the picture (None where the schedule refuses the sizes), rows of numbers, remarks, a summary."""

    figure: Figure | None
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]
    summary: str


def read_setting(schedule, ranks, micro_batches, chunks, backward, memory=False, grid=False) -> Setting:
    """A setting of sound values. ValueError names the value that is none, and what would do."""
    if not isinstance(schedule, str) or schedule not in SCHEDULES:
        raise ValueError(f"schedule = {schedule!r} is not known: take one of {', '.join(SCHEDULES)}")
    sizes = (whole(name, value, *LIMITS[name])
             for name, value in (("ranks", ranks), ("micro_batches", micro_batches), ("chunks", chunks)))
    return Setting(schedule, *sizes, _ratio(backward), bool(memory), bool(grid))


def _ratio(value):
    least, most = LIMITS["backward"]
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= value <= most or value % STEP:
        raise ValueError(f"backward = {value!r}: a backward takes {least:g} to {most:g} forwards here, in steps of {STEP}")
    return Fraction(float(value))


def read_names(schedule: str, names) -> tuple[str, ...]:
    """The schedules to choose from, the first one shown among them. ValueError for a name that is none."""
    listed = (names,) if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not listed:
        raise ValueError(f"schedules = {names!r}: name one or more of {', '.join(SCHEDULES)}")
    for name in listed:
        if not isinstance(name, str) or name not in SCHEDULES:
            raise ValueError(f"schedules: {name!r} is not known: name one or more of {', '.join(SCHEDULES)}")
    return tuple(dict.fromkeys(listed if schedule in listed else (schedule, *listed)))


def explored(setting: Setting, scope: Scope = EVERYTHING) -> Exploration:
    """Simulate and draw a setting. What the schedule refuses is said in a sentence, with the way out."""
    entry = SCHEDULES[setting.schedule]
    chunks = chunks_of(setting, setting.schedule)
    idle, fixed = scope.chunked and setting.chunks != chunks, "one stage" if chunks == 1 else f"{chunks} stages"
    remarks = [f"{entry.title} has {fixed} a rank, so the slider of chunks does nothing here."] * idle
    try:
        schedule = entry.make(setting.ranks, setting.micro_batches, chunks)
    except ValueError as error:
        return Exploration(None, (), (*remarks, f"No {entry.title} of this size. {error}."), f"{entry.title}: {error}")
    whole = setting.backward.denominator == 1  # int is many times faster than Fraction
    timeline = simulate(schedule, Costs(forward=1, backward=int(setting.backward) if whole else setting.backward))
    rows, said = numbers(timeline, setting, chunks, scope), title(setting, chunks, scope)
    return Exploration(_figure(timeline, said, setting, scope), rows, tuple(remarks),
                       f"{said}: " + "; ".join(f"{name} {simulated}" for name, simulated, *_ in rows))


def chunks_of(setting: Setting, name: str) -> int:
    """The chunks of a rank in this schedule: where it has a fixed number, the slider does nothing."""
    return SCHEDULES[name].chunks or setting.chunks


def title(setting: Setting, chunks: int, scope: Scope) -> str:
    """The setting in a line."""
    parts = [counted(setting.ranks, scope.place), counted(setting.micro_batches, "micro-batch")]
    parts += [f"{chunks} chunks a rank"] * (chunks > 1)
    parts += [f"backward {float(setting.backward):g} slots"] * (setting.backward != 1)
    return f"{SCHEDULES[setting.schedule].title}, {', '.join(parts)}"


def _figure(timeline, said, setting, scope):
    drawn = timeline_figure(timeline, said, summary=False, grid=setting.grid)
    if not setting.memory:
        return drawn
    held, place = held_word(timeline.schedule), timeline.schedule.row_word
    full = most_held(setting, scope) * timeline.schedule.chunks
    words = f"{held} held; full height is {number(full)}, the most in any schedule here"
    return stack(drawn, memory_figure(timeline.held, timeline.makespan, words, held, place=place, full=full))


def most_held(setting: Setting, scope: Scope) -> Fraction:
    """The most that any rank holds at these sizes in any schedule offered, in micro-batches of a whole rank."""
    found = []
    for name in scope.schedules:
        chunks = chunks_of(setting, name)
        if name in CLOSED:
            found += [Fraction(peak, chunks) for peak in _closed_peaks(replace(setting, schedule=name), chunks)]
            continue
        try:
            schedule = SCHEDULES[name].make(setting.ranks, setting.micro_batches, chunks)
        except ValueError:  # nothing to compare with
            continue
        found += [Fraction(peak, chunks) for peak in simulate(schedule).peak_activations]
    return max(found)




def numbers(timeline: Timeline, setting: Setting, chunks: int, scope: Scope) -> tuple[tuple[str, ...], ...]:
    """Rows (what, simulated, closed form) for the step, the bubble, the peaks; without closed forms (what, simulated)."""
    steps, peaks = f"{number(timeline.makespan)} slots", _list(timeline.peak_activations)
    if chunks > 1:
        steps += f", each a chunk's forward: as long as {number(Fraction(timeline.makespan) / chunks)} forwards of a whole rank"
        peaks += f" = {_short(Fraction(peak, chunks) for peak in timeline.peak_activations)} micro-batches of a whole rank"
    held, place = held_word(timeline.schedule), timeline.schedule.row_word
    names = "step", "bubble, idle over total", f"most {held} held, per {place}"
    columns = [(steps, share(timeline.bubble_fraction), peaks)]
    if scope.formulas:
        columns.append(closed_forms(setting, chunks) if setting.schedule in CLOSED else (NONE_KNOWN,) * 3)
    return tuple(zip(names, *columns, strict=True))


def _closed_peaks(setting, chunks):
    p, m = setting.ranks, setting.micro_batches
    if chunks > 1:
        return [formulas.peak_chunks(p, m, chunks, rank) for rank in range(p)]
    name = "gpipe" if setting.schedule == "gpipe" else "1f1b"  # with one chunk, interleaved is 1F1B
    return [formulas.peak_in_flight(name, p, m, stage) for stage in range(p)]


def closed_forms(setting: Setting, chunks: int) -> tuple[str, str, str]:
    """The formulas of step, bubble and peaks, each with its value, of a schedule in CLOSED."""
    p, m, vm = setting.ranks, setting.micro_batches, "v m" if chunks > 1 else "m"
    form = "m" if setting.schedule == "gpipe" else "min(m, p - stage)"
    if chunks > 1:
        form = "min(v m, 2(p - 1 - rank) + (v - 1) p + 1)"
    return (f"({vm} + p - 1)(F + B) = {number(formulas.total_slots(p, m, 1, setting.backward, chunks))} slots",
            f"(p - 1)/({vm} + p - 1) = {share(formulas.bubble_fraction(p, m, chunks))}",
            f"{form} = {_list(_closed_peaks(setting, chunks))}")


def _list(values):
    return " ".join(map(number, values))


def _short(values):
    """The list, or its ends where it is long."""
    values = list(values)
    return _list(values) if len(values) <= MOST_LISTED else f"{number(max(values))} to {number(min(values))}"


def numbers_html(rows) -> str:
    """The rows as a table."""
    return html_table(("", "simulated", "closed form")[:max(map(len, rows), default=3)], rows)


def still(setting: Setting, scope: Scope = EVERYTHING) -> Still:
    """What stands where there is no kernel."""
    found = explored(replace(setting, grid=True), scope)
    lines = ["; closed form: ".join((f"{name}: {simulated}", *closed)) for name, simulated, *closed in found.rows]
    return still_form(found.figure, numbers_html(found.rows), lines, found.remarks)
