"""An experiment plan as a TOML file: read, and written as the template that a reader fills in."""

import re
import tomllib
from collections.abc import Sequence

from course.plan import DEFAULT, NAMES, Row, literal
from course.plan_rules import Plan, Problem, read_plan

TABLE, TOP = "row", ("layers", "global_batch", "row")
HEAD = """\
# A plan for an experiment table: python -m course table THIS_FILE
# Every row trains the same model, with one global batch = micro_batches x micro_batch_size x dp.
#   schedule          gpipe, 1f1b, interleaved_1f1b (micro_batches a multiple of pp) or looped_bfs
#   pp                ranks of a pipeline, at most 8;  chunks: stages a rank;  dp: replicas of the pipeline
#   slow_stage        if you like: how many times slower one stage in the middle is
#   message           if you like: for how long a message takes its link (a layer's forward takes 3, and 2 a sample)
"""


def plan_from_toml(text: str) -> Plan:
    """Read a plan: `layers` and `global_batch` if wanted, and a [[row]] for each row. What is wrong is among its problems."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Plan({}, (Problem(None, "not-toml", f"it is no TOML: {error}.{_brackets(text)}"),), 0)
    strange = [key for key in found if key not in TOP]
    if strange:
        return Plan({}, (Problem(None, "unknown-key", f"there is no key {strange[0]!r} outside the rows: a row begins with "
                                 f"[[{TABLE}]], and before the first one layers and global_batch may stand."),), 0)
    if isinstance(found.get(TABLE), dict):
        return Plan({}, (Problem(None, "one-bracket", f"it has no list of rows.{_brackets(text)}"),), 0)
    return read_plan(found.get(TABLE, []), found.get("layers"), found.get("global_batch"))


def _brackets(text):
    """What to change where a row has single brackets; empty where none has."""
    single = re.search(rf"^\s*\[\s*{TABLE}\s*\]", text, re.MULTILINE)
    return f" Each row begins with [[{TABLE}]], in double brackets; found [{TABLE}]." if single else ""


def plan_to_toml(rows: Sequence[Row] = DEFAULT) -> str:
    """The rows as a plan with its explanation: read again, it gives the same rows. All have one global batch and layers."""
    lines = [HEAD, f"layers = {rows[0].layers}", f"global_batch = {rows[0].global_batch}"]
    for row in rows:
        kept = [name for name in NAMES if name != "layers" and (name in row.as_dict())]
        lines += ["", f"[[{TABLE}]]", *(f"{name} = {literal(getattr(row, name))}" for name in kept)]
    return "\n".join(lines) + "\n"
