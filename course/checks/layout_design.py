"""Notebook 5: a layout for each card, judged by the cost model: shape, placement, memory, and the time of its step."""

from collections.abc import Callable
from functools import cache

from course.checks.layout_reading import read_design
from course.checks.outcome import Message, Outcome, Step, remarks
from course.layout.cards import CARDS, MAX_CHUNKS, WITHIN, Card
from course.layout.cluster import ACROSS
from course.layout.evaluation import Evaluation, evaluate
from course.layout.search import search

SLOWER = ((WITHIN, 1), (1.5, 1 / 2), (2.5, 1 / 4))  # up to so many times the fastest step, so much of the points for it
WORTH = {"a": (0.5, 0.5, 1), "b": (1, 0.5, 1.5), "c": (1, 0.5, 1.5)}  # points for shape, memory, time


def check_design(name: str) -> Callable:
    """The check of one card's design."""
    def check(answer) -> Outcome:
        return judge_design(answer, f"design_{name}", CARDS[name], WORTH[name])
    return check


def judge_design(answer, name: str, card: Card, worth: tuple[float, float, float]) -> Outcome:
    """Points for a legal shape, for fitting the memory, and for a step within 10% of the fastest."""
    reading = read_design(answer.value(), name)
    if isinstance(reading, Message):
        return Outcome(_steps(worth), (reading,))
    layout, notes = reading
    found = evaluate(layout, card.model, card.cluster, advice=False)
    messages = [Message(f"rule-{code}", f"{text}.{_what_fills(layout) if code == 'memory' else ''}")
                for code, text, _ in found.problems if code != "nodes" or layout.gpus == card.cluster.gpus]
    if layout.chunks > MAX_CHUNKS:
        messages.append(Message("too-many-chunks", f"chunks = {layout.chunks}: on these cards it is at most {MAX_CHUNKS}."))
    legal = found.step_seconds is not None and layout.chunks <= MAX_CHUNKS
    if not legal or found.problems:
        return Outcome(_steps(worth, legal), (*messages, *notes))
    times = found.step_seconds / fastest(card)[0].step_seconds
    said = [*_placement_messages(found, card), _time_message(found, card, times)]
    share = next((share for limit, share in SLOWER if times <= limit), 0)
    steps = _steps(worth, True, True, share)
    return Outcome(steps, (*messages, *said, *remarks(notes, steps)))


def _what_fills(layout):
    """What of this layout the memory is spent on, and what would make it less."""
    parts = ["DP copies parameters and optimizer to every replica; TP and PP share them out"] * (layout.dp > 1)
    parts += ["A smaller micro-batch has smaller activations"] * (layout.micro_batch_size > 1)
    parts += ["Chunks make the first stage hold more of them"] * (layout.chunks > 1)
    parts += ["TP shares out the activations too; PP does not make them less on the first stage"]
    return "".join(f" {part}." for part in parts)


def _steps(worth, legal=False, fits=False, share=0):
    shape, memory, time = worth
    return (Step("obeys every rule of shape and placement", shape, legal), Step("fits the memory", memory, fits),
            Step("within 10% of the fastest step (half up to 1.5 times, a quarter up to 2.5 times)", time, share))


@cache
def fastest(card: Card) -> tuple[Evaluation, ...]:
    """What the planner finds for a card, fastest first."""
    return tuple(search(card.model, card.cluster, max_chunks=MAX_CHUNKS))


def _placement_messages(found, card):
    """TP groups in more than one node: legal, and how slow."""
    if found.links["tp"] != ACROSS:
        return []
    layout, cluster = found.layout, card.cluster
    group = ", ".join(map(str, next(layout.crossing_groups("tp", cluster.gpus_per_node))))
    said = (f"The TP group of ranks {group} lies in more than one node. That is legal, but every one of its all-reduces waits "
            f"for the link of {cluster.inter_gb_per_s:g} GB/s: {found.parts['tp']:.2f} s of the step.")
    inside = next((one for one in fastest(card) if _sizes(one.layout) == _sizes(layout) and one.links["tp"] != ACROSS), None)
    if inside:
        said += (" The same sizes with each TP group inside a node are "
                 f"{found.step_seconds / inside.step_seconds:.2f} times as fast.")
    return [Message("tp-across", said)]


def _sizes(layout):
    return layout.tp, layout.pp, layout.dp, layout.micro_batch_size, layout.chunks


def _time_message(found, card, times):
    step = f"The step takes {found.step_seconds:.2f} s"
    if times > WITHIN:
        code, why = _slowest_part(found)
        digits = 3 if round(times, 2) in [limit for limit, _ in SLOWER] else 2  # it is seen to be over the limit
        return Message(code, f"{step}, {times:.{digits}f} times the fastest that the planner finds. {why}")
    best = fastest(card)
    shapes = dict.fromkeys((one.layout.tp, one.layout.pp, one.layout.dp) for one in best
                           if one.step_seconds <= WITHIN * best[0].step_seconds)
    names = " and ".join(f"tp{tp} pp{pp} dp{dp}" for tp, pp, dp in shapes)
    also = f" So close that a cost model cannot tell them apart: {names}." if len(shapes) > 1 else ""
    return Message("design-right", f"{step}, within 10% of the fastest that the planner finds, and needs "
                   f"{found.memory_bytes / 1e9:.1f} of {card.cluster.usable_bytes / 1e9:g} GB.{also}", good=True)


def _slowest_part(found):
    """What makes a layout slow: the largest part of the step beside compute, and the idea behind it."""
    layout, m = found.layout, found.micro_batches
    part = max(("bubble", "tp", "pp", "dp"), key=found.parts.get)
    share = f"{found.parts[part] / found.step_seconds:.0%} of it is "
    bubble = f"{share}bubble: {m} micro-batch{'es' * (m > 1)} on {layout.pp} stages."
    if part == "bubble" and layout.micro_batch_size > 1:
        return "slow-large-micro-batches", f"{bubble} With these costs smaller micro-batches are free."
    if part == "bubble" and layout.chunks == 1 and m % layout.pp == 0:
        return "slow-without-chunks", f"{bubble} What did notebook 4 do about it?"
    if part == "bubble":
        return "slow-pp-first", (f'{bubble} "PP is the first tool to reach for" is tempting. Are so many stages needed to make '
                                 "the model fit? What else could share the work?")
    why = {"tp": "TP's all-reduces, in every layer for every micro-batch", "pp": "sending activations between stages",
           "dp": "the all-reduce of the gradients"}[part]
    return f"slow-{part}", f"{share}{why}."
