"""Asking a learner's function for bytes: a product of named pieces, and a wrong idea is a piece that was taken for another."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from math import prod
from random import Random
from typing import NamedTuple

from course.answers import Record
from course.checks.fresh import confirm
from course.checks.functions import Named, Slip, ask, call, first_wrong, no_reply, slip_of
from course.checks.outcome import Message, Step, as_number, near, show_found
from course.formulas import peak_chunks
from course.layout.model import Model
from course.layout.placement import Layout

TOLERANCE = 0.01
UNITS = {"": 1, "b": 1, "byte": 1, "bytes": 1, **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)},
         **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}}
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(?![0-9,])", re.ASCII)
QUANTITY = re.compile(r"([-+]?[0-9.,_]+(?:e[-+]?[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)
WANTED = 'It returns bytes: a number, or text with its unit such as "1.5 GB".'


class Letters:
    """A layout and a model by the letters of the papers: t, p, d, b, v, m; B, L, h, a, s. `option` is a third argument."""

    def __init__(self, layout: Layout, model: Model, option=None):
        self.layout, self.model, self.option = layout, model, option
        self.t, self.p, self.d, self.b, self.v = layout.tp, layout.pp, layout.dp, layout.micro_batch_size, layout.chunks
        self.m, self.B = layout.micro_batches(model), model.global_batch
        self.L, self.h, self.a, self.s = model.layers, model.hidden, model.heads, model.sequence

    @property
    def layer_parameters(self) -> float:
        """Parameters of the layers of a stage, all of them on each GPU."""
        return self.L / self.p * self.model.layer_parameters

    @property
    def held(self) -> int:
        """Chunks in flight on the first rank."""
        return peak_chunks(self.p, self.m, self.v, rank=0)


Pieces = Mapping[str, Callable[[Letters], float]]


class Idea(NamedTuple):
    """An idea, wrong or another convention: what to say of it, and what it puts in place of which pieces."""

    code: str
    text: str
    instead: Pieces


class Part(NamedTuple):
    """A documented step: its name, what it is worth, and where the function must be right for it."""

    name: str
    worth: float
    points: tuple[tuple, ...]


@dataclass(frozen=True)
class Question:
    """A function to ask for: the pieces of the right value, and what is said. `accepted` are conventions that are as right."""

    name: str
    pieces: Pieces
    parts: tuple[Part, ...]
    praise: str
    advice: str
    wrong: tuple[Idea, ...]
    accepted: tuple[Idea, ...] = ()

    @property
    def points(self) -> list[tuple]:
        """All arguments, each once."""
        return list(dict.fromkeys(point for part in self.parts for point in part.points))

    def value(self, instead: Pieces | None = None) -> Callable:
        """The function of (layout, model, option) that multiplies the pieces, some of them replaced."""
        pieces = {**self.pieces, **(instead or {})}
        return lambda *point: prod(piece(Letters(*point)) for piece in pieces.values())

    def slips(self) -> list[Slip]:
        """Each wrong idea alone, then two at once where they concern different pieces."""
        alone = [Slip(one.code, one.text, self.value(one.instead)) for one in self.wrong]
        pairs = [Slip(one.code, f"two things at once. First: {one.text} Second: {other.text}",
                      self.value({**one.instead, **other.instead}))
                 for one, other in combinations(self.wrong, 2) if not set(one.instead) & set(other.instead)]
        return alone + pairs


UNIT = (
    Idea("unit-gb", "the numbers are those of gigabytes. Return bytes, or text that says its unit.", {"unit": lambda z: 1e-9}),
    Idea("unit-gib", "the numbers are those of gibibytes. Return bytes, or text that says its unit.", {"unit": lambda z: 2**-30}),
)


class _Asked:
    """An answer whose function is asked about layouts and models as records."""

    def __init__(self, answer):
        self._answer, self.seed = answer, getattr(answer, "seed", None)

    def call(self, layout, model, *more):
        return self._answer.call(*as_records(layout, model), *more)


def as_bytes(value):
    """Bytes from plain data: a number, or text or a pair with a unit (`"21.4 GB"`, `[19.9, "GiB"]`); None for what is none.

    >>> as_bytes("1 KiB"), as_bytes([2, "MB"]), as_bytes("2 elephants"), as_bytes("1,024"), as_bytes("1,5 KB")
    (Fraction(1024, 1), 2000000, None, Fraction(1024, 1), Fraction(1500, 1))
    """
    number, unit = value, ""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str):
        number, unit = value
    elif isinstance(value, str):
        match = QUANTITY.fullmatch(value.strip())
        number, unit = (match[1].replace("_", ""), match[2]) if match else (None, "")
        if match and THOUSANDS.match(number):
            number = number.replace(",", "")
    number, unit = as_number(number), unit.strip().lower()
    return None if number is None or unit not in UNITS else number * UNITS[unit]


def close(value, target) -> bool:
    """Whether a reply is the target up to 1%; 0 is 0 up to half a byte."""
    number = as_bytes(value)
    return near(number, target, max(TOLERANCE * abs(target), 0.5 * (target == 0)))


def as_records(layout: Layout, model: Model) -> tuple[Record, Record]:
    """What a learner's function is handed: the sizes, and the number of micro-batches that follows from them."""
    sizes = {name: getattr(layout, name) for name in ("tp", "pp", "dp", "micro_batch_size", "chunks")}
    return (Record(sizes, micro_batches=layout.micro_batches(model)),
            Record({field.name: getattr(model, field.name) for field in fields(model)}))


