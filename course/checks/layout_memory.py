"""Notebook 5: the bytes that the fullest GPU holds, parameters with their optimizer, and activations."""

from collections.abc import Callable

from course.checks.byte_counts import UNIT, Idea, Part, Question, judge_bytes
from course.checks.layout_parameters import EVEN_SHARE, wrong_parameters
from course.checks.layout_volumes import LARGE, SMALL
from course.checks.outcome import Outcome
from course.layout.memory import STATE as ALL_BYTES
from course.layout.memory import layer_activation_bytes, stage_parameters
from course.layout.placement import Layout

OPTIMIZER = 12  # of the 18 bytes a parameter: what the distributed optimizer spreads


def bytes_each(z):
    """Bytes a parameter; the question's option is whether the optimizer is distributed."""
    return ALL_BYTES - OPTIMIZER + OPTIMIZER / z.d if z.option else ALL_BYTES


STATE = Question(
    "state_bytes",
    {"unit": lambda z: 1, "each": bytes_each, "parameters": lambda z: stage_parameters(z.layout, z.model)},
    (Part("state, the whole model on one GPU", 0.5, (
        (Layout(1, 1, 1, 1), SMALL, False), (Layout(1, 1, 4, 1), LARGE, False))),
     Part("state, every layout, either optimizer", 1, (
         (Layout(2, 4, 1, 1), SMALL, False), (Layout(4, 3, 2, 1, 2), SMALL, False), (Layout(8, 1, 4, 1), LARGE, False),
         (Layout(1, 1, 4, 1), SMALL, True), (Layout(2, 2, 8, 1), SMALL, True), (Layout(4, 4, 2, 1), LARGE, True)))),
    praise="TP and PP share it out, DP copies it.",
    advice="Multiply: parameters on a GPU of the first stage, its layers and the embedding over t, and the bytes of each.",
    wrong=(
        Idea("weights-only", "these are the weights alone. Gradients and the optimizer lie in memory too.",
             {"each": lambda z: 2}),
        Idea("sixteen", "this takes gradients of 2 bytes. Here they are added up in fp32, 4 bytes.",
             {"each": lambda z: bytes_each(z) - 2}),
        Idea("twenty", "this is 20 bytes a parameter. Count again: the weight, its gradient, the optimizer's three.",
             {"each": lambda z: bytes_each(z) + 2}),
        Idea("without-optimizer", "weights and gradients only. The optimizer keeps a copy of the weights and two moments, 4 "
             "bytes each.", {"each": lambda z: ALL_BYTES - OPTIMIZER}),
        Idea("optimizer-only", "the optimizer's bytes only. Weights and gradients come on top.", {"each": lambda z: OPTIMIZER}),
        Idea("ignores-distributed", "this does not look at `distributed_optimizer`, which spreads the optimizer's 12 bytes a "
             "parameter over the replicas.", {"each": lambda z: ALL_BYTES}),
        Idea("all-distributed", "the distributed optimizer spreads only its own 12 bytes over the replicas. Weights and "
             "gradients stay whole on each.", {"each": lambda z: ALL_BYTES / z.d if z.option else ALL_BYTES}),
        Idea("always-distributed", "without the distributed optimizer every replica keeps all 18 bytes a parameter.",
             {"each": lambda z: ALL_BYTES - OPTIMIZER + OPTIMIZER / z.d}),
        Idea("divided-by-dp", "DP copies the model: every replica holds all of it.", {"each": lambda z: bytes_each(z) / z.d}),
        *wrong_parameters("parameters"),
        Idea("even-share", "this is the average GPU, P/(t p) parameters. The fullest one is asked for: the first stage has the "
             "embedding beside its layers.", EVEN_SHARE),
        *UNIT))


def each_element(z, recompute=None, sequence_parallel=True):
    """Bytes that a layer stores for each of the s b h elements of its input; the option is the kind of recomputation."""
    stored = layer_activation_bytes(z.layout, z.model, recompute or z.option, sequence_parallel)
    return stored / (z.s * z.b * z.h)


def _held(count: Callable[[int, int, int], float]):
    """`count(p, m, v)` chunks in flight in place of the right number."""
    return {"held": lambda z: count(z.p, z.m, z.v)}


def _long_warm_up(p, v):
    return 2 * (p - 1) + (v - 1) * p + 1


