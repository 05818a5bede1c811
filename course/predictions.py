"""What the notebooks ask to predict: the question's kind, and the right value where no run has to give it."""

from dataclasses import dataclass
from fractions import Fraction

from course.answers import UNANSWERED
from course.checks.outcome import as_number, is_number
from course.checks.room import first_over
from course.formulas import (
    boundary_messages,
    bubble_fraction,
    chunks_of_flag,
    layers_of_chunk,
    micro_batches_needed,
    peak_in_flight,
    total_slots,
)
from course.layout.cards import CARDS, PAIR
from course.layout.cluster import ACROSS
from course.layout.evaluation import evaluate
from course.layout.memory import STATE
from course.layout.placement import AXES, Layout
from course.layout.search import search
from course.layout.volumes import pp_bytes, tp_bytes
from course.schedules import gpipe, one_f_one_b, zb_h1, zb_h2
from course.simulation import Costs, simulate

HALF_A_POINT, ROUNDED = 0.005, 0.0021  # how far from right a predicted share, or another number, may be


@dataclass(frozen=True)
class Prediction:
    """One prediction: `what` stands before the value when it is revealed; `choices` are the words or numbers to choose from.

    `share` says that a number between 0 and 1 is asked for; another one is from `least` to `most`. `actual` is None where the
    run gives the value.
    """

    what: str
    choices: tuple = ()
    share: bool = False
    least: int = 0
    most: int = 1000
    actual: object = None

    @property
    def kind(self) -> str:
        """What is asked for: a `word` or a `number`."""
        return "word" if self.choices and isinstance(self.choices[0], str) else "number"

    def matches(self, guess, actual) -> bool:
        """Whether the guess was right: a share within half a percent point, a count exactly."""
        if not is_number(guess) or not is_number(actual):
            return guess == actual
        return abs(guess - actual) <= (HALF_A_POINT + 1e-9 if self.share else ROUNDED)

    def read(self, guess):
        """The guess as it is kept; ValueError says what would be one."""
        if self.kind == "word":
            word = guess.strip().lower() if isinstance(guess, str) else None
            match = [choice for choice in self.choices if word and word in (choice, choice.removesuffix("s"))]
            if not match:
                raise ValueError(f"{guess!r} is none of the answers: write {', '.join(map(repr, self.choices))}")
            return match[0]
        number = as_number(guess)
        if number is None:
            raise ValueError(f"{guess!r} is no number")
        if self.share and not 0 <= number <= 1:
            raise ValueError(f"{guess!r} is no fraction: it lies between 0 and 1, so 25% is written 0.25 or 1/4")
        if self.choices and number not in self.choices:
            raise ValueError(f"{guess!r} is none of the answers: write one of {', '.join(map(str, self.choices))}")
        if not self.share and not self.least <= number <= self.most:
            raise ValueError(f"{guess!r} cannot be: it is a number from {self.least} to {self.most}")
        return number


class NoPercentage(ValueError):
    """Something that says nothing of how sure somebody is: the prediction itself can be noted."""


def read_sure(sure):
    """How sure somebody is, in percent, 0 to 100: 90 or "90%"; None where nothing is said. ValueError asks back.

    >>> read_sure(90), read_sure("90 %")
    (90, 90)
    """
    if sure is None or sure == UNANSWERED:
        return None
    number = as_number(sure)
    if number is None:
        raise NoPercentage(f"{sure!r} is no number from 0 (a pure guess) to 100 (certain)")
    if isinstance(sure, str) and "%" in sure:
        number *= 100
    elif 0 < number < 1:
        said = f"{float(number):g}"
        raise ValueError(f"sure={said} is {said}% or {float(100 * number):g}%? Write sure=\"{said}%\" or "
                         f"sure={float(100 * number):g}")
    if not 0 <= number <= 100:
        raise ValueError(f"sure={float(number):.4g}. It is a percentage, from 0 (a pure guess) to 100 (certain)")
    return int(number) if number == int(number) else number


