"""A schedule in whatever form a learner has it: a drawing, orders, a CSV text or file, a line to share, a function."""

import re
from collections.abc import Iterable
from dataclasses import replace
from inspect import signature
from math import prod
from pathlib import Path

from course.answers import LocalAnswer
from course.checks.functions import ask
from course.checks.orders import NoOrder, arguments_of, cells_of, read_order, schedule_from
from course.checks.outcome import Message, show_value, unreadable
from course.drawing import CONTINUED, IDLE, UNMARKED, Drawing, DrawingError, read_drawing
from course.real_run import RealRun
from course.schedule import Operation, Schedule
from course.schedules.entry import need_sizes
from course.sharing import MARK, from_line
from course.timeline import Timeline

MOST, MOST_RANKS = 100_000, 256  # stages times micro-batches that can be looked at; rows that a picture can have
TIMED = (IDLE, CONTINUED, UNMARKED)  # cells that only a drawing has
RANKS, MICRO_BATCHES, CHUNKS = 4, 8, 2  # that a function is asked for where no others are named
FORMS = ("a drawing (one line a rank, `.` for an idle cell), the orders of the ranks, a CSV text or the name of its file, "
         "a line to share, a Schedule, or a function (p, m, stage) -> order")
_A_LINE = re.compile(rf"[\W_]*{MARK}[0-9]", re.IGNORECASE)
_WITHOUT_STAGE = re.compile(r"[FBIW][0-9]+", re.IGNORECASE)


def read_schedule(subject, ranks: int | None = None, micro_batches: int | None = None,
                  chunks: int | None = None) -> Schedule | Timeline:
    """The schedule in `subject`, legal or not; a Timeline where it was drawn or measured (a run), with its times.

    A text of several lines without a single idle cell holds orders: no drawing of a pipeline can be without. Sizes that are not
    given are those that are written; a function is asked for 4 ranks and 8 micro-batches, with `chunks` as (p, m, v, rank).
    Micro-batches may be counted from 1. ValueError says in a sentence what is wrong, where, and what would do.

    >>> read_schedule("F0 F1 B0 B1\\nF0 B0 F1 B1").ranks == read_schedule([["F0", "F1", "B0", "B1"], "F0 B0 F1 B1"]).ranks
    True
    >>> print(read_schedule("F0 . . B0\\n. F0 B0 ."))
    F0 .  .  B0
    .  F0 B0 .
    """
    _check_sizes(ranks=ranks, micro_batches=micro_batches, chunks=chunks)
    if isinstance(subject, RealRun):
        return subject.run.measured
    if isinstance(subject, Schedule):
        return _sound(subject)
    if isinstance(subject, Timeline):
        _sound(subject.schedule)
        return subject
    if made := _made(subject, ranks or RANKS, micro_batches or MICRO_BATCHES, chunks):
        return made
    if callable(subject):
        return _of_function(subject, ranks or RANKS, micro_batches or MICRO_BATCHES, chunks)
    if isinstance(subject, Path) or (isinstance(subject, str) and "\n" not in subject and subject.strip().endswith(".csv")):
        return _of_csv(_text_of(Path(str(subject).strip())), micro_batches)
    value = LocalAnswer(subject).value()
    if trouble := unreadable(value, "the schedule", f"Write {FORMS}."):
        raise ValueError(trouble.text.rstrip("."))
    if isinstance(value, dict):
        value = [value[rank] for rank in sorted(value, key=_rank_of)]
    if isinstance(value, str):
        return _of_text(value, ranks, micro_batches)
    if isinstance(value, list):
        value = [cells_of(row) for row in value]
    if not isinstance(value, list) or not value or not all(isinstance(row, str | list) for row in value):
        raise ValueError(f"{show_value(value)} is no schedule: give {FORMS}")
    rows = [row if isinstance(row, str) else " ".join(map(str, row)) for row in value]
    if rows == value or any(cell in TIMED for row in value if isinstance(row, list) for cell in row if isinstance(cell, str)):
        return _of_text("\n".join(rows), ranks, micro_batches)
    try:
        return _of_orders([read_order(row, rank) for rank, row in enumerate(value)], micro_batches)
    except NoOrder as error:
        raise ValueError(f"{error}; one list a rank is needed, rank 0 first") from None


def _made(subject, ranks, micro_batches, chunks):
    """What a function of `course.schedules` makes; None where it is none of them."""
    if not callable(subject) or not getattr(subject, "__module__", "").startswith("course.schedules"):
        return None
    sizes = {"chunks": chunks or CHUNKS} if "chunks" in signature(subject).parameters else {}
    return _sound(subject(ranks, micro_batches, **sizes))


