"""Answers to the open lab's challenges: right in unusual ways, wrong in tempting ways, in every form."""

from typing import NamedTuple

from course import Costs, Operation, Schedule, schedules, simulate
from course.frontier import shortest
from course.schedules.one_f_one_b import alternate
from course.sharing import to_line

PARTS = Costs(1, input_grad=1, weight_grad=1)


class Answer(NamedTuple):
    """`make` gives the answer to challenge `key`; `reached` are the steps reached, `codes` are among the messages' codes."""

    key: str
    name: str
    make: object
    reached: str
    codes: tuple

    def __str__(self):
        return f"{self.key}: {self.name}"


def answers(key, *rows):
    return [Answer(key, name, make, reached, tuple(codes.split())) for name, make, reached, codes in rows]


def orders(schedule):
    """One list of tokens a rank, without stages."""
    return [[operation.short for operation in rank] for rank in schedule.ranks]


def in_rounds(p, m, room):
    return Schedule.of([[Operation(stage, kind, number) for first in range(0, m, room) for kind in "FB"
                         for number in range(first, first + room)] for stage in range(p)])


def warmed(p, m, warm_up):
    """1F1B with another warm-up, a function of the stage."""
    rows = []
    for stage in range(p):
        forwards, backwards = ([Operation(stage, kind, number) for number in range(m)] for kind in "FB")
        rows.append(alternate(forwards, backwards, min(m, warm_up(stage))))
    return Schedule.of(rows)


def split(schedule, put_off=lambda stage: 0):
    """Each B as I, and W so many micro-batches later."""
    rows = []
    for stage, rank in enumerate(schedule.ranks):
        row, late = [], []
        for operation in rank:
            row.append(Operation(stage, "I" if operation.kind == "B" else "F", operation.micro_batch))
            if operation.kind == "B":
                late.append(Operation(stage, "W", operation.micro_batch))
            if operation.kind == "B" and len(late) > put_off(stage):
                row.append(late.pop(0))
        rows.append(row + late)
    return Schedule.of(rows)


def turned(schedule):
    return Schedule.of(schedule.ranks[::-1])


def zb_h1_of(p, m, stage):
    return [operation.short for operation in schedules.zb_h1(p, m).ranks[stage]]


def eager(p, m, stage):
    """A longer warm-up, so that nobody waits for a message."""
    warm_up = min(m, 2 * (p - 1 - stage))
    return [f"F{i}" for i in range(warm_up)] + [
        token for i in range(m) for token in ([f"F{warm_up + i}"] * (warm_up + i < m) + [f"B{i}"])]


PLAIN, H1 = schedules.one_f_one_b(4, 8), schedules.zb_h1(4, 6)
DRAWN, DRAWN_H1 = str(simulate(PLAIN)), str(simulate(H1, PARTS))
BACKWARDS_FIRST_LEGAL = [["F0", "B0"], ["F0", "B0"], ["F0", "B0"], ["B0", "F0"]]
NUMBERED = Schedule.of([[Operation(op.stage, op.kind, 7 - op.micro_batch) for op in rank] for rank in PLAIN.ranks])

