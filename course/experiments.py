"""The experiment table: the rows of a plan run on real processes, one slot length for all, finished rows kept and resumed."""

import contextlib
import platform
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from course import given_runs
from course.answers import Interrupted, LocalAnswer, Raised
from course.pipeline import PipelineError, Sizes, keepable_slot, run
from course.pipeline.machine import facts
from course.pipeline.pool import pool_of
from course.plan import BACKWARD, COLUMNS, CONDITIONS, EACH, FIXED, Row
from course.plan_rules import Plan, read_plan
from course.progress import is_grading
from course.records import Records

NAME = "experiment_table"
CLOCKS = ("paced", "virtual")
PLANNED = 0.001  # seconds of a slot where times follow the plan
ROOM, MOST_ROOM = 1.1, 2  # a table's slot, over the longest that a row needs; more in tables whose steps take
SOON = 12  # seconds in all, since a busy machine keeps a longer slot more easily
TIGHT = 1.5  # a new row may need this many times the table's slot: an operation has three times what it takes
AGAIN = 0.01  # of the bubble: a row with overruns that is off by more is run once more
FAILURES = (PipelineError, ValueError, OSError, MemoryError)
_unsaved: dict[Path, Records] = {}


class Filled(NamedTuple):
    """What became of the rows of a plan: those of the table, what failed and why by the row's number, and what to say."""

    rows: list[dict]
    failed: dict[int, str]
    said: list[str]


def run_experiment(configurations, name: str = NAME, again: bool | int | Collection[int] = False, folder: Path | None = None,
                   clock: str | None = None):
    """Run a list of configurations for real, with a progress bar; returns the table as a DataFrame, its rows counted from 1.

    A row is a dict with the keys schedule, pp, chunks, micro_batches, micro_batch_size, dp, and slow_stage or message where
    wanted. Each finished row is kept in `<name>.json` beside the notebook, the table in `<name>.csv`: stopped, or with other
    rows changed, it goes on with what is missing. `again`: True, or the numbers of rows that are to be run anew. Prints what
    is not as it should be; returns None where no row could be run.
    """
    plan = read_configurations(configurations)
    if plan.problems:
        print(*map(str, plan.problems), "Nothing was run; what was finished before is still kept.", sep="\n")
        return None
    records = open_records(None if is_grading() else (folder or Path.cwd()) / f"{name}.json",
                           "virtual" if is_grading() else clock or "paced")
    try:
        with progress_bar(sys.stdout) as bar:
            filled = fill(plan.rows, records, bar, again)
    except KeyboardInterrupt:
        raise Interrupted(f"{stopped(plan.rows, records)} Run the cell again to go on with the others.") from None
    print(*filled.said, sep="\n")
    return as_frame(filled.rows, records) if filled.rows else None


def read_configurations(configurations) -> Plan:
    """The plan in a learner's value."""
    value = LocalAnswer(configurations).value()
    return read_plan(f"{value.type}: {value.text}" if isinstance(value, Raised) else value)


def open_records(path: Path | None, clock: str) -> Records:
    """The rows that are finished already and may stand in one table with what is run here and now.

    ValueError for a clock that a table cannot have.
    """
    if clock not in CLOCKS:
        raise ValueError(f"clock = {clock!r}: {' or '.join(map(repr, CLOCKS))} is needed")
    setting = setting_of(clock)
    kept = _unsaved.get(path) if path else None
    return kept if kept and kept.setting == setting else Records(path, setting)


