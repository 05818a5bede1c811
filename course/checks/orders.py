"""Reading a learner's order of operations: a list of tokens, however it is written; and a schedule from a function of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from course.checks.fresh import drawn, is_seeded
from course.checks.functions import always_the_same, ask, call, no_reply
from course.checks.outcome import Message, show_value
from course.drawing import IDLE
from course.schedule import Operation, Schedule

TOKEN = re.compile(r"(\d{0,6})([FBIW])(\d{1,6})", re.ASCII)


class NoOrder(ValueError):
    """A value that is no order; the text says why, `code` names the kind."""

    def __init__(self, code: str, text: str):
        super().__init__(text)
        self.code = code


def read_order(value, stage: int | None = None) -> tuple[Operation, ...]:
    """The operations of one rank, from plain data. `stage` is that of tokens that name none; None where each must.

    A list of tokens, one text of them, (kind, micro-batch) or (stage, kind, micro-batch) lists, Operations; lists of these, one
    after the other; small letters are read as capitals, idle cells are left out. NoOrder names the first item that is no token.

    >>> read_order("f0 . B0", stage=1) == read_order([["F", 0], ["B", 0]], stage=1)
    True
    """
    if isinstance(value, str):
        value = re.split(r"[\s,|'\"]+", value.strip(" \t\n,|'\"[]()"))
    if not isinstance(value, Sequence):
        raise NoOrder("not-a-list", f"a list of tokens is asked for, found {show_value(value)}")
    return tuple(operation for position, item in enumerate(_flat(value)) if (operation := _read(item, stage, position)))


def cells_of(row):
    """The cells of a row of a data frame, which comes as a dict by their columns' numbers; another row as it is."""
    if isinstance(row, dict) and list(row) == list(range(len(row))):
        return [cell for cell in row.values() if cell is not None]
    return row


def _flat(items):
    """The items of lists in lists, such as one for each phase, in turn; a list that is a token stays one."""
    for item in map(cells_of, items):
        if isinstance(item, list) and not TOKEN.fullmatch("".join(map(str, item)).upper() if len(item) in (2, 3) else ""):
            yield from _flat(item)
        else:
            yield item


def _read(item, stage, position):
    example = "`F0` or `B0`" if stage is not None else "`0F0` or `4B0`: <stage><kind><micro-batch>"
    if isinstance(item, dict):
        item = list(item.values())
    text = "".join(map(str, item)) if isinstance(item, list) and 2 <= len(item) <= 3 else item
    if not isinstance(text, str):
        raise NoOrder("not-a-token", f"item {position}, {show_value(item)}, is no token; write {example}")
    text = "".join(text.split()).upper()
    if text in (IDLE, ""):
        return None
    match = TOKEN.fullmatch(text)
    if not match:
        raise NoOrder("not-a-token", f"item {position}, {show_value(item)}, is no token; write {example}")
    if not match[1] and stage is None:
        raise NoOrder("no-stage", f"item {position}, {show_value(item)}, does not say its stage; write {example}")
    return Operation(int(match[1]) if match[1] else stage, match[2], int(match[3]))


def arguments_of(p: int, m: int, v: int | None = None) -> list[tuple]:
    """What a function of orders is asked with, a rank each: (p, m, stage), or (p, m, v, rank) where there are chunks."""
    return [(p, m, rank) if v is None else (p, m, v, rank) for rank in range(p)]


def holds_at_all(judged: Mapping, qualities: Sequence[str], sizes: Sequence[tuple]) -> list[str]:
    """Those of the qualities that hold at all of these sizes."""
    return [quality for quality in qualities if all(getattr(judged[size], quality) for size in sizes)]


def shares_of_sizes(answer, judged: Mapping, qualities: Sequence[str], asked: Sequence[tuple], more: Sequence[tuple],
                    alike: Sequence[Callable], judge: Callable) -> dict[str, Fraction]:
    """Quality -> the share of the asked sizes at which it holds: all of them where it holds at the drawn ones, `more`, too.

    Otherwise only the sizes count at one of whose like it holds as well: each of `alike` makes a size into a list of such
    sizes, of which one is drawn and given to `judge`. So what is right at some sizes only keeps its share, and a table of the
    asked ones has none. Without a seed nothing is drawn, and each size counts.
    """
    whole = holds_at_all(judged, qualities, (*asked, *more))
    partial = [quality for quality in qualities if quality not in whole]
    held = {size: {quality for quality in partial if getattr(judged[size], quality)} for size in asked}
    counted = {size: set() for size in asked} if is_seeded(answer) else held
    for of_its_kind in alike:
        drawn_for = {}
        for size in asked:
            near = [one for one in of_its_kind(*size) if one not in asked]
            if near and held[size] - counted[size]:
                drawn_for[size] = drawn(answer, lambda random, near=near: random.choice(near), count=1)[0]
        found = judge(list(dict.fromkeys(drawn_for.values()))) if drawn_for else {}
        for size, one in drawn_for.items():
            counted[size] |= {quality for quality in held[size] if getattr(found[one], quality)}
    most = len(asked) - bool(more)  # it fails at a drawn size, or at one that is asked
    return {quality: Fraction(1) if quality in whole else
            Fraction(min(most, sum(quality in found for found in counted.values())), len(asked)) for quality in qualities}


