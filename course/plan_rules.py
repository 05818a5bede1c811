"""The rules of an experiment plan: rows read from plain data, and for each that breaks a rule the nearest that obeys it."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from fractions import Fraction
from typing import NamedTuple

from course.formulas import PPConfig
from course.plan import CHOICES, LAYERS, NAMES, USUAL, Row, written
from course.schedules import SCHEDULES

BATCH = 32
MOST_ROWS, MOST_PP, MOST_MICRO_BATCHES, MOST_PROCESSES, MOST_LAYERS, MOST_SAMPLES = 8, 8, 64, 16, 64, 256
SLOWEST, LONGEST = 10, 1000  # the largest slow_stage and message
COUNTS = ("pp", "chunks", "micro_batches", "micro_batch_size", "dp", "layers")
FACTORS = {"slow_stage": (1, SLOWEST), "message": (0, LONGEST)}
MISSING = {**USUAL, "chunks": 1, "dp": 1}  # what may be left out
SAID = {"interleaved": "interleaved_1f1b", "looped": "looped_bfs", "bfs": "looped_bfs"}
LETTERS = {"p": "pp", "v": "chunks", "m": "micro_batches", "b": "micro_batch_size", "d": "dp"}  # as the lessons' tables have them
WRITTEN = re.compile(r"\s*[-+]?\d{1,20}(\.\d{1,20})?\s*", re.ASCII)  # a number as text
TYPICAL = Row("1f1b", 4, 1, 8, 4)
EXAMPLE = written(TYPICAL.as_dict())
UNWRITTEN = "..."
CONFIGURATION = {field.name for field in fields(PPConfig)}


class Problem(NamedTuple):
    """A rule that a row breaks, and the nearest row that obeys it. `row` counts from 1; None where it is the whole plan's."""

    row: int | None
    code: str
    text: str
    nearest: Row | None = None

    def __str__(self):
        said = f"Row {self.row}: {self.text}" if self.row else f"The plan: {self.text}"
        return said if self.nearest is None else f"{said} The nearest row that obeys: {written(self.nearest.as_dict())}"


class Plan(NamedTuple):
    """What was read: the sound rows by their number, counted from 1, every problem, and how many rows there are in all."""

    rows: dict[int, Row]
    problems: tuple[Problem, ...]
    count: int


def read_plan(items, layers=None, global_batch=None) -> Plan:
    """Read plain data as a plan: a list of rows, each a dict such as EXAMPLE, and `slow_stage`, `message`, `layers` where wanted.

    All rows have one global batch and one number of layers: those given here, or else those that most of the rows have.
    """
    if isinstance(items, Mapping) and items and all(isinstance(item, Mapping) for item in items.values()):
        items = list(items.values())
    if not isinstance(items, list | tuple):
        return _nothing("not-a-list", f"a list of rows is needed, each such as {EXAMPLE}; found {_show(items)}.")
    if not items:
        return _nothing("no-rows", f"it has no rows; a row is such as {EXAMPLE}.")
    if global_batch is not None and not (_is_count(global_batch) and global_batch <= MOST_SAMPLES):
        return _nothing("global-batch", f"global_batch = {_show(global_batch)}: a whole number from 1 to {MOST_SAMPLES} is "
                        "needed.")
    read = [_read_row(item, LAYERS if layers is None else layers) for item in items]
    sound = [row for row, problem in read if problem is None]
    batch = global_batch or _most([row.global_batch for row in sound]) or BATCH
    wanted = _most([row.layers for row in sound]) or LAYERS
    usual = {name: _most([getattr(row, name) for row in sound]) for name in COUNTS} if len(sound) > 2 else {}
    rows, problems = {}, []
    for number, (row, problem) in enumerate(read, 1):
        problem = problem or _differs(row, batch, wanted)
        if problem is None:
            rows[number] = row
        else:
            near = nearest(vars(row) if isinstance(row, Row) else row, batch, wanted, usual) if row else None
            problems.append(Problem(number, *problem, near))
    if len(items) > MOST_ROWS:
        problems.append(Problem(None, "too-many-rows", f"it has {len(items)} rows, and at most {MOST_ROWS} are run: leave some "
                                "out."))
    return Plan(rows, tuple(problems), len(items))


