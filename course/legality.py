"""Every fault of a schedule or a timeline, each with its place and its reason: happens-before, checked once for all."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

from course.graph import NONE, WIDTH, B, F, Graph, I, W, graph
from course.schedule import Operation, Schedule
from course.timeline import Timeline


@dataclass(frozen=True)
class Violation:
    """One fault. `position` is the index in the rank's order, None where an operation is missing.

    Codes: unknown, repeated, wrong-rank, missing, whole-beside-split, order, deadlock; for times too-early, overlap.
    """

    code: str
    rank: int
    position: int | None
    message: str


class Standing(NamedTuple):
    """A rank that goes no further: the operation at which it stands, the one that this waits for, and on which rank that is."""

    rank: int
    operation: Operation
    needed: Operation
    on: int


def violations(subject: Schedule | Timeline) -> list[Violation]:
    """Every fault of a schedule (completeness, order, deadlock) or of a timeline (completeness, starts, overlap)."""
    schedule = subject.schedule if isinstance(subject, Timeline) else subject
    plan = graph(schedule)
    found = _content(schedule, plan)
    if isinstance(subject, Timeline):
        return found + _starts(subject, plan) + _overlaps(subject)
    if len(execution_order(plan)) < sum(map(len, plan.orders)):
        found += _order(schedule, plan)
    return found


def execution_order(plan: Graph) -> list[int]:
    """Codes in an order in which they can run; shorter than the plan where it deadlocks. What is missing holds nobody up."""
    done = bytearray(rank == NONE for rank in plan.rank_of)
    own, other, ran, pointers = plan.own, plan.other, [], [0] * len(plan.orders)
    waiting = {}  # code -> the ranks that wait for it
    ready = list(reversed(range(len(plan.orders))))
    while ready:
        rank = ready.pop()
        order = plan.orders[rank]
        for index in range(pointers[rank], len(order)):
            code = order[index]
            need = own[code]
            if need == NONE or done[need]:
                need = other[code]
                if need == NONE or done[need]:
                    done[code] = 1
                    ran.append(code)
                    if code in waiting:
                        ready += waiting.pop(code)
                    continue
            waiting.setdefault(need, []).append(rank)
            pointers[rank] = index
            break
        else:
            pointers[rank] = len(order)
    return ran


def _content(schedule, plan):
    """What is there that should not be, and what should be and is not."""
    found, stages, micro_batches = [], schedule.stages, schedule.micro_batches

    def add(code, rank, position, text):
        found.append(Violation(code, rank, position, text))

    homes = schedule.stage_to_rank
    for rank, position in plan.unknown:
        operation = schedule.ranks[rank][position]
        known_stage = 0 <= operation.stage < stages
        rule = f"micro-batches are 0 to {micro_batches - 1}" if known_stage else f"stages are 0 to {stages - 1}"
        add("unknown", rank, position,
            f"{schedule.label_on(rank, operation)} on {schedule.place(rank)} does not exist: {rule}")

    def strayed(rank, position):
        operation = schedule.ranks[rank][position]
        home = schedule.place(homes[operation.stage])
        add("wrong-rank", rank, position, f"{operation} is on {schedule.place(rank)}, but "
            + (f"is one of {home}" if schedule.rank_is_stage else f"stage {operation.stage} lives on {home}"))

    for rank, position in plan.repeated:
        operation = schedule.ranks[rank][position]
        add("repeated", rank, position,
            f"{schedule.label_on(rank, operation)} is there more than once, "
            f"again on {schedule.place(rank)}")
        if homes[operation.stage] != rank:
            strayed(rank, position)
    unit_width = micro_batches * WIDTH
    for rank, order in enumerate(plan.orders):
        for code in order:
            if homes[code // unit_width] != rank:
                strayed(rank, plan.position_of[code])
    rank_of = plan.rank_of
    for base in range(0, len(rank_of), WIDTH):
        forward, whole, input_grad, weight_grad = (rank != NONE for rank in rank_of[base:base + WIDTH])
        if forward and whole and not (input_grad or weight_grad):
            continue
        rank = homes[base // unit_width]
        if whole and (input_grad or weight_grad):
            extra = base + (I if input_grad else W)
            add("whole-beside-split", rank_of[extra], plan.position_of[extra],
                f"{schedule.label(plan.operation(base + B))} on {schedule.place(rank)} is a whole backward, so "
                f"{schedule.label(plan.operation(extra))} would do a part of it twice: keep B, or I and W")
        missing = [] if forward else [F]
        if not whole:
            missing += [B] if not (input_grad or weight_grad) else [I] if not input_grad else [] if weight_grad else [W]
        for kind in missing:
            add("missing", rank, None,
                f"{schedule.label(plan.operation(base + kind))} is missing on {schedule.place(rank)}")
    return found


def _needs(plan, code):
    return [need for need in (plan.own[code], plan.other[code]) if need != NONE and plan.rank_of[need] != NONE]


def _order(schedule, plan):
    """Operations that come before what they need on their own rank; then, with those mended, the deadlocks left."""
    mended, early = _mended(plan)
    found = [Violation("order", plan.rank_of[code], plan.position_of[code],
                       f"{_name(schedule, plan, code)} comes before {_name(schedule, plan, need)}, "
                       f"which it needs, on {schedule.place(plan.rank_of[code])}") for code, need in early]
    for cycle in _cycles(mended):
        links = "; ".join(in_words(schedule, standing) for standing, _ in cycle)
        first, position = cycle[0]
        found.append(Violation("deadlock", first.rank, position, f"{'with that mended, ' * bool(early)}deadlock: {links}"))
    return found


def _mended(plan):
    """The plan without the needs that come later on the same rank, and those as pairs of codes."""
    own, other, early = list(plan.own), list(plan.other), []
    for rank, order in enumerate(plan.orders):
        for code in order:
            for needs in (own, other):
                need = needs[code]
                if need != NONE and plan.rank_of[need] == rank and plan.position_of[need] > plan.position_of[code]:
                    needs[code] = NONE
                    early.append((code, need))
    return Graph(plan.orders, plan.rank_of, plan.position_of, own, other, [], [], plan.micro_batches), early


def cycles(schedule: Schedule) -> tuple[tuple[Standing, ...], ...]:
    """The deadlocks: in each, every rank stands at an operation that needs one of the next rank, the last one of the first's.

    What comes before its own need on one rank is an `order` fault, and held for mended here.
    """
    mended, _ = _mended(graph(schedule))
    return tuple(tuple(standing for standing, _ in cycle) for cycle in _cycles(mended))


def _cycles(plan):
    """The cycles as lists of (Standing, the position at which the rank stands)."""
    done, stands = set(execution_order(plan)), {}
    for rank, order in enumerate(plan.orders):
        code = next((code for code in order if code not in done), NONE)
        if code != NONE:
            need = next(need for need in _needs(plan, code) if need not in done)
            stands[rank] = (Standing(rank, plan.operation(code), plan.operation(need), plan.rank_of[need]),
                            plan.position_of[code])
    return [[stands[rank] for rank in ring] for ring in rings({rank: standing.on for rank, (standing, _) in stands.items()})]


def rings(waits_for: Mapping[int, int]) -> list[list[int]]:
    """The cycles among ranks each of which waits for one other.

    >>> rings({0: 1, 1: 2, 2: 1, 3: 3, 4: 9})
    [[1, 2], [3]]
    """
    found, visited = [], set()
    for first in waits_for:
        path, rank = [], first
        while rank in waits_for and rank not in visited:
            visited.add(rank)
            path.append(rank)
            rank = waits_for[rank]
        if rank in path:
            found.append(path[path.index(rank):])
    return found


def in_words(schedule: Schedule, standing: Standing) -> str:
    """Where a rank stands, in a sentence."""
    return (f"{schedule.place(standing.rank)} is at {schedule.label_on(standing.rank, standing.operation)} and waits for "
            f"{schedule.label_on(standing.on, standing.needed)} of {schedule.place(standing.on)}")


def _name(schedule, plan, code):
    return schedule.label(plan.operation(code))


def _starts(timeline, plan):
    """Operations that start before what they need has ended."""
    schedule, found = timeline.schedule, []
    unit = "slot" if isinstance(timeline.makespan, Integral) else "time"
    for rank, order in enumerate(plan.orders):
        for code in order:
            position = plan.position_of[code]
            start = timeline.starts[rank][position]
            for need in _needs(plan, code):
                end = timeline.ends[plan.rank_of[need]][plan.position_of[need]]
                if end > start:
                    found.append(Violation(
                        "too-early", rank, position,
                        f"{_name(schedule, plan, code)} on {schedule.place(rank)} starts at {unit} {start}, but needs "
                        f"{_name(schedule, plan, need)} of {schedule.place(plan.rank_of[need])}, "
                        f"which ends at {unit} {end}"))
    return found


def _overlaps(timeline):
    """Operations that start before the one before them on the same rank has ended."""
    found, schedule = [], timeline.schedule
    for rank, operations in enumerate(schedule.ranks):
        starts, ends = timeline.starts[rank], timeline.ends[rank]
        found += [Violation("overlap", rank, position, f"{schedule.label(operation)} on {schedule.place(rank)} starts at "
                                                       f"{starts[position]}, but ends at {ends[position]}")
                  for position, operation in enumerate(operations) if not starts[position] <= ends[position]]
        for position in range(1, len(operations)):
            if starts[position] < ends[position - 1]:
                found.append(Violation("overlap", rank, position,
                                       f"{schedule.label(operations[position])} on {schedule.place(rank)} starts at "
                                       f"{starts[position]}, while {schedule.label(operations[position - 1])} runs "
                                       f"until {ends[position - 1]}"))
    return found
