"""Notebook 5: the bytes that the busiest GPU sends in a step on each axis."""

from course.checks.byte_counts import UNIT, Idea, Part, Question, judge_bytes
from course.checks.layout_parameters import EVEN_SHARE, wrong_parameters
from course.checks.outcome import Outcome
from course.layout.memory import stage_parameters
from course.layout.model import Model
from course.layout.placement import Layout
from course.layout.volumes import ELEMENT, GRADIENT, pp_tensors

SMALL = Model(24, 2048, 16, sequence=1024, vocabulary=32000, global_batch=96)
LARGE = Model(48, 6144, 64, sequence=2048, vocabulary=51200, global_batch=32)

MESSAGES = (
    Idea("forgot-micro-batches", "this is for one micro-batch. A step has `layout.micro_batches` of them.",
         {"micro": lambda z: 1}),
    Idea("forgot-dp", "this counts the micro-batches of all replicas. A GPU handles those of its own replica: the global batch "
         "is shared out over dp.", {"micro": lambda z: z.m * z.d}),
    Idea("counts-the-bubble", "this sends in the bubble too. Only the m micro-batches send.",
         {"micro": lambda z: z.m + z.p - 1}),
    Idea("one-sample", "a micro-batch has `micro_batch_size` samples; this counts one.", {"tensor": lambda z: z.s * z.h}),
    Idea("sharded-tensor", "this shares the tensor out over the TP ranks. Here each of them sends it whole.",
         {"tensor": lambda z: z.b * z.s * z.h / z.t}),
    *UNIT,
)

TP = Question(
    "tp_bytes",
    {"unit": lambda z: 1, "element": lambda z: ELEMENT, "passes": lambda z: 2, "reduces": lambda z: 2, "around": lambda z: 2,
     "ring": lambda z: (z.t - 1) / z.t, "micro": lambda z: z.m, "tensor": lambda z: z.b * z.s * z.h,
     "layers": lambda z: z.L / z.p},
    (Part("TP, one stage and one micro-batch", 1, (
        (Layout(2, 1, 1, 96), SMALL), (Layout(4, 1, 1, 96), SMALL), (Layout(8, 1, 1, 32), LARGE))),
     Part("TP, every layout", 1, (
         (Layout(4, 2, 1, 4), SMALL), (Layout(2, 3, 2, 4, 2), SMALL), (Layout(8, 4, 2, 1), LARGE), (Layout(1, 4, 2, 2), LARGE)))),
    praise="four all-reduces in every layer, for every micro-batch.",
    advice="Multiply: all-reduces of a layer, what a GPU sends in one, the stage's layers, micro-batches, bytes an element.",
    wrong=(
        Idea("half", "exactly half, everywhere. Three twos are in it: 2 bytes an element; all-reduces forward and backward; "
             "and a ring that sends everything twice, to add up and to hand out. One is missing.", {"element": lambda z: 1}),
        Idea("quarter", "exactly a quarter, everywhere. Three twos are in it: 2 bytes an element; all-reduces forward and "
             "backward; and a ring that sends everything twice. Two are missing.",
             {"element": lambda z: 1, "passes": lambda z: 1}),
        Idea("twice", "exactly twice, everywhere. A send counts once, at its sender; and an element has 2 bytes.",
             {"element": lambda z: 4}),
        Idea("six-all-reduces", "this counts six all-reduces in a layer, as with full recomputation, which runs the forward "
             "again. Here there are four.", {"passes": lambda z: 3}),
        Idea("forgot-ring-share", "in a ring a GPU does not send everything: of t parts t-1, twice. With tp = 1 it sends "
             "nothing.", {"ring": lambda z: 1}),
        Idea("no-ring", "this is what all GPUs of the group send together, or one that sends everything to each of the others. "
             "Count what one GPU sends in a ring.", {"ring": lambda z: z.t - 1}),
        Idea("size-not-sent", "this counts the tensor once for each all-reduce. A ring sends each part on t-1 times to add up, "
             "and again to hand out.", {"around": lambda z: 1, "ring": lambda z: 1}),
        Idea("per-layer", "this is for one layer. A GPU has all layers of its stage.", {"layers": lambda z: 1}),
        Idea("all-layers", "this counts all layers of the model. A GPU has those of its stage.", {"layers": lambda z: z.L}),
        Idea("one-chunk", "this counts the layers of one chunk. A GPU has all chunks of its stage.",
             {"layers": lambda z: z.L / z.p / z.v}),
        *MESSAGES),
    accepted=(Idea("ten", "right where activations are stored sharded and gathered once more: 10 b s h (t-1)/t. The four "
                   "all-reduces alone make it 8, as we count.", {"reduces": lambda z: 2.5}),))

