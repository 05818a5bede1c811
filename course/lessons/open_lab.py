"""Notebook 7: a schedule of one's own read, run, and taken along as files and as a line of text."""

import re
from pathlib import Path

from course.floors import floor_curve
from course.frontier import frontier
from course.lab import known_places, share_of_stage, stage_costs, timed
from course.legality import violations
from course.lessons.one_line import need, shown
from course.progress import is_grading, write_atomically
from course.reading import read_schedule as read
from course.real_run import GRADED, NoRun, RealRun, no_run, run_subject
from course.schedule import Schedule
from course.schedules import SCHEDULES
from course.sharing import to_line
from course.simulation import Costs
from course.timeline import Timeline
from course.view import View, paragraphs, table, together
from course.widgets.lab_setting import lab_subject
from course.words import number

SLOT = 1000  # microseconds of a slot in the trace of what was not measured
MOST_SEARCHED = 32  # ranks x micro-batches: about a second
LONGEST_SHOWN = 2000  # letters of a line to share that are shown; all of it is in its file
_NAME = re.compile(r"[\w-]{1,60}")


@shown
def read_schedule(subject, ranks: int | None = None, micro_batches: int | None = None,
                  chunks: int | None = None) -> Schedule | Timeline | NoRun:
    """The schedule in a drawing, orders, a CSV text or file, a line to share, or a function; a sentence where there is none."""
    return read(subject, ranks, micro_batches, chunks)


def run_for_real(subject, ranks: int | None = None, micro_batches: int | None = None, chunks: int | None = None,
                 **options) -> RealRun | NoRun:
    """Train a small transformer by whatever read_schedule reads, one process a rank; why not, where it cannot run.

    Of a drawing whose times cannot be, its orders are run, each operation as early as it can; `options` are `course.pipeline`'s.
    Where they name no times, parts of backwards and chunks take what the open lab begins with.
    """
    if isinstance(subject, NoRun):
        return subject
    if is_grading():
        return no_run(GRADED)
    try:
        found = subject.run.schedule if isinstance(subject, RealRun) else read(subject, ranks, micro_batches, chunks)
    except ValueError as error:
        return no_run(f"Nothing to run yet: {error}.")
    if isinstance(found, Timeline) and violations(found):
        found = found.schedule
    looked_at = lab_subject(found)
    schedule = looked_at.schedule
    if not {"forward", "backward", "costs"} & set(options) and (schedule.split or share_of_stage(schedule) < 1):
        options["costs"] = stage_costs(schedule, looked_at.setting().costs)
    return run_subject(found, **options)


@shown
def export(subject, name: str = "my_schedule", costs: Costs | None = None, ranks: int | None = None,
           micro_batches: int | None = None, chunks: int | None = None) -> View:
    """Write a schedule as PyTorch's CSV and its timeline as a Chrome trace beside the notebook; show it as a line to share.

    `subject` is whatever read_schedule reads, or a run: then the trace is what was measured. Else it is what was drawn, or the
    simulation; `costs` are those of a whole rank.
    """
    if isinstance(subject, NoRun):
        return subject
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"name = {name!r}: letters, digits, - and _ are needed, such as \"my_schedule\"; the endings are added")
    if is_grading():
        return paragraphs("Nothing is written while the notebook is graded or validated.")
    schedule, timeline, unit, what = _timeline(subject, costs, (ranks, micro_batches, chunks))
    csv, trace, line = Path(f"{name}.csv"), Path(f"{name}.trace.json"), to_line(schedule)
    faults = violations(schedule)
    runs = f"python -m course run {csv} --engine torch; " * (not faults)
    rows = [[csv, "the orders, as PyTorch writes them", f"{runs}read_schedule(\"{csv}\")"]]
    files = {csv: schedule.to_csv()}
    if timeline:
        files[trace] = timeline.to_chrome_trace(unit)
        rows.append([trace, f"{what}, as a Chrome trace", "drop it on https://ui.perfetto.dev or chrome://tracing"])
    if strange := next((path for path in files if path.exists() and not _exported(path)), None):
        raise ValueError(f"{strange} is there already, and is none that `export` wrote: it stays; take another name")
    try:
        for path, text in files.items():
            write_atomically(path, text)
    except OSError as error:
        return paragraphs(f"{path} could not be written ({error.strerror}): make room, or ask for a folder you may write to. Its "
                          "line to share:", f"`{line[:LONGEST_SHOWN]}`")
    notes = [f"{'It cannot be run as it is' if timeline else 'No trace'}: {faults[0].message}."] if faults else []
    cut = [f"(the first {LONGEST_SHOWN} of its {len(line)} letters; the CSV has it all)"] * (len(line) > LONGEST_SHOWN)
    return together(table(["file", "what", "what for"], rows, "Written beside this notebook"),
                    paragraphs(*notes, "As one line to share, which `read_schedule` and `open_lab` take too:",
                               f"`{line[:LONGEST_SHOWN]}`", *cut))


def _exported(path):
    """Whether a file is what `export` writes, which the next one may take the place of."""
    try:
        text = path.read_text(encoding="utf-8")
        return '"traceEvents"' in text if path.suffix == ".json" else any(Schedule.from_csv(text).ranks)
    except (OSError, ValueError):
        return False


def _timeline(subject, costs, sizes):
    """The schedule, its timeline (None where it comes to no end), microseconds of its unit, what the timeline is."""
    if isinstance(subject, RealRun):
        return subject.run.schedule, subject.run.measured, subject.run.slot_seconds * 1e6, "the measured timeline"
    found = lab_subject(read(subject, *sizes))
    if found.drawing and costs is None:
        return found.schedule, found.drawing, SLOT, "the drawing"
    if found.faults:
        return found.schedule, None, SLOT, ""
    return found.schedule, timed(found.schedule, costs or found.setting().costs), SLOT, "the simulated timeline"


@shown
def reachable(ranks: int, micro_batches: int, costs: Costs | None = None) -> View:
    """The shortest step for each memory, with whole backwards and one stage a rank: the floor, and what a search finds."""
    need(ranks=ranks, micro_batches=micro_batches)
    if ranks * micro_batches > MOST_SEARCHED:
        raise ValueError(f"{ranks} ranks x {micro_batches} micro-batches: at most {MOST_SEARCHED} in all are searched here; take "
                         "smaller ones, such as 4 x 8")
    homes = tuple(range(ranks))
    known = [place for place in known_places(ranks, micro_batches, costs or Costs())
             if not SCHEDULES[place.name].chunked and not SCHEDULES[place.name].make(ranks, micro_batches, 1).split]
    found, floor = frontier(homes, micro_batches, costs), floor_curve(homes, micro_batches, costs)
    rows = []
    for corner in reversed(found):
        least = min(step for step, held in floor if held <= corner.memory)
        same = [place.title for place in known if (place.step, place.peak) == (corner.step, corner.memory)]
        rows.append([number(corner.memory), number(least), number(corner.step), ", ".join(same), to_line(corner.schedule)])
    heads = ["micro-batches held", "no step is shorter than", "shortest of all", "known schedule there", "one that takes it"]
    return table(heads, rows, f"{ranks} stages, {micro_batches} micro-batches, whole backwards: slots of the step")
