"""The tables of the Explorer of layouts: what each axis sends, and the ranking with the layout's place in it."""

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


@lru_cache(maxsize=64)
def ranking(model: Model, cluster: Cluster, max_chunks: int) -> tuple[Evaluation, ...]:
    """All feasible layouts, fastest first; found once for a card, whatever the sliders do."""
    return tuple(search(model, cluster, max_chunks=max_chunks))


def axes(found: Evaluation) -> tuple:
    """Heads, a row an axis, no current row."""
    rows = [(axis.upper(), gb(found.sent[axis]), found.links[axis] or "none", f"{found.parts[axis]:.3g} s") for axis in AXES]
    return ("", "the busiest GPU sends in a step", "slowest link", "time of it"), rows, None


def place_of(found: Evaluation, best: tuple[Evaluation, ...]) -> int | None:
    """The place of a feasible layout among the ranked ones, from 1 on; one that is not among them stands behind its equals."""
    if found.problems:
        return None
    known = next((place for place, one in enumerate(best) if one.layout == found.layout), None)
    return 1 + (sum(one.step_seconds <= found.step_seconds for one in best) if known is None else known)


def ranked(found: Evaluation, best: tuple[Evaluation, ...]) -> tuple:
    """Heads, rows, the current row: the first places, the layout's own and those beside it.

    A layout that does not fit the memory is in no place, behind them all.
    """
    place, rows = place_of(found, best), [(number, one) for number, one in enumerate(best, 1)]
    if place and (place > len(best) or best[place - 1].layout != found.layout):
        rows = [*rows[:place - 1], (place, found), *((number + 1, one) for number, one in rows[place - 1:])]
    shown = [row for row in rows if row[0] <= TOP or (place and abs(row[0] - place) < 2)]
    if found.parts and not place:
        shown.append(("none", found))
    current = next((at for at, (_, one) in enumerate(shown) if one.layout == found.layout), None)
    cells = [(number, _button(one.layout), gb(one.memory_bytes), f"{one.step_seconds:.3f} s",
              f"{one.step_seconds / best[0].step_seconds:.3f}" if best else "") for number, one in shown]
    return ("place", f"layout, of {len(best)} that fit", "memory", "step", "over the fastest"), cells, current


def _button(layout):
    return Take(f"{layout}{', dealt out' * (layout.nodes is not None)}", changes(layout))


def as_lines(heads, rows, current) -> Iterator[str]:
    """A table as text."""
    table = [heads, *[tuple(map(str, row)) for row in rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for number, row in enumerate(table):
        mark = " <- this layout" * (current is not None and number == current + 1)
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + mark
