"""Notebook 4: which layers a chunk of a rank holds."""

from course.answers import Raised
from course.checks.fresh import drawn
from course.checks.functions import Slip, ask, judge_replies, same
from course.checks.outcome import Message, Outcome, Step, as_number
from course.formulas import layers_of_chunk

MODELS = ((8, 2, 2), (24, 4, 2), (48, 4, 4), (18, 3, 2), (24, 2, 3), (8, 1, 2), (12, 4, 1))  # layers, p, v
WANTED = "It returns the list of the layers that this chunk holds, such as [4, 5]."

EITHER = ("layers_of-wrong", "one-too-many", "one-too-few")  # what does not tell from where layers are counted


def _held(layers, p, v, rank, chunk):
    return [*layers_of_chunk(layers, p, v, rank, chunk)]


def _of_stage(stage, size):
    return [*range(stage * size, (stage + 1) * size)]


SLIPS = (
    Slip("counted-from-one", "it takes rank and chunk as counted from 1. Both are counted from 0: the first chunk of the first "
         "rank is `rank=0, chunk=0`.",
         lambda L, p, v, r, c: _of_stage((c - 1) * p + r - 1, L // (p * v))),
    Slip("ranks-from-one", "it takes ranks as counted from 1, so each list belongs to the rank after. The first one is "
         "`rank=0`.", lambda L, p, v, r, c: _of_stage(c * p + r - 1, L // (p * v))),
    Slip("chunks-from-one", "it takes chunks as counted from 1, so each list belongs to the chunk after. The first one is "
         "`chunk=0`.", lambda L, p, v, r, c: _of_stage((c - 1) * p + r, L // (p * v))),
    Slip("p-and-v-swapped", "these are the layers of stage chunk * v + rank. A round of dealing gives each rank one stage: how "
         "many stages are in a round?", lambda L, p, v, r, c: _of_stage(c * v + r, L // (p * v))),
    Slip("blocked", "these are the layers of stage rank * v + chunk: the chunks of a rank lie next to each other, as if the rank "
         "were one stage again. Round-robin gives each rank a first chunk before any rank gets a second.",
         lambda L, p, v, r, c: _of_stage(r * v + c, L // (p * v))),
    Slip("rank-and-chunk-swapped", "these are the layers of stage rank * p + chunk. The stages are dealt out to the ranks in "
         "turn: which of the two numbers grows by 1 from a stage to the next?",
         lambda L, p, v, r, c: _of_stage(r * p + c, L // (p * v))),
    Slip("zigzag", "every other chunk is dealt out backwards, from the last rank to the first. (Some schedules do so, like "
         "a V.) Here each round starts at rank 0.",
         lambda L, p, v, r, c: _of_stage(c * p + (p - 1 - r if c % 2 else r), L // (p * v))),
    Slip("divided-by-p-only", "each chunk gets L/p layers, as many as a whole rank holds. They are shared out over its "
         "v chunks.", lambda L, p, v, r, c: _of_stage(c * p + r, L // p)),
    Slip("divided-by-v-only", "each chunk gets L/v layers. The layers are shared out over p ranks, and v chunks on each.",
         lambda L, p, v, r, c: _of_stage(c * p + r, L // v)),
    Slip("no-chunks", "these are the layers of a rank without chunks, L/p next to each other: `chunk` makes no difference.",
         lambda L, p, v, r, c: _of_stage(r, L // p)),
    Slip("chunk-ignored", "it does not look at `chunk`: every chunk of a rank gets the same layers.",
         lambda L, p, v, r, c: _of_stage(r, L // (p * v))),
    Slip("all-chunks", "these are the layers of all chunks of this rank. Those of one chunk are asked for.",
         lambda L, p, v, r, c: sorted(layer for one in range(v) for layer in _held(L, p, v, r, one))),
    Slip("dealt-singly", "single layers are dealt out in turn, so that almost every layer's output would be sent. A chunk is "
         "L/(p v) layers that follow each other.", lambda L, p, v, r, c: [*range(c * p + r, L, p * v)]),
    Slip("dealt-singly", "single layers are dealt out to the ranks in turn. A chunk is L/(p v) layers that follow each other.",
         lambda L, p, v, r, c: [*range(r, L, p)][c * (L // (p * v)):(c + 1) * (L // (p * v))]),
    Slip("one-too-many", "each list has one layer too many, the first of the next stage. `range(a, b)` ends before b.",
         lambda L, p, v, r, c: [*_held(L, p, v, r, c), _held(L, p, v, r, c)[-1] + 1]),
    Slip("one-too-few", "each list lacks its last layer. `range(a, b)` ends before b.",
         lambda L, p, v, r, c: _held(L, p, v, r, c)[:-1]),
    Slip("only-the-ends", "these are the first and the last layer. The list holds every layer in between as well.",
         lambda L, p, v, r, c: [_held(L, p, v, r, c)[0], _held(L, p, v, r, c)[-1]]),
    Slip("only-the-ends", "these are where the layers begin and end. The list holds every layer: `range` makes it of the two.",
         lambda L, p, v, r, c: [_held(L, p, v, r, c)[0], _held(L, p, v, r, c)[-1] + 1]),
    Slip("the-stage", "this is the number of the stage, chunk * p + rank. Which layers does that stage hold?",
         lambda L, p, v, r, c: c * p + r),
)


def check_layers(answer) -> Outcome:
    """Points for chunks of L/(p v) layers that share all layers out (1), and for the round-robin of the stages (2)."""
    replies = _asked(answer, MODELS)
    message, from_one = _judged(replies), False
    if message.code == "layers_of-wrong":
        lowered = _lowered(replies)
        lower = _judged(lowered)
        if from_one := lower.code not in EITHER:
            replies, message = lowered, lower
    shared = message.good or all(_shared_out(replies, model) for model in MODELS)
    if shared and (more := drawn(answer, lambda random: (4 * random.randint(3, 12), 2, 2), MODELS, 1)):
        found = _asked(answer, more)
        replies |= _lowered(found) if from_one else found
        message = _judged(replies) if message.good else message
        shared = message.good or all(_shared_out(replies, model) for model in (*MODELS, *more))
    notes = [Message("layers-from-one", "Your layers are counted from 1, as Megatron counts them: taken as such.", good=True)]
    return Outcome((Step("chunks of L/(p v) layers in a row, every layer on one of them", 1, shared),
                    Step("stages dealt out to the ranks in turn", 2, message.good)), (message, *notes * from_one))


def _asked(answer, models):
    points = [(*model, rank, chunk) for model in models for rank in range(model[1]) for chunk in range(model[2])]
    return {point: _in_order(reply) for point, reply in ask(answer, points).items()}


def _lowered(replies):
    """The replies with layers counted from 0 where they are counted from 1."""
    return {point: [layer - 1 for layer in reply] if layers_in(reply) else reply for point, reply in replies.items()}


def _judged(replies):
    return judge_replies("layers_of", replies, _held, WANTED, "Round-robin: stage chunk * p + rank holds the next L/(p v) "
                         "layers, and the stage after it is on the next rank.", SLIPS, "Deal the stages out to the ranks in "
                         "turn: which stage is this chunk? And how many layers does each of the p v stages hold?")


def layers_in(reply) -> list | None:
    """The layers in a reply, sorted, in whatever order and form they stand there; None where it is no list of numbers."""
    numbers = [*map(as_number, reply)] if isinstance(reply, list) else [None]
    return None if None in numbers else sorted(numbers)


def _in_order(reply):
    layers = layers_in(reply)
    return reply if layers is None else layers


def _shared_out(replies, model):
    """Whether the chunks of all ranks are the stages of this model, on whatever ranks."""
    layers, p, v = model
    held = [replies.get((*model, rank, chunk)) for rank in range(p) for chunk in range(v)]
    stages = [_of_stage(stage, layers // (p * v)) for stage in range(p * v)]
    return not any(isinstance(chunk, Raised) or not isinstance(chunk, list) for chunk in held) and all(
        sum(same(chunk, stage) for chunk in held) == 1 for stage in stages)
