"""Notebook 5: what TP, PP and DP send and hold, in tables; where ranks sit; the split of a step's time."""

from collections.abc import Callable, Sequence

from course.answers import LocalAnswer
from course.checks.byte_counts import as_bytes, as_records
from course.checks.layout_practice import judge_count
from course.checks.outcome import show_value
from course.figures import parts_figure
from course.layout.cards import PAIR
from course.layout.cluster import Cluster
from course.layout.evaluation import Evaluation, evaluate
from course.layout.memory import activation_bytes, state_bytes
from course.layout.model import Model
from course.layout.placement import AXES, Layout
from course.layout.rules import nodes
from course.layout.volumes import dp_bytes, pp_bytes, tensor_bytes, tp_bytes
from course.lessons.one_line import shown
from course.view import View, outcome_view, paragraphs, table, together
from course.words import gb

SMALL = PAIR.model
TWO_GPUS = {"tp": Layout(2, 1, 1, 1), "pp": Layout(1, 2, 1, 1), "dp": Layout(1, 1, 2, 1)}


@shown
def sizes_of(model: Model) -> View:
    """A model in one line, with its parameters."""
    return paragraphs(f"{model.layers} layers, hidden size {model.hidden}, {model.heads} heads, sequences of {model.sequence} "
                      f"tokens, vocabulary {model.vocabulary:,}, global batch {model.global_batch}: "
                      f"{model.parameters / 1e9:.2f} billion parameters.")


def two_gpus() -> View:
    """The worked example: three layouts of one model on 2 GPUs, what the busier GPU sends in a step, and how that comes about."""
    tensor = tensor_bytes(TWO_GPUS["tp"], SMALL)
    sent = {"tp": tp_bytes(TWO_GPUS["tp"], SMALL), "pp": pp_bytes(TWO_GPUS["pp"], SMALL), "dp": dp_bytes(TWO_GPUS["dp"], SMALL)}
    m = {axis: layout.micro_batches(SMALL) for axis, layout in TWO_GPUS.items()}
    what = {"tp": f"4 all-reduces of b s h x {SMALL.layers} layers x {m['tp']} micro-batches",
            "pp": f"1 tensor of b s h x {m['pp']} micro-batches",
            "dp": f"1 all-reduce of {SMALL.parameters / 1e9:.2f} billion gradients"}
    rows = [[str(TWO_GPUS[axis]), what[axis], gb(sent[axis]), f"{sent[axis] / sent['pp']:.4g}"] for axis in AXES]
    return together(sizes_of(SMALL), table(["layout", "what a GPU sends in a step", "bytes", "over PP's"], rows),
                    paragraphs(f"One tensor of b s h: 1 x {SMALL.sequence} x {SMALL.hidden} elements of 2 bytes, "
                               f"{tensor / 1e6:.2f} MB."))


def count(key: str, number) -> View:
    """Practice: one number about 4 GPUs."""
    return outcome_view(key.capitalize(), judge_count(key, LocalAnswer(number)))


def your_volumes(tp: Callable, pp: Callable, dp: Callable, model: Model, layouts: Sequence[Layout]) -> View:
    """A learner's three functions on some layouts, in GB."""
    rows = [[str(layout), *(_asked(function, layout, model) for function in (tp, pp, dp))] for layout in layouts]
    return together(sizes_of(model), table(["layout", "TP sends", "PP sends", "DP sends"], rows))


def your_memory(state: Callable, activations: Callable, model: Model, layouts: Sequence[Layout], usable: float) -> View:
    """A learner's two functions on some layouts, in GB, beside the memory that a GPU has."""
    rows = []
    for layout in layouts:
        parts = [_call(state, layout, model, False), _call(activations, layout, model, "selective")]
        whole = sum(parts) if None not in parts else None
        fits = "-" if whole is None else "yes" if whole <= usable else "no"
        rows.append([str(layout), *("-" if part is None else gb(part) for part in parts), fits])
    heads = ["layout", "parameters and optimizer", "activations", f"within {usable / 1e9:g} GB"]
    return together(sizes_of(model), table(heads, rows))


def _call(function, layout, model, *option):
    return as_bytes(LocalAnswer(function).call(*as_records(layout, model), *option))


def _asked(function, layout, model):
    reply = LocalAnswer(function).call(*as_records(layout, model))
    number = as_bytes(reply)
    return show_value(reply) if number is None else gb(number)


def deeper(stages: Sequence[int] = (1, 2, 4, 8), micro_batches: int = 32) -> View:
    """What the first stage holds of one model as the pipeline gets deeper: state shrinks, activations do not."""
    model = Model(SMALL.layers, SMALL.hidden, SMALL.heads, SMALL.sequence, SMALL.vocabulary, micro_batches)
    rows = [[p, gb(state_bytes(Layout(1, p, 1, 1), model)), gb(activation_bytes(Layout(1, p, 1, 1), model)),
             gb(activation_bytes(Layout(1, p, 1, 1, 2), model)) if p > 1 else "-"] for p in stages]
    return table(["stages", "parameters and optimizer", "activations, 1F1B", "interleaved, 2 chunks"], rows,
                 f"The first stage of the worked example's model, {model.parameters / 1e9:.2f} billion parameters, "
                 f"{micro_batches} micro-batches")


def split(*found: Evaluation, title: str = "", limit: float | None = None, names: Sequence[str] = ()) -> View:
    """The time of each layout's step by what it is spent on."""
    rows = list(zip(names or [str(one.layout) for one in found], (one.parts for one in found), strict=True))
    return together(parts_figure(rows, title, limit, "10% above the fastest" if limit else ""))


def two_gpu_steps() -> View:
    """The worked example in seconds: the three layouts, and the pipeline with two chunks a stage."""
    found = [evaluate(layout, SMALL, PAIR.cluster) for layout in (*TWO_GPUS.values(), Layout(1, 2, 1, 1, 2))]
    return split(*found, title="One step on 2 GPUs, 300 GB/s between them")


@shown
def where_ranks_sit(layout: Layout, cluster: Cluster) -> View:
    """Each rank's place in its stage, and which kind of link each axis uses."""
    if problem := nodes(layout, SMALL, cluster):
        raise ValueError(problem)
    rows = [[f"node {node}", ", ".join(f"{rank} (stage {layout.stage_of(rank)})" for rank in ranks)]
            for node, ranks in enumerate(layout.by_node(cluster.gpus_per_node))]
    links = [f"{axis.upper()} groups {_listed(layout.groups(axis))}: {layout.link(axis, cluster.gpus_per_node)}."
             for axis in AXES if getattr(layout, axis) > 1]
    return together(table(["", "ranks"], rows, str(layout)), paragraphs(*links))


def _listed(groups):
    return " ".join(f"[{', '.join(map(str, group))}]" for group in groups)