class Orders(NamedTuple):
    """What a function of orders gives: replies by arguments, what became of each size, quality -> share of the usual sizes."""

    replies: dict
    judged: dict
    shares: dict[str, Fraction]
    constant: bool  # one order for all sizes, which has no share of anything

    @property
    def right(self) -> bool:
        """Whether nothing is to be said against any size."""
        return all(found.right for found in self.judged.values())


def ask_orders(answer, judge: Callable, qualities: Sequence[str], usual: Sequence[tuple], edges: Sequence[tuple],
               draw_usual: Callable, draw_edge: Callable, alike: Sequence[Callable]) -> Orders:
    """Ask for all orders of these sizes, and where they are right for those of drawn ones.

    `judge(replies, *size)` says what became of a size, `right` and each of the qualities; `alike` as in `shares_of_sizes`.
    """
    def asked(sizes):
        replies = ask(answer, [arguments for size in sizes for arguments in arguments_of(*size)])
        return replies, {size: judge(replies, *size) for size in sizes}

    replies, judged = asked((*usual, *edges))
    constant = always_the_same(replies)
    more = drawn(answer, draw_usual, usual, 1) if holds_at_all(judged, qualities, usual) else []
    few = drawn(answer, draw_edge, edges, 1) if all(found.right for found in judged.values()) else []
    new_replies, new = asked((*more, *few))
    judged = {size: judged.get(size) or new[size] for size in (*usual, *more, *edges, *few)}
    shares = dict.fromkeys(qualities, Fraction(0)) if constant else shares_of_sizes(
        answer, judged, qualities, usual, more, alike, lambda sizes: asked(sizes)[1])
    return Orders(replies | new_replies, judged, shares, constant)


def whole_backwards(schedule: Schedule) -> Message | None:
    """The message about an order whose backwards are split into I and W; None where each is one operation, B."""
    if any(operation.kind in "IW" for row in schedule.ranks for operation in row):
        return Message("split-backward", "Here a backward is one operation, B, not I and W.")
    return None


def ask_schedule(answer, name: str, p: int, m: int, v: int | None = None) -> Schedule | Message:
    """The schedule that a learner's function of orders makes, legal or not; the message why where it makes none."""
    return schedule_from(ask(answer, arguments_of(p, m, v)), name, p, m, v)


def schedule_from(replies: Mapping[tuple, object], name: str, p: int, m: int, v: int | None = None) -> Schedule | Message:
    """The schedule out of the replies to `arguments_of` these sizes; the message about the first reply that is no order.

    Micro-batches may carry any m numbers: they are taken as 0 to m-1 in their order. Stages may be counted from 1. Without
    chunks a token needs no stage.
    """
    wanted = "It is the list of tokens, in the order in which they run."
    orders = []
    for rank, arguments in enumerate(arguments_of(p, m, v)):
        reply = replies.get(arguments)
        if trouble := no_reply(name, arguments, reply, wanted, replies.values()):
            return trouble
        try:
            orders.append(read_order(reply, rank if v is None else None))
        except NoOrder as error:
            return Message(error.code, f"{call(name, arguments)}: {error}.")
    stages = p * (v or 1)
    if _stages_from_one(orders, stages):
        orders = [[Operation(op.stage - 1, op.kind, op.micro_batch) for op in order] for order in orders]
    new = _new_numbers(orders, m)
    ranks = tuple(tuple(Operation(op.stage, op.kind, new[op.micro_batch]) for op in order) for order in orders)
    return Schedule(ranks, tuple(stage % p for stage in range(stages)), m)


def _stages_from_one(orders, stages):
    return all(1 <= op.stage <= stages and (op.stage - 1) % len(orders) == rank
               for rank, order in enumerate(orders) for op in order)


def _new_numbers(orders, m):
    """The micro-batches as they are written -> as they are meant, from 0."""
    numbers = sorted({operation.micro_batch for order in orders for operation in order})
    if len(numbers) == m:
        return {number: index for index, number in enumerate(numbers)}
    first = 1 if numbers and numbers[0] >= 1 and numbers[-1] == m else 0
    return {number: number - first for number in numbers}


def taken_as(replies: Mapping[tuple, object], p: int, m: int, v: int | None = None) -> list[Message]:
    """What to say where `schedule_from` made a schedule of these replies and took numbers for others: not counted from 0."""
    orders = [read_order(replies[arguments], rank if v is None else None) for rank, arguments in enumerate(arguments_of(p, m, v))]
    new, said = _new_numbers(orders, m), {}
    if any(orders) and _stages_from_one(orders, p * (v or 1)):
        said["stages-from-one"] = "Your stages are counted from 1: taken as such. Here they are counted from 0."
    if new and all(number == index + 1 for number, index in new.items()):
        said["micro-batches-from-one"] = (f"Your micro-batches are counted from 1, {min(new)} to {max(new)} with m={m}: taken as "
                                          "such. Here they are counted from 0.")
    elif any(number != index for number, index in new.items()):
        said["micro-batches-renamed"] = (f"Your micro-batches are numbered {', '.join(map(str, sorted(new)[:3]))} and so on: "
                                         f"taken as 0 to {m - 1}, in that order.")
    return [Message(code, text, good=True) for code, text in said.items()]
