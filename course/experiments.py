"""The experiment table: the rows of a plan run on real processes, one slot length for all, finished rows kept and resumed."""

import contextlib
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from course import given_runs
from course.answers import Interrupted, LocalAnswer, OneLine, Raised
from course.experiment_words import kept, sayings, unknown_rows
from course.pipeline import PipelineError, Sizes, keepable_slot, run
from course.pipeline.pool import pool_of
from course.plan import COLUMNS, CONDITIONS, WORKED, Row
from course.plan_rules import Plan, read_plan
from course.progress import is_grading
from course.progress_bar import progress_bar
from course.records import Records, setting_of

NAME, WORKED_NAME = "experiment_table", "worked_example"
CLOCKS = ("paced", "virtual")
PLANNED = 0.001  # seconds of a slot where times follow the plan
ROOM, MOST_ROOM = 1.1, 2  # a table's slot, over the longest that a row needs; more in tables whose steps take
SOON = 12  # seconds in all, since a busy machine keeps a longer slot more easily
TIGHT = 1.5  # a new row may need this many times the table's slot: an operation has three times what it takes
AGAIN = 0.01  # of the bubble: a row with overruns that is off by more is run once more
FAILURES = (PipelineError, ValueError, OSError, MemoryError)
_unsaved: dict[Path, Records] = {}


class BadOption(OneLine, ValueError):
    """A table cannot have this name or this clock."""


class Filled(NamedTuple):
    """What became of the rows of a plan: those of the table and their numbers, what failed and why by number, what to say."""

    rows: list[dict]
    numbers: list[int]
    failed: dict[int, str]
    said: list[str]


def run_experiment(configurations, name: str = NAME, again: bool | int | Collection[int] = False, folder: Path | None = None,
                   clock: str | None = None):
    """Run a list of configurations for real, with a progress bar; returns the table as a DataFrame, by the numbers of the plan.

    A row is a dict with the keys schedule, pp, chunks, micro_batches, micro_batch_size, dp, and slow_stage or message where
    wanted. Each finished row is kept in `<name>.json` beside the notebook, the table in `<name>.csv`: stopped, or with other
    rows changed, it goes on with what is missing. `again`: True, or the numbers of rows that are to be run anew. Prints what
    is not as it should be; returns None where no row could be run. BadOption, a ValueError, for a name or clock that cannot be.
    """
    _check_name(name)
    plan = read_configurations(configurations)
    if plan.problems:
        print(*map(str, plan.problems), "Nothing was run; what was finished before is still kept.", sep="\n")
        return None
    if is_grading() and name == WORKED_NAME and tuple(plan.rows.values()) == WORKED:
        print("The worked example is not run where a notebook is graded or validated: no points depend on it.")
        return None
    records = open_records(None if is_grading() else (folder or Path.cwd()) / f"{name}.json",
                           "virtual" if is_grading() else clock or "paced")
    try:
        with progress_bar(sys.stdout) as bar:
            filled = fill(plan.rows, records, bar, again)
    except KeyboardInterrupt:
        if not is_grading():
            raise Interrupted(f"{stopped(plan.rows, records)} {_how_to_go_on(plan.rows, records, again)}") from None
        filled = table_of(plan.rows, records)
        print("The time for this cell was used up.")
    if not given_runs.asked():  # the cell is run again once they are given, and then says how they went
        print(*filled.said, sep="\n")
    return as_frame(filled.rows, records, filled.numbers, len(plan.rows)) if filled.rows else None


def _check_name(name):
    if not isinstance(name, str) or name.strip() in ("", ".", "..") or set(name) & set('/\\\0'):
        raise BadOption(f"name = {name!r}: a file's name without a folder is needed, such as {NAME!r}; `folder` takes that")


def _how_to_go_on(rows, records, again):
    """How a run that was stopped is taken up again."""
    if all(records.finished(row.key) for row in rows.values()):
        return "Run the cell again to measure what was to be measured anew."
    return f"Run the cell again{' without again=True' * (again is True)} to go on with the others."


def read_configurations(configurations) -> Plan:
    """The plan in a learner's value."""
    value = LocalAnswer(configurations).value()
    return read_plan(f"{value.type}: {value.text}" if isinstance(value, Raised) else value)


