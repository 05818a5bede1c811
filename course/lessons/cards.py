"""Notebook 5: the three cards, a learner's own design on them, and what the planner finds."""

from dataclasses import fields, replace

from course.answers import LocalAnswer
from course.checks.layout_reading import read_design
from course.checks.outcome import Message
from course.layout.cards import CARDS, MAX_CHUNKS, WITHIN, Card
from course.layout.cluster import ACROSS, Cluster
from course.layout.evaluation import evaluate
from course.layout.model import Model
from course.layout.nearest import divisors
from course.layout.placement import AXES, Layout
from course.layout.search import search
from course.lessons.layouts import split
from course.lessons.one_line import shown
from course.view import View, paragraphs, table, together
from course.words import gb

REASONS = {"heads": "Left out, because the heads cannot be shared out", "layers": "Left out, because the layers cannot be cut so",
           "batch": "Left out, because the global batch is too small for so many replicas",
           "memory": "Left out, because it does not fit"}
CROSSING = "across: over the link between the nodes; all else is sent inside a node."
MODEL_SIZES = [field.name for field in fields(Model)]


def _card(name):
    if not isinstance(name, str) or name not in CARDS:
        raise ValueError(f"there is no card {name!r}; there are {', '.join(CARDS)}")
    return CARDS[name]


@shown
def card(name: str) -> View:
    """A card as a table: the model, the cluster, and what all cards share."""
    chosen = _card(name)
    model, cluster = chosen.model, chosen.cluster
    links = f"{cluster.intra_gb_per_s:g} GB/s inside a node" + (
        f", {cluster.inter_gb_per_s:g} GB/s across" if cluster.inter_gb_per_s else "")
    rows = [["model", f"{model.layers} layers, hidden size {model.hidden}, {model.heads} heads; "
             f"{model.parameters / 1e9:.2f} billion parameters"],
            ["data", f"sequences of {model.sequence} tokens, vocabulary {model.vocabulary:,}, global batch {model.global_batch}"],
            ["cluster", f"{cluster.nodes} node{'s' * (cluster.nodes > 1)} of {cluster.gpus_per_node} GPUs; {links}"],
            ["GPU", f"{cluster.memory_gb:g} GB, of which {cluster.usable_bytes / 1e9:g} usable; {cluster.peak_tflops:g} TFLOP/s, "
             f"of which {cluster.efficiency:.0%} are reached"],
            ["chunks on a stage", " or ".join(map(str, range(1, MAX_CHUNKS + 1)))]]
    return table(["", f"card {name}"], rows)


@shown
def my_design(name: str, design) -> View:
    """A learner's own design on its card: memory, traffic with the links that it uses, and the split of its step."""
    reading = read_design(LocalAnswer(design).value(), f"design_{name}")
    if isinstance(reading, Message):
        return paragraphs(f"Nothing to show yet. {reading.text}")
    chosen = _card(name)
    found = evaluate(reading[0], chosen.model, chosen.cluster, advice=False)
    if found.step_seconds is None:
        return paragraphs(f"Nothing to show yet. {found.problems[0].text}.")
    rows = [[axis.upper(), gb(found.sent[axis]), found.links[axis] or "none", f"{found.parts[axis]:.3g} s"]
            for axis in AXES]
    held = (f"The fullest GPU holds {gb(found.state_bytes)} of parameters and optimizer and {gb(found.activation_bytes)} of "
            f"activations. A replica has {found.micro_batches} micro-batch{'es' * (found.micro_batches > 1)} in a step.")
    return together(split(found, title=f"Your design on card {name}"),
                    table(["axis", "the busiest GPU sends in a step", "slowest link", "time of it"], rows), paragraphs(held))


@shown
def ranking(name: str, design) -> View:
    """What the planner finds for a card, the best of each tp, pp, dp, with the learner's own; and what does not fit, and why."""
    reading = read_design(LocalAnswer(design).value(), f"design_{name}")
    mine = None if isinstance(reading, Message) else reading[0]
    return _ranked(_card(name), mine, f"Card {name}")


@shown
def planner(name: str, **changes) -> View:
    """The planner on a card with some numbers changed: sizes of the model or of the cluster, by their names, or `max_chunks`."""
    chunks = changes.pop("max_chunks", MAX_CHUNKS)
    base = _card(name)
    known = [*MODEL_SIZES, *(field.name for field in fields(Cluster))]
    unknown = [key for key in changes if key not in known]
    if unknown:
        return paragraphs(f"`{unknown[0]}` is no number of a card; those are {', '.join(known)} and max_chunks.")
    try:
        model = replace(base.model, **{key: value for key, value in changes.items() if key in MODEL_SIZES})
        cluster = replace(base.cluster, **{key: value for key, value in changes.items() if key not in MODEL_SIZES})
    except (ValueError, TypeError) as error:
        return paragraphs(f"The planner cannot work with that: {error}.")
    if chunks not in range(1, 65):
        return paragraphs(f"max_chunks = {chunks!r}: it is a whole number from 1 to 64.")
    said = ", ".join(f"{key} = {value}" for key, value in changes.items()) or "as it is"
    return _ranked(Card(name, model, cluster), None, f"Card {name}, {said}", chunks)


def _ranked(card, mine, title, max_chunks=MAX_CHUNKS):
    found = search(card.model, card.cluster, max_chunks=max_chunks)
    if not found:
        return paragraphs(f"{title}: no layout fits.")
    shapes = {(one.layout.tp, one.layout.pp, one.layout.dp): one for one in reversed(found)}
    best = sorted(shapes.values(), key=lambda one: one.step_seconds)
    fastest = best[0].step_seconds
    own = evaluate(mine, card.model, card.cluster, advice=False) if mine else None
    if own and own.step_seconds and not any(_alike(own, one) for one in best):
        best = sorted([*best, own], key=lambda one: one.step_seconds)
    names = [f"{one.layout}{' (yours)' * bool(own and _alike(own, one))}" for one in best]
    rows = [[name, f"{_number(one.state_bytes)} + {_number(one.activation_bytes)}",
             *(_number(one.sent[axis]) + " across" * (one.links[axis] == ACROSS) for axis in AXES),
             f"{one.step_seconds:.3f}", f"{one.step_seconds / fastest:.3f}"] for name, one in zip(names, best, strict=True)]
    heads = ["layout", "state + activations, GB", *(f"{axis.upper()} sends, GB" for axis in AXES), "step, s", "over the fastest"]
    crossing = [CROSSING] * any(ACROSS in one.links.values() for one in best)
    return together(split(*best, title=title, limit=WITHIN * fastest, names=names), table(heads, rows),
                    paragraphs(*crossing, *_left_out(card, shapes)))


def _number(size):
    return gb(size).removesuffix(" GB")


def _alike(one, other):
    return (one.layout.tp, one.layout.pp, one.layout.dp, one.layout.micro_batch_size, one.layout.chunks) == (
        other.layout.tp, other.layout.pp, other.layout.dp, other.layout.micro_batch_size, other.layout.chunks) and (
        one.links == other.links)


def _left_out(card, shapes):
    """The other ways to use all GPUs, with the first rule that each breaks at micro-batches of 1."""
    gpus, said = card.cluster.gpus, {}
    for tp in divisors(gpus):
        for pp in divisors(gpus // tp):
            shape = tp, pp, gpus // (tp * pp)
            if shape not in shapes:
                problems = evaluate(Layout(*shape, 1), card.model, card.cluster, advice=False).problems
                said.setdefault(REASONS[problems[0].code], []).append("tp{} pp{} dp{}".format(*shape))
    return [f"{reason}: {', '.join(names)}." for reason, names in said.items()]