def setting_of(clock: str) -> dict:
    """Machine, versions and pacing, as they stand beside a table."""
    found = facts()
    return {"machine": {"cores": found["cores"], "system": found["system"]},
            "model": {name: value for name, value in vars(Sizes()).items() if name in ("hidden", "heads", "sequence")},
            "versions": {"python": platform.python_version(), **{name: _version(name) for name in (
                "torch", "pipeline-parallelism-hands-on")}},
            "pacing": {"clock": clock, "forward of a layer, in units": f"{FIXED} + {EACH} a sample",
                       "backward, in forwards": BACKWARD}}


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def fill(rows: Mapping[int, Row], records: Records, bar: Callable, again: bool | int | Collection[int] = False) -> Filled:
    """Run the rows that are not finished yet, each kept as soon as it is. `bar(total)` gives the function that tells a step.

    A row that fails is named, the others go on. KeyboardInterrupt passes through; what is finished stays.
    """
    chosen = set(rows) if again is True else {again} if isinstance(again, int) else set(again)
    if again is True:
        records.slot, records.keepable = None, {}
    before = [number for number, row in rows.items() if records.finished(row.key) and number not in chosen]
    waiting = [number for number in rows if number not in before]
    failed = _calibrate(rows, waiting, records, bar) if _paced(records) else {}
    if (slot := _slot(rows, records)) != records.slot:
        before, waiting, records.slot = [], list(rows), slot
    waiting = [number for number in waiting if number not in failed]
    _get_ready(rows[number] for number in waiting)
    tell = bar(len(waiting))
    for number in waiting:
        seconds = float(rows[number].simulated().makespan) * records.slot if _paced(records) else 0
        tell(f"row {number} of {len(rows)}: {rows[number].label}{f'; its step takes {seconds:.0f} s' if seconds >= 1 else ''}")
        try:
            records.add(rows[number].key, _measured(rows[number], records))
        except FAILURES as error:
            failed[number] = _reason(error)
    tell("the rows are run")
    return table_of(rows, records, failed, len(before))


def _calibrate(rows, waiting, records, bar):
    """Find out which slot this machine can keep for each row of which that is not known. Returns what failed, and why."""
    unknown = [number for number in waiting if rows[number].key not in records.keepable]
    _get_ready(rows[number] for number in unknown)
    failed, tell = {}, bar(len(unknown))
    for number in unknown:
        tell(f"how long must a slot be? row {number}: {rows[number].label}")
        row = rows[number]
        try:
            records.keepable[row.key] = keepable_slot(row.as_schedule(), row.costs(), _sizes(row), row.dp)
        except FAILURES as error:
            failed[number] = _reason(error)
    tell("the length of a slot is known")
    return failed


def _get_ready(rows):
    """Start the processes that the largest row needs once; where that fails, a row that needs fewer may still run."""
    most = max((row.processes for row in rows), default=0)
    with contextlib.suppress(*FAILURES):
        if most and not given_runs.is_begun():
            pool_of(most)


def _paced(records):
    return records.setting["pacing"]["clock"] == "paced"


def _slot(rows, records):
    """The slot that the table has, unless a row needs a longer one."""
    if not _paced(records):
        return PLANNED
    needed = max((records.keepable[row.key] for row in rows.values() if row.key in records.keepable), default=PLANNED)
    if records.slot and needed <= TIGHT * records.slot:
        return records.slot
    steps = needed * sum(float(row.simulated().makespan) for row in rows.values())
    return needed * min(MOST_ROOM, max(ROOM, SOON / steps))


def _sizes(row):
    return Sizes(micro_batch_size=row.micro_batch_size, layers=row.layers)


def _reason(error):
    return getattr(error, "message", None) or str(error) or type(error).__name__


def _measured(row, records):
    """The record of one row, run now."""
    if given_runs.is_begun():
        return given_runs.take(row, records.slot)
    result = _run(row, records)
    if result.overruns and abs(result.bubble_measured - result.bubble_predicted) > AGAIN:
        result = min(result, _run(row, records), key=lambda result: result.overruns)
    return {"bubble_measured": float(result.bubble_measured), "peak_activation_bytes": max(result.peak_activation_bytes),
            "step_time_predicted": result.step_time_predicted,
            "step_time_measured": result.step_time_measured + result.all_reduce_seconds,
            "slot_seconds": records.slot, "overruns": result.overruns, "all_reduce_seconds": result.all_reduce_seconds,
            **({"max_gradient_difference": result.max_gradient_difference} if _paced(records) else {})}


def _run(row, records):
    return run(row.as_schedule(), costs=row.costs(), sizes=_sizes(row), dp=row.dp, steps=1, slot_seconds=records.slot,
               clock=records.setting["pacing"]["clock"], compare=_paced(records))