def open_records(path: Path | None, clock: str) -> Records:
    """The rows that are finished already and may stand in one table with what is run here and now.

    BadOption, a ValueError, for a clock that a table cannot have.
    """
    if clock not in CLOCKS:
        raise BadOption(f"clock = {clock!r}: {' or '.join(map(repr, CLOCKS))} is needed")
    setting = setting_of(clock)
    kept = _unsaved.get(path) if path else None
    return kept if kept and kept.setting == setting else Records(path, setting)


def fill(rows: Mapping[int, Row], records: Records, bar: Callable, again: bool | int | Collection[int] = False) -> Filled:
    """Run the rows that are not finished yet, each kept as soon as it is. `bar(total)` gives the function that tells a step.

    A row that fails is named, the others go on. KeyboardInterrupt passes through; what is finished stays.
    """
    chosen = set(rows) if again is True else _numbers(again)
    records.said = " ".join(filter(None, (records.said, unknown_rows(chosen, rows))))
    before = [number for number, row in rows.items() if records.finished(row.key) and number not in chosen]
    records.waiting = [number for number in rows if number not in before]
    failed = _calibrate(rows, records, bar, anew=again is True) if _paced(records) else {}
    if (slot := _slot(rows, records)) != records.slot:
        before, records.waiting, records.slot = [], list(rows), slot
    waiting = records.waiting = [number for number in records.waiting if number not in failed]
    _get_ready(rows[number] for number in waiting)
    tell = bar(len(waiting))
    for number in list(waiting):
        seconds = float(rows[number].simulated().makespan) * records.slot if _paced(records) else 0
        tell(f"row {number} of {len(rows)}: {rows[number].label}{f'; its step takes {seconds:.0f} s' if seconds >= 1 else ''}")
        try:
            records.add(rows[number].key, _measured(rows[number], records))
        except FAILURES as error:
            failed[number] = _reason(error)
        waiting.remove(number)
    tell("the rows are run")
    records.write_again()
    return table_of(rows, records, failed, len(before))


def _numbers(again):
    """The numbers of rows that are to be run anew, in whatever form they come; what is no number is left as it is."""
    if again is None or again is False:
        return []
    found = []
    for item in again if isinstance(again, Iterable) and not isinstance(again, str) else [again]:
        with contextlib.suppress(TypeError):
            item = operator.index(item)
        found.append(item)
    return found


def _calibrate(rows, records, bar, anew):
    """Find out which slot this machine can keep for each waiting row of which that is not known, or of all `anew`.

    Returns what failed, and why. Until it is known `anew`, or where it cannot be, the table keeps its earlier slot.
    """
    slot, keepable = records.slot, records.keepable
    if not anew:
        return _look(rows, records, bar)
    records.slot, records.keepable = None, {}
    try:
        return _look(rows, records, bar)
    finally:
        if slot and not all(rows[number].key in records.keepable for number in records.waiting):
            records.slot, records.keepable = slot, keepable | records.keepable


def _look(rows, records, bar):
    unknown = [number for number in records.waiting if rows[number].key not in records.keepable]
    _get_ready(rows[number] for number in unknown)
    failed, tell = {}, bar(len(unknown))
    for number in unknown:
        tell(f"how long must a slot be? row {number}: {rows[number].label}")
        row = rows[number]
        try:
            records.keepable[row.key] = keepable_slot(row.as_schedule(), row.costs(), _sizes(row), row.dp)
            records.write()
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
            "step_time_measured": result.step_time_measured + (result.all_reduce_seconds if _paced(records) else 0),
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
    return Filled(lines, list(there), dict(failed or {}), list(sayings(rows, records, there, failed or {}, before, target)))


def stopped(rows: Mapping[int, Row], records: Records) -> str:
    """What is kept of a run that was stopped, in a few sentences; what is not in the file yet is written."""
    records.write()
    table_of(rows, records)
    return kept(rows, records)


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


def as_frame(rows: list[dict], records: Records, numbers: Sequence[int] = (), planned: int = 0):
    """The table as a pandas DataFrame: its rows by their numbers in the plan, else counted from 1.

    Machine, versions and pacing are its `attrs`, and `planned`, how many rows the plan has.
    """
    import pandas

    index = pandas.Index(list(numbers) or range(1, len(rows) + 1), name="row")
    frame = pandas.DataFrame(rows, columns=[*COLUMNS, *CONDITIONS], index=index)
    frame.attrs = records.about | {"planned": max(planned, len(rows))}
    return frame