def nearest(given: Mapping, batch: int = BATCH, layers: int = LAYERS, usual: Mapping | None = None) -> Row | None:
    """The sound row with this global batch and so many layers that changes the least of what is given; None where none is.

    `usual` are the values that most rows have: of two changes as small, what differs from them was meant, and stays.

    >>> nearest(vars(Row("1f1b", 8, 1, 64, 1))).micro_batches
    32
    """
    schedule = given.get("schedule")
    if schedule not in CHOICES:
        schedule = (get_close_matches(_text(schedule)[:40].lower(), CHOICES, 1, cutoff=0.3) or ["1f1b"])[0]
    chunked = SCHEDULES[schedule].chunked
    extra = {name: given[name] for name in FACTORS if name in given and _is_factor(name, given[name])}
    candidates = (
        Row(schedule, pp, chunks, m, batch // (dp * m), dp, layers=layers, **extra)
        for pp in range(1, MOST_PP + 1) if layers % pp == 0
        for chunks in (range(1, layers // pp + 1) if chunked else (1,)) if layers // pp % chunks == 0
        for dp in range(1, MOST_PROCESSES // pp + 1) if batch % dp == 0
        for m in range(1, MOST_MICRO_BATCHES + 1) if batch // dp % m == 0
        if schedule != "interleaved_1f1b" or m % pp == 0)
    return min(candidates, key=lambda row: _distance(given, row, usual or {}), default=None)


def _distance(given, row, usual):
    """How much of a row is changed: how many of its numbers, how many of them that are not the usual ones, then by what factor;
    in place of what is none, from TYPICAL. Last, replicas and ranks stay rather than micro-batches."""
    changed = [name for name in COUNTS if given.get(name) != getattr(row, name)]
    usable = [name for name in changed if _is_count(given.get(name)) and given[name] < 10**9]
    meant = [name for name in usable if name in usual and given[name] != usual[name]]
    factor = sum(abs(math.log((given if name in usable else vars(TYPICAL))[name] / getattr(row, name))) for name in changed)
    return len(changed), len(meant), round(factor, 9), "dp" in changed, "micro_batch_size" in changed


def _nothing(code, text):
    return Plan({}, (Problem(None, code, text),), 0)


def _differs(row, batch, layers):
    """(code, text) where a row that is sound in itself does not go with the others."""
    if row.layers != layers:
        return "other-layers", f"layers = {row.layers}, and the plan has {layers}: all rows train one model."
    if row.global_batch != batch:
        return "other-batch", (f"{row.micro_batches} micro-batches x {row.micro_batch_size} samples x {row.dp} replicas are "
                               f"{row.global_batch} samples, and the plan's global batch is {batch}: it is fixed, so that step "
                               "times can be compared.")
    return None


def _read_row(item, layers):
    """(the row, None); or (what was given by its keys, nothing where it is no row, and the first rule that it breaks)."""
    if isinstance(item, list | tuple) and len(item) == 6:
        item = dict(zip(NAMES, item, strict=False))
    if not isinstance(item, Mapping):
        return None, ("not-a-row", f"a row is a dict such as {EXAMPLE}; found {_show(item)}.")
    if set(item) == CONFIGURATION:
        return None, ("not-a-row", f"a row is a dict such as {EXAMPLE}, not a PPConfig, which knows no schedule.")
    written_out = _by_name({_text(key).strip(): value for key, value in item.items() if value is not None or key not in MISSING})
    given = {**MISSING, "layers": layers, **written_out}
    given |= {name: _number(given[name]) for name in (*COUNTS, *FACTORS) if name in given}
    given["schedule"] = _schedule(given.get("schedule"))
    broken = next(_broken(given), None)
    return (given, broken) if broken else (Row(**given), None)


def _broken(row):
    """(code, text) of the rules that a row by its keys breaks; each is asked only where those before it hold."""
    for name in row:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, 1)
            yield "unknown-key", f"there is no key {_show(name)}{f'; did you mean {near[0]}?' if near else f': {_any(NAMES)}.'}"
    for name in NAMES:
        if row.get(name) in (None, UNWRITTEN):
            yield "missing-key", f"{name} is missing; a row is such as {EXAMPLE}."
    if row["schedule"] not in CHOICES:
        yield "unknown-schedule", f"schedule = {_show(row['schedule'])} is none of those in this table: {_any(CHOICES)}."
    for name in COUNTS:
        if not _is_count(row[name]):
            small = isinstance(row[name], int | float | Fraction) and not isinstance(row[name], bool) and row[name] < 1
            yield ("too-small" if small else "not-whole"), f"{name} = {_show(row[name])}: a whole number of at least 1 is needed."
    for name, (least, most) in FACTORS.items():
        if not _is_factor(name, row[name]):
            yield "not-a-time", f"{name} = {_show(row[name])}: a number from {least} to {most} is needed."
    schedule, pp, chunks, m = row["schedule"], row["pp"], row["chunks"], row["micro_batches"]
    samples = m * row["micro_batch_size"] * row["dp"]
    for name, value, most in (("pp", pp, MOST_PP), ("micro_batches", m, MOST_MICRO_BATCHES),
                              ("layers", row["layers"], MOST_LAYERS),
                              (f"pp x dp = {_show(pp)} x {_show(row['dp'])}", pp * row["dp"], MOST_PROCESSES),
                              ("the global batch", samples, MOST_SAMPLES)):
        if value > most:
            yield "too-large", f"{name} = {_show(value)}: at most {most} can be run here."
    if chunks > 1 and not SCHEDULES[schedule].chunked:
        yield "chunks", f"chunks = {_show(chunks)}: {schedule} has one stage a rank; interleaved_1f1b and looped_bfs have more."
    if schedule == "interleaved_1f1b" and m % pp:
        yield "not-a-multiple", f"micro_batches = {m}: interleaved_1f1b needs a multiple of pp = {pp} (Megatron's rule)."
    if row["layers"] % (pp * chunks):
        yield "layers", (f"pp x chunks = {pp} x {_show(chunks)} stages: {row['layers']} layers cannot be shared out evenly over "
                         "them.")


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_factor(name, value):
    least, most = FACTORS[name]
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool) and least <= value <= most


def _most(values):
    """The most frequent one, the first of them on a tie; None of nothing."""
    return Counter(values).most_common(1)[0][0] if values else None


def _schedule(name):
    """A schedule's name as people write it, by its name in the table."""
    if not isinstance(name, str):
        return name
    plain = "_".join(name.lower().replace("-", " ").replace("_", " ").split())
    return SAID.get(plain, plain) if plain else name


def _by_name(cells):
    """The cells by the names of a row's parts, where a letter or a name in capitals stands for one that is not there."""
    meant = {key: LETTERS.get(key.lower(), key.lower()) for key in cells if key not in NAMES}
    names = Counter([*(key for key in cells if key in NAMES), *meant.values()])
    return {meant[key] if meant.get(key) in NAMES and names[meant[key]] == 1 else key: value for key, value in cells.items()}


def _number(value):
    """4.0, Fraction(4) and "4" as 4, "1.5" as 1.5; all else as it is."""
    if isinstance(value, str) and WRITTEN.fullmatch(value):
        value = float(value) if "." in value else int(value)
    whole = value.denominator == 1 if isinstance(value, Fraction) else isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


def _text(value):
    return value if isinstance(value, str) else _show(value)


def _show(value):
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of so many digits
        text = "a number of more digits than can be shown"
    return text if len(text) <= 40 else text[:40] + "…"


def _any(names):
    return f"{', '.join(names[:-1])} or {names[-1]}"