def table_row(row: Row, record: Mapping) -> dict:
    """A line of the table: what was chosen, what is computed from it, what was measured."""
    values = {**vars(row), "global_batch": row.global_batch, "bubble_estimated": float(row.bubble_estimated), **record}
    return {name: values[name] for name in COLUMNS + CONDITIONS}


def table_of(rows: Mapping[int, Row], records: Records, failed: Mapping[int, str] | None = None, before: int = 0) -> Filled:
    """The table of the rows that are finished, written as CSV, and what to say of it; `before`: how many were so already."""
    there = {number: record for number, row in rows.items() if (record := records.finished(row.key))}
    lines = [table_row(rows[number], record) for number, record in there.items()]
    target = records.write_csv(lines) if lines else None
    if records.path and records.trouble:
        _unsaved[records.path] = records
    elif records.path:
        _unsaved.pop(records.path, None)
    return Filled(lines, dict(failed or {}), list(_sayings(rows, records, there, failed or {}, before, target)))


def _sayings(rows, records, there, failed, before, target):
    if records.said:
        yield records.said
        records.said = ""
    if before:
        yield f"{before} of {len(rows)} rows were finished before and are kept."
    for number, reason in failed.items():
        what = "its earlier measurement stays in the table" if number in there else "it is not in the table"
        yield f"Row {number} ({rows[number].label}) failed: {reason}; {what}. The others are not touched."
    late = [f"{record['overruns']} in row {number}" for number, record in there.items() if record.get("overruns")]
    if late:
        yield (f"Operations that took longer than their planned time: {', '.join(late)}. This machine was busy; `again` measures "
               "anew.")
    if not _paced(records):
        why = ", because the notebook is graded or validated" if is_grading() else ""
        yield f"The times in this table follow the plan (virtual clock) and are not measured{why}."
    if records.trouble:
        yield f"{records.trouble} The table is there all the same, and its rows are kept in memory."
    elif target:
        yield f"{len(there)} of {len(rows)} rows are in the table, kept in {target.name} and {records.path.name}."


def stopped(rows: Mapping[int, Row], records: Records) -> str:
    """What is kept of a run that was stopped, in one sentence; what is not in the file yet is written."""
    records.write()
    filled = table_of(rows, records)
    where = f" in {records.path.name}" if records.path and not records.trouble else ""
    return f"{len(filled.rows)} of {len(rows)} rows are finished and kept{where}."


def trusted_records(rows: Collection[Row]) -> list[dict]:
    """The line of a table for each of these rows, in their order: exact times of the virtual clock, counted bytes.

    Equal rows are run once, nothing is kept. PipelineError where a row cannot be run.
    """
    numbered = dict(enumerate(dict.fromkeys(rows), 1))
    filled = fill(numbered, Records(None, setting_of("virtual")), lambda total: lambda step: None)
    if filled.failed:
        number, reason = next(iter(filled.failed.items()))
        raise PipelineError(f"row {number} ({numbered[number].label}): {reason}", None, None, reason)
    by_row = dict(zip(numbered.values(), filled.rows, strict=True))
    return [by_row[row] for row in rows]


def as_frame(rows: list[dict], records: Records):
    """The table as a pandas DataFrame, its rows counted from 1; machine, versions and pacing are its `attrs`."""
    import pandas

    frame = pandas.DataFrame(rows, columns=[*COLUMNS, *CONDITIONS], index=pandas.RangeIndex(1, len(rows) + 1, name="row"))
    frame.attrs = records.about
    return frame


@contextlib.contextmanager
def progress_bar(file) -> Iterator[Callable]:
    """Gives `bar(total)`, which begins a tqdm bar on this file; what it returns tells each step, and the end."""
    from tqdm import tqdm

    bars = []

    def close():
        while bars:
            bars.pop().close()

    def begin(total):
        close()
        told = []
        bars.append(tqdm(total=total, file=file, bar_format="{bar:20} {n_fmt}/{total_fmt} [{elapsed}] {desc}", disable=not total))

        def tell(what):
            if told:
                bars[-1].update()
            told.append(what)
            bars[-1].set_description_str(what)
        return tell

    try:
        yield begin
    finally:
        close()
