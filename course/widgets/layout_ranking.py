"""The tables of the Explorer of layouts: what each axis sends, and the ranking with the layout's place in it."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from course.layout.cluster import Cluster
from course.layout.evaluation import Evaluation
from course.layout.model import Model
from course.layout.placement import AXES
from course.layout.search import search
from course.widgets.layout_setting import changes
from course.widgets.still import Take
from course.words import gb

TOP = 8  # places that are shown whatever the layout's own is
SAME = 1e-9  # relative: steps that differ by rounding alone


@lru_cache(maxsize=64)
def ranking(model: Model, cluster: Cluster, max_chunks: int) -> tuple[Evaluation, ...]:
    """All feasible layouts, fastest first; found once for a card, whatever the sliders do."""
    return tuple(search(model, cluster, max_chunks=max_chunks))


def axes(found: Evaluation) -> tuple:
    """Heads, a row an axis, no current row."""
    rows = [(axis.upper(), gb(found.sent[axis]), found.links[axis] or "none", f"{found.parts[axis]:.3g} s") for axis in AXES]
    return ("", "the busiest GPU sends in a step", "slowest link", "time of it"), rows, None


def place_of(found: Evaluation, best: tuple[Evaluation, ...]) -> int | None:
    """The place of a feasible layout among the ranked ones, from 1 on; equals share a place."""
    return None if found.problems else 1 + sum(one.step_seconds < found.step_seconds * (1 - SAME) for one in best)


def ranked(found: Evaluation, best: tuple[Evaluation, ...]) -> tuple:
    """Heads, rows, the current row: the first places, the layout's own and those beside it.

    A layout that does not fit the memory is in no place, behind them all.
    """
    rows, own = list(best), next((at for at, one in enumerate(best) if one.layout == found.layout), None)
    if own is None and found.parts:
        own = len(rows) if found.problems else bisect_right(rows, found.step_seconds, key=lambda one: one.step_seconds)
        rows.insert(own, found)
    shown = [at for at in range(len(rows)) if at < TOP or (own is not None and abs(at - own) < 2)]
    cells = [(place_of(rows[at], best) or "none", _button(rows[at].layout), gb(rows[at].memory_bytes),
              f"{rows[at].step_seconds:.3f} s", f"{rows[at].step_seconds / best[0].step_seconds:.3f}" if best else "")
             for at in shown]
    heads = "place", f"layout, of {len(best)} that fit", "memory", "step", "over the fastest"
    return heads, cells, None if own is None else shown.index(own)


def _button(layout):
    return Take(f"{layout}{', dealt out' * (layout.nodes is not None)}", changes(layout))


def as_lines(heads, rows, current) -> Iterator[str]:
    """A table as text."""
    table = [heads, *[tuple(map(str, row)) for row in rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for number, row in enumerate(table):
        mark = " <- this layout" * (current is not None and number == current + 1)
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + mark
