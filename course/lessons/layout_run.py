"""Notebook 5: a learner's own layout on real processes; what each axis sent, beside the formulas, and who talked to whom."""

from collections.abc import Mapping

from course.answers import Interrupted, LocalAnswer
from course.checks.layout_reading import read_design
from course.checks.outcome import Message
from course.figures import traffic_figure
from course.layout.cards import CARDS
from course.layout.cluster import ACROSS, INSIDE
from course.layout.placement import AXES
from course.layout.run import LayoutRun, run_layout
from course.pipeline.errors import PipelineError
from course.progress import is_grading
from course.real_run import failed_run, no_run
from course.view import View, paragraphs, table, together


def run_design(name: str, design) -> View:
    """Run the learner's layout of a card, its sizes and nodes, on a small transformer, a process for each GPU.

    The step is shorter than the card's: 2p micro-batches on each replica have a warm-up, a steady state and a cooldown.
    """
    if is_grading():
        return no_run("Not run while the notebook is graded or validated: it earns no points.")
    reading = read_design(LocalAnswer(design).value(), f"design_{name}")
    if isinstance(reading, Message):
        return no_run(f"Nothing to run yet. {reading.text}")
    layout, card = reading[0], CARDS[name]
    m = min(layout.micro_batches(card.model), 2 * layout.pp)
    try:
        return layout_view(run_layout(**vars(layout), cluster=card.cluster,
                                      global_batch=m * layout.micro_batch_size * layout.dp or card.model.global_batch))
    except KeyboardInterrupt:
        raise Interrupted("the processes were ended; run the cell again") from None
    except (PipelineError, ValueError, OSError) as error:
        return failed_run(error)


def layout_view(run: LayoutRun) -> View:
    """The picture, the bytes of each axis beside its formula, and the gradients beside one process's."""
    model, layout, beyond, m = run.model, run.layout, run.beyond, run.layout.micro_batches(run.model)
    rows = [[axis.upper(), _number(run.formulas[axis]), _number(beyond[axis]), _number(run.measured[axis]),
             *(_number(run.by_link.get((axis, link), 0)) for link in (INSIDE, ACROSS))] for axis in AXES]
    heads = ["axis", "busiest process: formula", "+ not in the formula", "counted", "all processes: inside nodes", "across nodes"]
    said = [f"{len(run.pids)} processes train a transformer of {model.layers} layers, hidden size {model.hidden}, {model.heads} "
            f"heads, sequences of {model.sequence} tokens, in fp32: 4 bytes for each element. A step has {m} "
            f"micro-batch{'es' * (m > 1)} on each replica."]
    notes = ["An all-reduce counts as a ring: each process sends 2 (n-1)/n of the data to the next one of its group, as "
             "gloo does, which carries the messages here."]
    if beyond["dp"]:
        copied = "layer norms, two biases of each layer and the embedding, which each rank of TP has whole here"
        left_out = [copied] * (layout.tp > 1)
        left_out += ["the output head, which is a matrix of its own here"] * (layout.pp == 1)
        notes.append(f"Not in DP's formula: {'; '.join(left_out)}.")
    notes.append(f"Largest difference of any gradient of any parameter from one process's: {run.max_gradient_difference:.2g}. "
                 f"Loss: {run.losses[-1]:.6f}, one process {run.reference_losses[-1]:.6f}.")
    figure = traffic_figure(run.sent, layout.by_node(run.cluster.gpus_per_node), _names(layout),
                            f"{layout}: bytes sent in one step")
    return together(paragraphs(*said), figure, table(heads, rows, "Bytes sent in one step"),
                    paragraphs(*notes))


def _names(layout) -> Mapping[int, str]:
    return {rank: f"rank {rank}" + f", stage {layout.stage_of(rank)}" * (layout.pp > 1) for rank in range(layout.gpus)}


def _number(size):
    return f"{round(size):,}"
