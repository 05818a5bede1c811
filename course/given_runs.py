"""Rows of an experiment table that somebody else runs: where answers are graded no process of a pipeline is started.

The grader begins it in the process of a learner's cells, reads which rows were asked for, and gives their records.
"""

from collections.abc import Mapping, Sequence

from course.plan import Row
from course.plan_rules import read_plan

_given: dict[str, dict] | None = None
_asked: dict[str, dict] = {}


class NotGiven(ValueError):
    """This row was asked for and has not been run yet."""


def begin():
    """From now on rows are not run in this process: they are asked for."""
    global _given
    _given = {}


def is_begun() -> bool:
    """Whether rows are run elsewhere."""
    return _given is not None


def take(row: Row, slot_seconds: float) -> dict:
    """The record of a row that was given. NotGiven where it was not; then it is asked for."""
    if row.key not in _given:
        _asked[row.key] = row.as_dict()
        raise NotGiven("the grader runs it")
    return {**_given[row.key], "slot_seconds": slot_seconds, "overruns": 0}


def asked() -> list[dict]:
    """The rows that were asked for and are not given yet."""
    return [given for key, given in _asked.items() if key not in _given]


def give(lines: Sequence[Mapping]):
    """Take the lines of a table, each the record of its row; what else was asked for is not run, and no longer asked for."""
    _asked.clear()
    for line in lines:
        for row in read_plan([{name: line[name] for name in Row.__dataclass_fields__}]).rows.values():
            _given[row.key] = dict(line)