def _check_sizes(**sizes):
    given = {name: size for name, size in sizes.items() if size is not None}
    need_sizes(**given)
    if prod(given.values()) > MOST:
        said = " x ".join(f"{name} = {size:,}" for name, size in given.items())
        raise ValueError(f"{said}: more than {MOST:,} forwards cannot be looked at here")
    if given.get("ranks", 0) > MOST_RANKS:
        raise ValueError(f"ranks = {sizes['ranks']}: at most {MOST_RANKS} can be looked at here")


def _sound(schedule):
    """The schedule, if it has an operation and no more stages and micro-batches than can be looked at."""
    if not any(schedule.ranks):
        raise ValueError(f"there is no operation in it: give {FORMS}")
    if len(schedule.ranks) > MOST_RANKS:
        raise ValueError(f"it has {len(schedule.ranks)} ranks: at most {MOST_RANKS} can be looked at here")
    if schedule.stages * schedule.micro_batches > MOST:
        raise ValueError(f"it has {schedule.stages:,} stages and {schedule.micro_batches:,} micro-batches: "
                         f"more than {MOST:,} forwards cannot be looked at here")
    return schedule


def _rank_of(key):
    """Where a key of a dict of orders stands: by the number in it."""
    digits = re.findall("[0-9]+", str(key))
    return (int(digits[-1][:6]), str(key)) if digits else (0, str(key))


def _of_function(function, ranks, micro_batches, chunks):
    replies = ask(LocalAnswer(function), arguments_of(ranks, micro_batches, chunks))
    found = schedule_from(replies, getattr(function, "__name__", "the function"), ranks, micro_batches, chunks)
    if isinstance(found, Message):
        raise ValueError(found.text.rstrip("."))
    if chunks is None and any(operation.stage >= ranks for rank in found.ranks for operation in rank):
        return _sound(Schedule.of(found.ranks, micro_batches=micro_batches))  # it names its stages, wherever they are
    return _sound(found)


def _text_of(path):
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} cannot be read: it is not text in UTF-8; save it in that encoding") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): a CSV file beside this notebook is meant") from None


def _of_csv(text, micro_batches):
    found = _sound(Schedule.from_csv(text, micro_batches=micro_batches))
    last = max(rank for rank, operations in enumerate(found.ranks) if operations)
    blank = next((rank for rank, operations in enumerate(found.ranks[:last]) if not operations), None)
    if blank is not None:
        raise ValueError(f"row {blank} of the CSV, counted from 0, has no operation: each row is a rank; take the blank line out")
    return found


def _of_text(text, ranks, micro_batches):
    if _A_LINE.match(text):
        return _sound(from_line(text))
    if _is_csv(text):
        return _of_csv(text, micro_batches)
    try:
        drawing = read_drawing(text, ranks)
    except DrawingError as error:
        more = ". Input and weight gradients apart are `I0` and `W0`; where a rank has several stages it is `2F0`"
        raise ValueError(str(error).rstrip(".") + more * (error.code == "token")) from None
    rows = _from_zero([drawing.operations(row) for row in range(len(drawing.rows))], micro_batches)
    orders = [tuple(operation for operation, _, _ in row) for row in rows]
    if not drawing.names_stages:
        missing = (ranks or len(rows)) - len(rows)
        orders, rows = orders + [()] * missing, rows + [[]] * missing
    schedule = _of_orders(orders, micro_batches)
    if len(rows) > 1 and not _has_times(drawing):
        return schedule
    return Timeline(schedule, tuple(tuple(start for _, start, _ in row) for row in rows),
                    tuple(tuple(end for _, _, end in row) for row in rows))


def _is_csv(text):
    """Whether cells are apart by commas and name their stages; a drawing with commas has idle cells, or stages by its rows."""
    if "," not in text and ";" not in text:
        return False
    cells = [cell for cell in re.split(r"[\s,;|\"]+", text) if cell]
    return not set(TIMED).intersection(cells) and not all(map(_WITHOUT_STAGE.fullmatch, cells))


def _has_times(drawing: Drawing):
    return any(cell in TIMED for row in drawing.rows for cell in row)


def _from_zero(rows, micro_batches):
    """Micro-batches that are all counted from 1, counted from 0."""
    numbers = {operation.micro_batch for row in rows for operation, _, _ in row}
    if not numbers or min(numbers) < 1 or max(numbers) != (micro_batches or max(numbers)):
        return rows
    return [[(replace(operation, micro_batch=operation.micro_batch - 1), start, end) for operation, start, end in row]
            for row in rows]


def _of_orders(orders: Iterable[tuple[Operation, ...]], micro_batches) -> Schedule:
    """Stage s lives on rank s where there are no more stages than ranks, else where it is seen first."""
    orders = tuple(orders)
    found = _sound(Schedule.of(orders, micro_batches=micro_batches))
    if found.stages > len(orders):
        return found
    return replace(found, stage_to_rank=tuple(range(len(orders))))