ACTIVATIONS = Question(
    "activation_bytes",
    {"unit": lambda z: 1, "tensor": lambda z: z.s * z.b * z.h, "each": each_element, "layers": lambda z: z.L / (z.p * z.v),
     "held": lambda z: z.held},
    (Part("activations, one stage, selective recomputation", 0.5, (
        (Layout(1, 1, 1, 2), SMALL, "selective"), (Layout(4, 1, 2, 4), LARGE, "selective"))),
     Part("activations, every layout and recomputation", 1, (
         (Layout(2, 4, 1, 2), SMALL, "selective"), (Layout(1, 8, 4, 4), LARGE, "selective"),
         (Layout(1, 4, 1, 2, 3), SMALL, "selective"), (Layout(2, 4, 2, 2, 2), LARGE, "selective"),
         (Layout(4, 4, 8, 1, 2), LARGE, "selective"), (Layout(2, 4, 1, 2), SMALL, "none"), (Layout(4, 2, 1, 1), LARGE, "none"),
         (Layout(1, 4, 1, 2), SMALL, "full"), (Layout(4, 2, 1, 1, 2), LARGE, "full")))),
    praise="on the first stage L layers' worth of a micro-batch once m is at least p, whatever p is; more when interleaved.",
    advice="Multiply: what a layer stores of a micro-batch (the table), the layers of a chunk, the chunks in flight.",
    wrong=(
        Idea("forgot-in-flight", "this is for one micro-batch. The first stage holds all that are in flight there.",
             {"layers": lambda z: z.L / z.p, **_held(lambda p, m, v: 1)}),
        Idea("one-chunk", "this is one chunk of one micro-batch. The first stage holds all that are in flight there.",
             _held(lambda p, m, v: 1)),
        Idea("holds-all", "this holds all micro-batches, as GPipe does. 1F1B holds at most as many as there are stages.",
             {"layers": lambda z: z.L / z.p, **_held(lambda p, m, v: m)}),
        Idea("forgot-few", "a step with few micro-batches cannot have more than those in flight: m, and interleaved m v "
             "chunks.", _held(lambda p, m, v: p if v == 1 else _long_warm_up(p, v))),
        Idea("forgot-few", "a step with fewer micro-batches than stages cannot have more than those in flight.",
             _held(lambda p, m, v: p if v == 1 else min(m * v, _long_warm_up(p, v)))),
        Idea("forgot-few", "interleaved, a step with few micro-batches cannot have more than their m v chunks in flight.",
             _held(lambda p, m, v: min(m, p) if v == 1 else _long_warm_up(p, v))),
        Idea("as-without-chunks", "this is 1F1B's memory, or that of the leanest interleaved order. In Megatron's order the "
             "first rank holds more (notebook 4).", _held(lambda p, m, v: min(m, p) * v)),
        Idea("warm-up-only", "these are the warm-up forwards. One more is in flight: the first forward of the steady state.",
             _held(lambda p, m, v: min(m, p - 1) if v == 1 else min(m * v, _long_warm_up(p, v) - 1))),
        Idea("all-layers", "this counts all layers for each micro-batch in flight. A stage has L/p of them.",
             {"layers": lambda z: z.L / z.v}),
        Idea("always-all-layers", "L layers' worth is what the first stage holds without chunks, once m is at least p. With "
             "few micro-batches it is less, interleaved it is more.", {"layers": lambda z: z.L, "held": lambda z: 1}),
        Idea("one-layer", "this is one layer's. A stage has L/p of them.", {"layers": lambda z: 1 / z.v}),
        Idea("one-sample", "a micro-batch has `micro_batch_size` samples; this counts one.", {"tensor": lambda z: z.s * z.h}),
        Idea("two-bytes-again", "exactly twice, everywhere. The table's numbers are bytes: the 34 count an element's 2 "
             "already.", {"unit": lambda z: 2}),
        Idea("tp-only", "this is TP without sequence parallelism, where 10 of the 34 are whole on each GPU. With it all are "
             "shared out.", {"each": lambda z: each_element(z, sequence_parallel=False)}),
        Idea("forgot-tp", "TP with sequence parallelism shares a layer's activations out over t GPUs.",
             {"each": lambda z: each_element(z) * (1 if z.option == "full" else z.t)}),
        Idea("ignores-tp-and-recompute", "this looks neither at `layout.tp`, which shares activations out, nor at `recompute`.",
             {"each": lambda z: each_element(z, "selective") * z.t}),
        Idea("ignores-recompute", "this does not look at `recompute`: the three kinds store different things.",
             {"each": lambda z: each_element(z, "selective")}),
        Idea("without-attention", 'with "none" the s x s matrices of the attention are stored as well: 5 a s/h.',
             {"each": lambda z: each_element(z, "full" if z.option == "full" else "selective")}),
        Idea("attention-whole", "the s x s part of the attention is shared out over t as well: a TP rank has a/t of the heads.",
             {"each": lambda z: 34 / z.t + 5 * z.a * z.s / z.h if z.option == "none" else each_element(z)}),
        Idea("attention-always", "selective recomputation does without the s x s part of the attention, 5 a s/h.",
             {"each": lambda z: each_element(z, "full" if z.option == "full" else "none")}),
        *UNIT),
    accepted=(Idea("sharded-full", "right, with the inputs that full recomputation keeps shared out over TP, as Megatron can. "
                   "The paper's table counts them whole, 2 s b h.",
                   {"each": lambda z: each_element(z) / (z.t if z.option == "full" else 1)}),))


def check_memory(state_bytes, activation_bytes) -> Outcome:
    """Each function: half a point for the plain case, 1 for every layout."""
    judged = [judge_bytes(answer, question) for answer, question in ((state_bytes, STATE), (activation_bytes, ACTIVATIONS))]
    return Outcome(tuple(step for steps, _ in judged for step in steps), tuple(message for _, message in judged))
