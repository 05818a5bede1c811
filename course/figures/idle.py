"""Idle stretches in a figure: what each waits for, on hover and as lines of text."""

import heapq
from collections import Counter
from collections.abc import Sequence
from html import escape

from course.figures.layout import BAR, Layout
from course.figures.svg import box
from course.timeline import Timeline
from course.waiting import REASONS, Wait
from course.words import between, counted, number, units

MOST_HOVERED = 600  # each costs an element
MOST_LINES = 24  # above, the text form sums up
MOST_RANKS = 16  # above, all of them together
GROUPS = dict(zip(REASONS, ("waiting for operations of other ranks", "waiting for messages on their way", "drain",
                            "left idle although nothing stops the next operation"), strict=True))


def said(wait: Wait, unit: str) -> str:
    """A stretch in a line: `idle, slot 0 to 1: stage 1 waits for F0 of stage 0, which ends at slot 1`."""
    return f"idle, {between(wait.start, wait.end, unit)}: {wait.message}"


def hovers(waits: Sequence[Wait], layout: Layout, unit: str) -> str:
    """An unseen box over each stretch that says why, the longest ones where they are very many."""
    shown = heapq.nlargest(MOST_HOVERED, waits, key=lambda wait: wait.end - wait.start)
    found = [f'<path d="{box(layout.x(wait.start), layout.y(wait.rank), layout.x(wait.end) - layout.x(wait.start), BAR)}">'
             f"<title>{escape(said(wait, unit))}</title></path>" for wait in shown]
    return f'<g fill="none" pointer-events="all">{"".join(found)}</g>' if found else ""


def idle_lines(timeline: Timeline, waits: Sequence[Wait], unit: str) -> list[str]:
    """A line for each stretch; where they are many, one for each rank and reason; for many ranks, one for each reason."""
    if len(waits) <= MOST_LINES:
        return [said(wait, unit) for wait in waits]
    many = len(timeline.schedule.ranks) > MOST_RANKS
    times, stretches = Counter(), Counter()
    for wait in waits:
        group = (None if many else wait.rank, wait.reason)
        times[group] += wait.end - wait.start
        stretches[group] += 1
    lines = []
    for (rank, reason), time in times.items():
        where = "all ranks together" if rank is None else timeline.schedule.place(rank)
        lines.append(f"idle on {where}: {number(time)} {unit if time == 1 else units(unit)} {GROUPS[reason]}, "
                     f"in {counted(stretches[rank, reason], 'stretch')}")
    return lines