PP = Question(
    "pp_bytes",
    {"unit": lambda z: 1, "element": lambda z: ELEMENT, "tensors": lambda z: pp_tensors(z.layout), "micro": lambda z: z.m,
     "tensor": lambda z: z.b * z.s * z.h},
    (Part("PP, one chunk and at least three stages", 1, (
        (Layout(1, 4, 1, 2), SMALL), (Layout(2, 8, 1, 4), LARGE), (Layout(4, 3, 2, 4), SMALL))),
     Part("PP, every layout", 1, (
         (Layout(1, 4, 1, 2, 3), SMALL), (Layout(2, 2, 1, 1), LARGE), (Layout(2, 2, 2, 1, 4), LARGE),
         (Layout(4, 8, 1, 1, 2), LARGE), (Layout(8, 1, 1, 1), LARGE)))),
    praise="at most two tensors for each chunk and micro-batch, however many layers a chunk has.",
    advice="Draw three ranks in a row. For one micro-batch, count the tensors that the middle one sends, then an end; then "
           "again with two chunks each.",
    wrong=(
        Idea("half", "exactly half, everywhere. An element has 2 bytes; and a rank in the middle sends an activation on and a "
             "gradient back. One two is missing.", {"element": lambda z: 1}),
        Idea("one-way", "this counts one direction. A rank sends activations on and gradients back.",
             {"tensors": lambda z: z.v * (z.p > 1)}),
        Idea("twice", "exactly twice, everywhere. A send counts once, at its sender; and an element has 2 bytes.",
             {"element": lambda z: 4}),
        Idea("forgot-chunks", "this is for one chunk. Every chunk of a rank has neighbours of its own.",
             {"tensors": lambda z: pp_tensors(Layout(1, z.p, 1, 1))}),
        Idea("no-middle", "right for a rank in the middle. Of two ranks none is: the last chunk has nobody after it, the first "
             "nobody before it.", {"tensors": lambda z: 2 * z.v * (z.p > 1)}),
        Idea("end-rank", "this is the first or the last rank. A rank in the middle has a neighbour on both sides of every "
             "chunk.", {"tensors": lambda z: (2 * z.v - 1) * (z.p > 1)}),
        Idea("pp-of-one", "with pp = 1 there is no boundary, and nothing is sent.",
             {"tensors": lambda z: pp_tensors(z.layout) if z.p > 1 else 2 * z.v}),
        Idea("no-middle", "right for a rank in the middle. Of two ranks both are ends, and with one there is no boundary.",
             {"tensors": lambda z: 2 * z.v}),
        Idea("all-boundaries", "this is the sum over all boundaries. What one rank sends is asked for, the busiest.",
             {"tensors": lambda z: 2 * (z.p * z.v - 1)}),
        Idea("average-rank", "this is the average over the ranks. The busiest one is asked for.",
             {"tensors": lambda z: 2 * (z.p * z.v - 1) / z.p}),
        Idea("per-layer", "this counts a tensor for each layer. PP sends at the borders of a chunk only: the layers inside it "
             "hand over in memory.", {"tensors": lambda z: pp_tensors(z.layout) * z.L / z.p}),
        *MESSAGES))

DP = Question(
    "dp_bytes",
    {"unit": lambda z: 1, "gradient": lambda z: GRADIENT, "around": lambda z: 2, "ring": lambda z: (z.d - 1) / z.d,
     "parameters": lambda z: stage_parameters(z.layout, z.model)},
    (Part("DP, the whole model on each GPU", 0.5, (
        (Layout(1, 1, 2, 1), SMALL), (Layout(1, 1, 8, 1), SMALL), (Layout(1, 1, 4, 1), LARGE))),
     Part("DP, every layout", 0.5, (
         (Layout(2, 3, 4, 1), SMALL), (Layout(4, 4, 2, 1), LARGE), (Layout(8, 2, 3, 2), SMALL), (Layout(4, 2, 1, 1), SMALL)))),
    praise="once a step, however many micro-batches there are.",
    advice="Multiply: gradients on a GPU of the first stage, 4 bytes each, and what a ring over dp GPUs sends of them.",
    wrong=(
        Idea("half", "exactly half, everywhere. Gradients have 4 bytes here; and a ring sends everything twice, to add up and "
             "to hand out. A factor of two is missing.", {"gradient": lambda z: 2}),
        Idea("quarter", "exactly a quarter, everywhere. Gradients have 4 bytes here; and a ring sends everything twice. Both "
             "are missing.", {"gradient": lambda z: 2, "around": lambda z: 1}),
        Idea("twice", "exactly twice, everywhere. A send counts once, at its sender; and gradients have 4 bytes.",
             {"gradient": lambda z: 8}),
        Idea("forgot-ring-share", "in a ring a GPU does not send everything: of d parts d-1, twice. With dp = 1 it sends "
             "nothing.", {"ring": lambda z: 1}),
        Idea("no-ring", "this is what all replicas send together, or one that sends everything to each of the others. Count "
             "what one GPU sends in a ring.", {"ring": lambda z: z.d - 1}),
        Idea("size-not-sent", "this is the size of the gradients. A ring sends each part on d-1 times to add up, and again to "
             "hand out.", {"around": lambda z: 1, "ring": lambda z: 1}),
        Idea("each-micro-batch", "a replica adds its gradients up over the micro-batches first: they travel once a step.",
             {"around": lambda z: 2 * z.m}),
        *wrong_parameters("gradients"), *UNIT),
    accepted=(Idea("even-share", "right for the average GPU, P/(t p) parameters. The first stage has the embedding too and "
                   "sends a little more.", EVEN_SHARE),))


def check_volumes(tp_bytes, pp_bytes, dp_bytes) -> Outcome:
    """TP and PP: 1 point for the plain case, 1 for every layout; DP half a point each."""
    judged = [judge_bytes(answer, question) for answer, question in ((tp_bytes, TP), (pp_bytes, PP), (dp_bytes, DP))]
    return Outcome(tuple(step for steps, _ in judged for step in steps), tuple(message for _, message in judged))