ANSWERS = [
    *answers(
        "smallest-memory",
        ("drawn", lambda: DRAWN, "1111", "right step-right memory-right"),
        ("drawn with labels and small letters", lambda: "\n".join(f"stage {row}: {line.lower()}" for row, line in enumerate(
            DRAWN.splitlines())), "1111", "right"),
        ("a list a rank", lambda: orders(PLAIN), "1111", "right"),
        ("a text a rank", lambda: [" ".join(row) for row in orders(PLAIN)], "1111", "right"),
        ("a dict of ranks", lambda: {f"stage {stage}": row for stage, row in enumerate(orders(PLAIN))}, "1111", "right"),
        ("CSV", lambda: PLAIN.to_csv(), "1111", "right"),
        ("a line to share", lambda: to_line(PLAIN), "1111", "right"),
        ("a Schedule", lambda: PLAIN, "1111", "right"),
        ("a timeline", lambda: simulate(PLAIN), "1111", "right"),
        ("a function", lambda: lambda p, m, stage: orders(schedules.one_f_one_b(p, m))[stage], "1111", "right"),
        ("micro-batches from 1", lambda: [" ".join(f"{t[0]}{int(t[1:]) + 1}" for t in row) for row in orders(PLAIN)], "1111",
         "right"),
        ("micro-batches the other way round", lambda: NUMBERED, "1111", "right"),
        ("without a name", lambda: shortest(range(4), 8, room=4).schedule, "1111", "right"),
        ("drawn longer than it need be", lambda: ". " + DRAWN.replace("\n", "\n. "), "1111", "right drawn-longer"),
        ("GPipe", lambda: schedules.gpipe(4, 8), "1110", "step-right holds-more"),
        ("one forward more than 1F1B", lambda: warmed(4, 8, lambda stage: 4 - stage), "1110", "step-right holds-more"),
        ("the same warm-up everywhere", lambda: warmed(4, 8, lambda stage: 3), "1100", "too-long last-stage-late"),
        ("twice the warm-up", lambda: warmed(4, 8, lambda stage: 6 - 2 * stage), "1110", "holds-more"),
        ("GPipe in rounds", lambda: in_rounds(4, 8, 4), "1100", "too-long in-rounds"),
        ("one at a time", lambda: warmed(4, 8, lambda stage: 0), "1100", "too-long too-little-room"),
        ("too lean", lambda: shortest(range(4), 8, room=3).schedule, "1100", "too-long too-little-room"),
        ("too short a warm-up", lambda: warmed(4, 8, lambda stage: max(0, 2 - stage)), "1100", "too-long"),
        ("upside down", lambda: turned(PLAIN), "0000", "other-ranks"),
        ("warm-up upside down", lambda: warmed(4, 8, lambda stage: stage), "1000", "deadlock"),
        ("split backwards", lambda: schedules.zb_h1(4, 8), "0100", "split-backward"),
        ("another size", lambda: schedules.one_f_one_b(4, 4), "0000", "other-micro-batches"),
        ("three stages", lambda: schedules.one_f_one_b(3, 8), "0000", "other-ranks"),
        ("chunks", lambda: schedules.interleaved_1f1b(4, 8, 2), "0000", "other-ranks"),
        ("a row too few", lambda: "\n".join(DRAWN.splitlines()[:3]), "0000", "missing"),
        ("the last one forgotten", lambda: DRAWN.replace("B7", ". "), "0000", "missing"),
        ("drawn too early", lambda: DRAWN.replace(".  F0", "F0", 1), "1000", "too-early"),
        ("a backward before its forward", lambda: [["B0", "F0", *row[2:]] if rank == 3 else row for rank, row in enumerate(
            orders(PLAIN))], "1000", "order"),
        ("too few operations", lambda: BACKWARDS_FIRST_LEGAL, "0000", "missing order"),
        ("twice", lambda: [[*row, row[0]] for row in orders(PLAIN)], "0000", "repeated"),
        ("no schedule", lambda: 22, "0000", "unreadable"),
        ("None", lambda: None, "0000", "unreadable"),
        ("a token that is none", lambda: DRAWN.replace("F3", "X3"), "0000", "unreadable"),
        ("a function that raises", lambda: lambda p, m, stage: 1 / 0, "0000", "unreadable"),
        ("a function of nothing", lambda: lambda: PLAIN, "0000", "unreadable")),
    *answers(
        "beat-1f1b",
        ("GPipe", lambda: schedules.gpipe(4, 8), "111", "right at-the-floor price"),
        ("a longer warm-up", lambda: eager, "111", "right price"),
        ("a warm-up longer by one", lambda: warmed(4, 8, lambda stage: 4 - stage), "111", "right above-the-floor"),
        ("split backwards", lambda: schedules.zb_h1(4, 8), "111", "right above-the-floor price"),
        ("some backwards split", lambda: half_split(), "111", "right"),
        ("drawn without messages", lambda: str(simulate(schedules.gpipe(4, 8))), "111", "right at-the-floor"),
        ("1F1B", lambda: PLAIN, "110", "too-long"),
        ("1F1B, drawn with backwards of two slots", lambda: str(simulate(PLAIN, Costs(1, 2))), "110", "too-long"),
        ("no warm-up", lambda: warmed(4, 8, lambda stage: 0), "110", "too-long"),
        ("rounds of two", lambda: in_rounds(4, 8, 2), "110", "too-long"),
        ("more micro-batches", lambda: schedules.gpipe(4, 32), "000", "other-micro-batches"),
        ("chunks", lambda: schedules.zb_v(4, 8), "000", "other-ranks"),
        ("a circle", lambda: warmed(4, 8, lambda stage: stage), "100", "deadlock")),
    *answers(
        "zb-h1",
        ("drawn", lambda: DRAWN_H1, "1111", "right step-right memory-right"),
        ("a function", lambda: zb_h1_of, "1111", "right"),
        ("a list a rank", lambda: orders(H1), "1111", "right"),
        ("CSV", lambda: H1.to_csv(), "1111", "right"),
        ("another order that is as good", lambda: shortest(range(4), 6, PARTS, split=True, room=4).schedule, "1111", "right"),
        ("whole backwards", lambda: schedules.one_f_one_b(4, 6), "0100", "whole-backwards"),
        ("one backward left whole", lambda: one_whole(), "0100", "whole-backwards"),
        ("every W at once", lambda: split(schedules.one_f_one_b(4, 6)), "1100", "too-long w-right-behind"),
        ("every W at the end", lambda: split(schedules.one_f_one_b(4, 6), lambda stage: 6), "1100",
         "too-long w-at-the-end holds-more"),
        ("W's put off the wrong way round", lambda: split(schedules.one_f_one_b(4, 6), lambda stage: 3 - stage), "1100",
         "too-long holds-more"),
        ("ZB-H2", lambda: schedules.zb_h2(4, 6), "1110", "step-right holds-more"),
        ("GPipe split", lambda: split(schedules.gpipe(4, 6)), "1100", "too-long holds-more"),
        ("W before I", lambda: [[{"I": "W", "W": "I"}.get(t[0], t[0]) + t[1:] for t in row] for row in orders(H1)], "1000",
         "order"),
        ("no W", lambda: [[token for token in row if token[0] != "W"] for row in orders(H1)], "0000", "missing"),
        ("I, W and B", lambda: [[*row, "B0"] for row in orders(H1)], "0000", "whole-beside-split"),
        ("eight micro-batches", lambda: schedules.zb_h1(4, 8), "0000", "other-micro-batches"),
        ("ZB-V", lambda: schedules.zb_v(4, 6), "0000", "other-ranks"),
        ("an I too early", lambda: DRAWN_H1.replace(".  I0", "I0 .", 1), "1000", "too-early")),
]


def half_split():
    """GPipe with the first half of its backwards split."""
    whole = schedules.gpipe(4, 8)
    rows = [[part for op in rank for part in ([Operation(op.stage, "I", op.micro_batch), Operation(op.stage, "W", op.micro_batch)]
                                              if op.kind == "B" and op.micro_batch < 4 else [op])] for rank in whole.ranks]
    return Schedule.of(rows)


def one_whole():
    """ZB-H1 whose last backward on stage 0 is whole."""
    rows = orders(H1)
    return [[*rows[0][:-2], "B5"], *rows[1:]]
