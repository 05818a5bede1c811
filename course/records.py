"""The file of an experiment table: its finished rows, with machine, versions and pacing; and the table as CSV beside it."""

import csv
import io
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from course.pipeline import Sizes
from course.pipeline.machine import facts
from course.pipeline.request import LONGEST, SHORTEST
from course.plan import BACKWARD, COLUMNS, CONDITIONS, EACH, FIXED
from course.progress import write_atomically

WHAT = "rows of an experiment table, pipeline parallelism, hands on"
MEASURED = ("bubble_measured", "peak_activation_bytes", "step_time_predicted", "step_time_measured", "slot_seconds")
OPTIONAL = ("overruns", "all_reduce_seconds")
MOST_KEPT = 100  # rows that a file holds, the latest; those of earlier plans among them


class Records:
    """The finished rows of a table by their key, and the slot that they share; written to `path` after each change.

    `setting` is what rows must have in common to stand in one table: machine, versions, clock. A file of another setting, or
    one that is none, is put aside, never overwritten. `said` holds what a reader should know of that; `trouble` says in one
    sentence why the last change could not be written, empty when it was. With `path` None nothing is written. `waiting` are the
    numbers of the rows that are still to be run.
    """

    def __init__(self, path: Path | None, setting: Mapping):
        self.path, self.setting, self.said, self.trouble = path, dict(setting), "", ""
        self.slot: float | None = None
        self.keepable: dict[str, float] = {}
        self.rows: dict[str, dict] = {}
        self.waiting: list[int] = []
        if path:
            self._read()

    @property
    def about(self) -> dict:
        """What stands beside the table: machine, versions and pacing, with the seconds of a slot."""
        return {**self.setting, "slot_seconds": self.slot}

    def finished(self, key: str) -> dict | None:
        """The record of a row in the slot that all share; None where it is not finished."""
        found = self.rows.get(key)
        return found if found and found["slot_seconds"] == self.slot else None

    def add(self, key: str, record: Mapping):
        """Keep the record of a row, at once in the file too."""
        self.rows.pop(key, None)
        self.rows[key] = dict(record)
        self.write()

    def write(self):
        """Write the file, whole or not at all."""
        self.trouble = ""
        if not self.path:
            return
        kept = dict(list(self.rows.items())[-MOST_KEPT:])
        content = {"what": WHAT, **self.about, "keepable": self.keepable, "rows": kept}
        try:
            write_atomically(self.path, json.dumps(content, indent=1) + "\n")
        except OSError as error:
            self.trouble = f"{self.path.name} could not be written ({error.strerror or error})."

    def write_again(self):
        """Where the last change could not be written, try once more: there may be room by now."""
        if self.trouble:
            self.write()

    def write_csv(self, rows: Iterable[Mapping]) -> Path | None:
        """Write the rows of the table as CSV beside the file; None where that was not possible, which `trouble` says."""
        if not self.path:
            return None
        target = self.path.with_suffix(".csv")
        try:
            write_atomically(target, csv_of(rows))
        except OSError as error:
            self.trouble = f"{target.name} could not be written ({error.strerror or error})."
            return None
        return target

    def _read(self):
        try:
            found = json.loads(self.path.read_text(encoding="utf-8-sig"))
            if found["what"] != WHAT:
                raise ValueError("another file")
            slot, keepable, rows = found.pop("slot_seconds"), found.pop("keepable"), found.pop("rows")
            rows = {key: record for key, record in rows.items() if _is_sound(record)}
            keepable = {key: seconds for key, seconds in keepable.items() if _is_slot(seconds)}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._put_aside("it holds no rows of a table")
            return
        other = [key for key, value in self.setting.items() if found.get(key) != value]
        if other:
            self._put_aside(f"its rows were run with other {' and '.join(other)}")
        else:
            self.slot, self.keepable, self.rows = slot if _is_slot(slot) else None, keepable, rows

    def _put_aside(self, why):
        names = (self.path.with_suffix(f".earlier{number}.json") for number in ("", *range(2, 1000)))
        aside = next((name for name in names if not name.exists()), self.path.with_suffix(".earlier.json"))
        try:
            os.replace(self.path, aside)
            self.said = f"{self.path.name} was put aside as {aside.name}, because {why}; a new one is begun."
        except OSError as error:
            self.said = f"{self.path.name} can neither be used, because {why}, nor be put aside ({error.strerror or error})."


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


def csv_of(rows: Iterable[Mapping]) -> str:
    """Rows of a table as CSV, with a line of the columns' names; numbers have all their digits."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS + CONDITIONS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _is_sound(record):
    """Whether a record from a file has all that a table takes from it, each of a size that can be measured."""
    return (isinstance(record, dict) and all(name in record for name in MEASURED)
            and all(_is_number(record.get(name, 0)) and record.get(name, 0) >= 0 for name in (*MEASURED, *OPTIONAL))
            and record["bubble_measured"] <= 1 and _is_slot(record["slot_seconds"]))


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_slot(value):
    return _is_number(value) and SHORTEST <= value <= LONGEST