HALF = Fraction(1, 2)
FIVE, FEWER = (4, 8, 16, 32, 64), (2, 4, 8, 16, 32)  # numbers of micro-batches to choose from


def _largest_axis(name):
    best = search(CARDS[name].model, CARDS[name].cluster)[0].layout
    return max(AXES, key=lambda axis: getattr(best, axis))


def _seconds_on_two(axis):
    sizes = {other: 2 if other == axis else 1 for other in AXES}
    return evaluate(Layout(**sizes, micro_batch_size=1), PAIR.model, PAIR.cluster).step_seconds


def _crossing(nodes):
    layout = Layout(2, 2, 2, 1, nodes=nodes)
    (axis,) = (axis for axis in AXES if layout.link(axis, CARDS["c"].cluster.gpus_per_node) == ACROSS)
    return axis


def _compared(one, other, costs):
    """Whether the one schedule's step is shorter or longer than the other's."""
    difference = simulate(one, costs).makespan - simulate(other, costs).makespan
    return "same" if difference == 0 else "shorter" if difference < 0 else "longer"


PREDICTIONS = {
    "layers-per-stage": Prediction("Layers on each stage", least=1, most=80, actual=80 // 4),
    "what-travels": Prediction("Stage 0 sends to stage 1", ("parameters", "gradients", "activations"), actual="activations"),
    "gradient-difference": Prediction("Largest difference, over every parameter"),
    "share-of-one-batch": Prediction("Fraction of the time in which a stage works", share=True,
                                     actual=1 - bubble_fraction(4, 1)),
    "slots-of-the-step": Prediction("Slots of the step", least=1),
    "middle-idles": Prediction("Idle cells of a middle stage, against the first", ("more", "less", "same"), actual="same"),
    "fraction-backward-twice": Prediction("Bubble fraction with backwards of two slots", share=True,
                                          actual=bubble_fraction(4, 4)),
    "first-without-room": Prediction("The micro-batch whose forward has no room on stage 0", tuple(range(8)),
                                     actual=first_over(simulate(gpipe(4, 8)), [4] * 4).operation.micro_batch),
    "slots-in-two-rounds": Prediction("Slots of GPipe in two rounds", least=1, actual=2 * total_slots(4, 4)),
    "room-without-delay": Prediction("There is an order with room for 4 that is as short as GPipe", ("yes", "no"), actual="yes"),
    "step-of-1f1b": Prediction("1F1B's step, against GPipe's", ("shorter", "longer", "same"), actual="same"),
    "holds-most": Prediction("The stage that holds the most in 1F1B", ("first", "last", "all"), actual="first"),
    "memory-with-twice-the-stages": Prediction("Stage 0's activation memory with 8 stages, over that with 4",
                                               actual=peak_in_flight("1f1b", 8, 16, 0) / peak_in_flight("1f1b", 4, 16, 0) / 2),
    "equal-peaks": Prediction("Micro-batches with which GPipe and 1F1B hold the same on stage 0, at most", tuple(range(1, 9)),
                              actual=max(m for m in range(1, 9) if peak_in_flight("1f1b", 4, m, 0) == m)),
    "bubble-4-8": Prediction("Bubble fraction of 4 stages and 8 micro-batches", share=True, actual=bubble_fraction(4, 8)),
    "backward-three-times": Prediction("Bubble fraction when a backward takes three times as long, against F = B",
                                       ("larger", "smaller", "same"), actual="same"),
    "busy-four-fifths": Prediction("Micro-batches with which 8 stages work at least 80% of the time", FIVE,
                                   actual=next(m for m in FIVE if bubble_fraction(8, m) <= 0.2)),
    "three-quarters": Prediction("Who is wrong", ("they", "me", "nobody"), actual="nobody"),
    "bubble-of-a-tenth": Prediction("Micro-batches with which the bubble of 8 stages is 10%", least=1,
                                    actual=micro_batches_needed(8, 0.1)),
    "one-slow-stage": Prediction("Slots of the step when stage 2 is twice as slow", least=1),
    "late-messages": Prediction("Slots of the step when each message is 2 slots on its way", least=1),
    "long-messages": Prediction("Slots of the step when each message takes its link for 2 slots", least=1),
    "best-number": Prediction("Micro-batches of the shortest step, of 32 samples", FEWER),
    "rank-of-layer-9": Prediction("Layer 9 of 16 is on rank", tuple(range(4)), actual=next(
        rank for rank in range(4) for chunk in range(2) if 9 in layers_of_chunk(16, 4, 2, rank, chunk))),
    "work-of-the-last-stage": Prediction("Work of the last stage, against one in the middle", ("more", "less", "same"),
                                         actual="more"),
    "chunks-of-six-layers": Prediction("Chunks of a rank", least=1, most=12, actual=chunks_of_flag(12, 2, 3)),
    "slots-with-chunks": Prediction("Slots of the step with 2 chunks a rank", least=1, actual=total_slots(2, 4, v=2)),
    "bubble-with-chunks": Prediction("Bubble fraction with 2 chunks a rank", share=True, actual=bubble_fraction(4, 8, 2)),
    "messages-with-chunks": Prediction("Messages of the step with 2 chunks a rank", actual=boundary_messages(4, 8, 2)),
    "memory-with-chunks": Prediction("Activations on rank 0 in Megatron's order, against 1F1B", ("more", "less", "same"),
                                     actual="more"),
    "heavy-with-chunks": Prediction("Slots of the step with the slow layers on 2 ranks", least=1),
    "who-sends-more": Prediction("Sends more in a step", ("tp", "pp", "same"), actual="tp"),
    "tp-over-pp": Prediction("TP's bytes over PP's on 2 GPUs", actual=round(
        tp_bytes(Layout(2, 1, 1, 1), PAIR.model) / pp_bytes(Layout(1, 2, 1, 1), PAIR.model))),
    "bytes-per-parameter": Prediction("Bytes of memory for each parameter", actual=STATE),
    "longest-of-two": Prediction("The longest step on 2 GPUs", AXES, actual=max(AXES, key=_seconds_on_two)),
    "crosses-when-moved": Prediction("Crosses the nodes now", AXES, actual=_crossing([[0, 2, 4, 6], [1, 3, 5, 7]])),
    "first-tool-a": Prediction("The only axis in use in the fastest layout of card a", AXES, actual=_largest_axis("a")),
    "first-tool-b": Prediction("The largest axis in the fastest layout of card b", AXES, actual=_largest_axis("b")),
    "tp-across-c": Prediction("The step of tp8 over both nodes, against the fastest", ("half", "same", "double"),
                              actual="double"),
    "breaks-the-batch": Prediction("The configuration with another global batch", ("first", "second", "third", "fourth"),
                                   actual="fourth"),
    "shorter-of-two": Prediction("Micro-batches of the shorter of the two steps", least=1),
    "memory-of-many": Prediction("1F1B's activations with 32 micro-batches of 1 sample, against 8 of 4",
                                 ("more", "less", "same"), actual="less"),
    "fastest-row": Prediction("The row with the shortest step"),
    "held-by-zero": Prediction("Micro-batches that stage 0 holds at most in ZB-H2", least=1,
                               actual=max(simulate(zb_h2(4, 8)).peak_activations)),
    "zero-behind-a-barrier": Prediction("One step of ZB-H2, against one of ZB-H1", ("shorter", "longer", "same"),
                                        actual=_compared(zb_h2(4, 8), zb_h1(4, 8), Costs(1, input_grad=1, weight_grad=1))),
    "shorter-with-slow-links": Prediction("1F1B's step, against GPipe's, when messages take half a forward",
                                          ("shorter", "longer", "same"),
                                          actual=_compared(one_f_one_b(4, 32), gpipe(4, 32), Costs(1, 2, latency=HALF))),
    "cells-left-open": Prediction("Idle cells that nothing forces", most=20, actual=2),
    "runs-or-stands": Prediction("The order", ("run through", "stand still"), actual="stand still"),
    "better-than-1f1b": Prediction("An order of the same operations that is better", ("yes", "no"), actual="no"),
}
