"""Reading the table of an experiment from what a learner holds: a DataFrame, rows, columns; each cell with its name."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from course.checks.outcome import Message, as_number, show_value, unreadable
from course.plan import COLUMNS, CONDITIONS, NAMES, STEP_OFF, Row, how_busy
from course.plan_rules import read_plan

WANTED = "It is the table that your rows gave when they were run, as it came."
CHOSEN = ("schedule", "pp", "chunks", "micro_batches", "micro_batch_size", "dp")
COMPUTED = ("global_batch", "bubble_estimated", "step_time_predicted")
MEASURED = ("bubble_measured", "peak_activation_bytes", "step_time_measured")
LARGEST = 10**15
PARTED = Fraction(1, 100)  # of the step: a bubble is off the estimate when it differs by more
DIFFERENT = 3  # rows that a table must compare


class Line(NamedTuple):
    """A line of the table: its number from 1, the row it belongs to (None where it is none), and its cells."""

    number: int
    row: Row | None
    cells: dict

    def get(self, column):
        """The number in a column, whole or a float; None where there is none that a table can hold."""
        number = as_number(self.cells.get(column))
        if number is None or not abs(number) < LARGEST:
            return None
        return number if isinstance(number, int) else float(number)

    @property
    def gap(self):
        """By how much the measured bubble is off the estimate."""
        return abs(self.get("bubble_measured") - float(self.row.bubble_estimated))

    @property
    def complete(self) -> bool:
        """Whether it is a row that can be run, with a number in each column of a time, a bubble or bytes."""
        return self.row is not None and all(self.get(name) is not None for name in ("step_time_predicted", *MEASURED))

    @property
    def busy(self) -> str:
        """By what a complete line is off the simulation of its own row, since the machine was busy; empty where it is not."""
        return how_busy(self.row, *(self.get(name) for name in ("bubble_measured", "step_time_measured", "step_time_predicted")))

    @property
    def planned(self) -> "Line":
        """A complete line as a run without noise gives it: bubble and step of the simulation, the step in units."""
        timeline = self.row.simulated()
        times = dict.fromkeys(("step_time_predicted", "step_time_measured"), timeline.makespan)
        return self._replace(cells=self.cells | times | {"bubble_measured": timeline.bubble_fraction})

    @property
    def name(self) -> str:
        """The line as a message names it."""
        return f"row {self.number} ({self.row.label})" if self.row else f"row {self.number}"


def read_table(value, configurations: Sequence[Row] = ()) -> list[Line] | Message:
    """The lines of a table, or the message why it is none: plain data of a DataFrame, a list of rows, a dict of columns.

    A line without the columns of its conditions has those of the first of the `configurations` that it can be.
    """
    trouble = unreadable(value, "table", WANTED)
    if trouble:
        return trouble
    if isinstance(value, dict) and value:
        value = _rows_of_columns(value)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return Message("not-a-table", f"`table`: found {show_value(value)}. {WANTED}")
    if not value:
        return Message("no-rows", "`table` has no rows: none of your configurations was run to its end.")
    left, lines = list(configurations), []
    for number, cells in enumerate(value, 1):
        cells = {str(key): item for key, item in cells.items()}
        lines.append(Line(number, _row_of(cells, left), cells))
    return lines


def _rows_of_columns(columns):
    """A dict of columns, each a list or a dict by row, as a list of rows; as it is where its columns are not equally long."""
    cells = {name: list(column.values()) if isinstance(column, dict) else column for name, column in columns.items()}
    lengths = {len(column) if isinstance(column, list) else None for column in cells.values()}
    if len(lengths) != 1 or None in lengths:
        return columns
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _row_of(cells, left):
    """The configuration of a line; None where it is none. Numbers that are written as text are numbers."""
    found = {name: cells[name] for name in CHOSEN + CONDITIONS if cells.get(name) is not None}
    found |= {name: as_number(value) for name, value in found.items() if name != "schedule" and as_number(value) is not None}
    if not set(CONDITIONS) & set(found):
        match = next((row for row in left if all(getattr(row, name) == found.get(name) for name in CHOSEN)), None)
        if match:
            left.remove(match)
            return match
    return next(iter(read_plan([found]).rows.values()), None)


def missing_columns(lines: list[Line]) -> list[str]:
    """The columns that a table must have and this one has not."""
    return [name for name in COLUMNS if not all(name in line.cells for line in lines)]


def holes(line: Line) -> list[str]:
    """The columns of a line whose cell holds no number."""
    return [name for name in COLUMNS[1:] if name in line.cells and line.get(name) is None]


def same_run(one: Row, other: Row, conditions: bool = True) -> bool:
    """Whether two rows are one configuration; without `conditions`, also where stages or links are slower in one of them."""
    return all(getattr(one, name) == getattr(other, name) for name in (NAMES if conditions else (*CHOSEN, "layers")))


def matches(lines: Sequence[Line], rows: Mapping[int, Row]) -> dict[int, int]:
    """The number of the configuration that a line is, by the line's number, each taken once; without the lines that are none."""
    left, found = dict(rows), {}
    for line in lines:
        number = next((number for number, row in left.items() if line.row and same_run(row, line.row)), None)
        if number is not None:
            del left[number]
            found[line.number] = number
    return found


def different(rows: Sequence[Row]) -> list[Row]:
    """Each row once: without those that differ from one before only in a slow stage or a message that hardly changes its step."""
    found = []
    for row in rows:
        if not any(_tells_the_same(row, other) for other in found):
            found.append(row)
    return found


def variety(rows: Sequence[Row], counts: str) -> tuple[Fraction, Message | None]:
    """What a table of these rows can tell, as a share of what it must; and where that is not all, the message why.

    DIFFERENT rows, a second value of pp and one of micro_batches count alike. `counts`: what the share is of, as the message
    says it.
    """
    count = len(different(rows))
    second = {name: len({getattr(row, name) for row in rows}) > 1 for name in ("pp", "micro_batches")}
    lacking = [f"{DIFFERENT} different rows (found {count}; rows that hardly differ count once)"] * (count < DIFFERENT)
    lacking += [f"a second value of {name}" for name, is_there in second.items() if not is_there]
    share = Fraction(min(count, DIFFERENT) + sum(second.values()), DIFFERENT + len(second))
    return share, Message("tells-little", f"A table compares, so it takes {', '.join(lacking)}. Put that into `configurations` "
                          f"and run them: until then {counts} for {_part(share)}.") if lacking else None


def _part(share):
    return f"{share.numerator}/{share.denominator}" if share else "nothing"


def _tells_the_same(one, other):
    if not same_run(one, other, conditions=False):
        return False
    first, second = one.simulated(), other.simulated()
    return abs(first.bubble_fraction - second.bubble_fraction) <= PARTED and (
        abs(first.makespan - second.makespan) <= STEP_OFF * max(first.makespan, second.makespan))


def named(busy: Sequence[Line], most: int) -> str:
    """Lines that were measured on a busy machine, as a sentence begins with them, the first `most` with what is off."""
    names = [f"row {line.number} ({line.busy})" for line in busy[:most]]
    more = f" and {len(busy) - most} more" if len(busy) > most else ""
    return f"{', '.join(names)}{more} {'was' if len(busy) == 1 else 'were'}"