def _close_to_any(value, targets):
    return any(close(value, target) for target in targets)


def _like(part):
    """Draws a point of the part with more samples in a micro-batch and a larger model, whose small terms are no larger a part."""
    def draw(random: Random):
        layout, model, *more = random.choice(part.points)
        samples, layers, hidden = random.randint(1, 3), random.randint(1, 3), model.hidden + 512 * random.randint(1, 6)
        larger = replace(model, layers=layers * model.layers, hidden=hidden, global_batch=samples * model.global_batch)
        return replace(layout, micro_batch_size=samples * layout.micro_batch_size), larger, *more

    return draw


def judge_bytes(answer, question: Question) -> tuple[list[Step], Message]:
    """The steps, and one message: praise, a wrong idea (or two at once) by name, or where the function is wrong.

    A step is earned where the function is right at all of its points, by any accepted convention, and at those that are drawn.
    """
    asked = _Asked(answer)
    replies = ask(asked, question.points)
    complete = len(replies) == len(question.points)
    truths = [question.value(), *(question.value(idea.instead) for idea in question.accepted)]
    meant = next((truth for truth in truths if first_wrong(replies, truth, close) is None), truths[0])

    def accepted(*point):
        return [truth(*point) for truth in truths]

    drawn = [confirm(asked, part.points, replies, accepted, _like(part), _close_to_any, 2) for part in question.parts]
    for more in drawn:
        replies |= more
    whole = [complete and first_wrong(replies, truth, close) is None for truth in truths]
    if any(whole):
        said = [question.praise, *(idea.text for idea in question.accepted)][whole.index(True)]
        return ([Step(part.name, part.worth, True) for part in question.parts],
                Message(f"{question.name}-right", f"`{question.name}`: {said}", good=True))
    earned = [all(point in replies and _close_to_any(replies[point], accepted(*point)) for point in (*part.points, *more))
              for part, more in zip(question.parts, drawn, strict=True)]
    return [Step(part.name, part.worth, found) for part, found in zip(question.parts, earned, strict=True)], _explain(
        question, replies, meant)


def _explain(question, replies, truth):
    usable = {point: reply for point, reply in replies.items() if as_bytes(reply) is not None}
    slip = slip_of(usable, truth, question.slips(), close) if usable else None
    if slip:
        return Message(slip.code, f"`{question.name}`: {slip.text}")
    layout, model, *more = point = first_wrong(replies, truth, close)
    asked, reply = (Named("layout"), Named("model"), *more), replies[point]
    sizes = "; ".join(", ".join(f"{key}={value}" for key, value in record.items()) for record in as_records(layout, model))
    trouble = no_reply(question.name, asked, reply, f"{WANTED} Asked with {sizes}." if usable else WANTED,
                       replies.values())
    if trouble:
        return trouble
    said = f"{call(question.name, asked)} returned {show_found(reply)}"
    if as_bytes(reply) is None:
        return Message("not-bytes", f"{said}, which is no number of bytes. {WANTED}")
    side = "too much" if as_bytes(reply) > truth(*point) else "too little"
    return Message(f"{question.name}-wrong", f"{said}: {side}. Asked with {sizes}. {question.advice}")
