"""Notebook 4: what Megatron's flags say, and when Megatron refuses."""

import builtins
import re
from fractions import Fraction

from course.answers import UNANSWERED, Raised
from course.checks.fresh import confirm, drawn
from course.checks.functions import FUTILE, Slip, ask, call, no_reply, same, slip_of
from course.checks.outcome import Message, Outcome, Step, as_number, number_advice, one_row, show_value, unreadable
from course.formulas import PPConfig, chunks_of_flag

WANTED = "It returns v, or None where the run is not interleaved, and raises ValueError where Megatron refuses."
# num_layers, p, layers_per_virtual_stage. Nothing is asked at p <= 2, where the answer depends on further flags.
INTERLEAVED = ((48, 4, 3), (48, 4, 6), (48, 4, 1), (80, 8, 5), (96, 8, 4), (24, 3, 2))
ONE_CHUNK = ((48, 4, 12), (80, 8, 10), (24, 3, 8))
REFUSED = ((48, 4, 5), (48, 4, 24), (48, 4, 8), (50, 4, 4), (90, 8, 11))
PROCESSES, TP, PP, LAYERS, FLAG, MICRO_BATCH_SIZE, GLOBAL_BATCH = 8, 2, 4, 48, 3, 2, 128  # the lesson's command
DP = PROCESSES // (TP * PP)
RUN = {"dp": DP, "m": GLOBAL_BATCH // (MICRO_BATCH_SIZE * DP), "v": chunks_of_flag(LAYERS, PP, FLAG)}
CONFIG = PPConfig(PP, RUN["m"], MICRO_BATCH_SIZE, DP, TP)

SLIPS = (
    Slip("all-virtual-stages", "all layers divided by the flag are the virtual stages of all ranks. v is how many of them one "
         "rank has.", lambda layers, p, flag: Fraction(layers, flag)),
    Slip("flag-is-v", "it returns the flag. The flag says how many layers a chunk has; v follows from it.",
         lambda layers, p, flag: flag),
    Slip("layers-of-a-rank", "it returns the layers of a rank. v is how many chunks they make.",
         lambda layers, p, flag: Fraction(layers, p)),
    Slip("upside-down", "it divides the flag by the layers of a rank: turn it round.",
         lambda layers, p, flag: Fraction(flag * p, layers)),
    Slip("one-less", "it is one too few, or counts the chunks after the first.",
         lambda layers, p, flag: layers // p // flag - 1),
)


def check_flags(decode, lesson_run) -> Outcome:
    """Points for v (1), None (0.5) and ValueError (1) of decode, and half a point each for dp, m and v of lesson_run."""
    replies = ask(decode, (*INTERLEAVED, *ONE_CHUNK, *REFUSED))
    last = [*replies.values()][-1]
    interleaved, one_chunk, refused = ({point: replies.get(point, last) for point in points}
                                       for points in (INTERLEAVED, ONE_CHUNK, REFUSED))
    more = ask(decode, drawn(decode, _interleaved, INTERLEAVED))
    tells = _tells(interleaved) and (not more or _tells(more))
    interleaved |= more
    one_chunk |= confirm(decode, ONE_CHUNK, replies, chunks_of_flag, _one_chunk, count=1)
    right = all(same(reply, chunks_of_flag(*point)) for point, reply in interleaved.items())
    none = tells and all(reply is None for reply in one_chunk.values())
    alike = _of_the_same_kind(decode, [point for point in REFUSED if tells and _is_value_error(refused[point])])
    more = ask(decode, alike.values())
    raised = Fraction(tells * sum(_is_value_error(reply) and (point not in alike or _is_value_error(more.get(alike[point])))
                                  for point, reply in refused.items()), len(REFUSED))
    refused |= more
    messages = _nothing(replies) or [
        *([] if right else [_v_message(interleaved)]), *([] if none or not tells else [_none_message(one_chunk)]),
        *([] if raised == 1 or not tells else [_refused_message(refused)])]
    if not messages:
        messages = [Message("decode-right", "`decode`: v = layers of a rank / layers of a chunk, and both divisions must come "
                            "out even.", good=True)]
    parts, said = _lesson(lesson_run.value())
    return Outcome((Step("decode: v", 1, right), Step("decode: None where the run is not interleaved", Fraction(1, 2), none),
                    Step("decode: ValueError where Megatron refuses", 1, raised),
                    *(Step(f"lesson_run: {key}", Fraction(1, 2), good) for key, good in parts.items())), (*messages, *said))


def _interleaved(random):
    p, flag = random.randint(3, 12), random.randint(1, 6)
    return p * flag * random.randint(2, 6), p, flag


def _one_chunk(random):
    p, flag = random.randint(3, 12), random.randint(1, 16)
    return p * flag, p, flag


def _tells(replies):
    """Whether most of what Megatron takes is given a number: what is None or an error there has told nothing apart."""
    return 2 * sum(as_number(reply) is not None for reply in replies.values()) > len(replies)


def _of_the_same_kind(decode, points):
    """Point -> one that is drawn, and refused for the same reason; a function that knows one rule only is right at both."""
    found = {point: drawn(decode, lambda random, point=point: _refused(random, point), REFUSED, 1) for point in points}
    return {point: one for point, ones in found.items() for one in ones}


def _refused(random, like):
    while True:
        point = random.randint(4, 200), random.randint(3, 12), random.randint(2, 24)
        if _reason(*point) == _reason(*like):
            return point


def _reason(layers, p, flag):
    """Which numbers do not divide which, and whether a chunk would have more layers than a rank."""
    return layers % p == 0, layers // p % flag == 0, layers % flag == 0, flag > layers // p


def _is_value_error(reply):
    """A ValueError, or an exception of the learner's own: of which kind it is, its name does not say."""
    return isinstance(reply, Raised) and (reply.type == "ValueError" or not (
        hasattr(builtins, reply.type) or reply.type in (*FUTILE, "Refused")))


def _nothing(replies):
    """The one message about a function that cannot be asked, or gives nothing whatever it is asked."""
    futile = [(point, reply) for point, reply in replies.items() if isinstance(reply, Raised) and reply.type in FUTILE]
    if futile or all(reply is None or reply == UNANSWERED for reply in replies.values()):
        point, reply = futile[0] if futile else next(iter(replies.items()))
        return [no_reply("decode", point, reply, WANTED)]
    return []


def _v_message(replies):
    slip = slip_of(replies, chunks_of_flag, SLIPS)
    if slip:
        return Message(slip.code, f"`decode`: {slip.text}")
    if all(reply is None for reply in replies.values()):
        return Message("returns-nothing", "`decode` returned None for every run, also for those that are interleaved. If it "
                       "prints v, let it return it: `return v`.")
    point, reply = next((point, reply) for point, reply in replies.items() if not same(reply, chunks_of_flag(*point)))
    if reply is None:
        return Message("v-missing", f"{call('decode', point)} returned None, so not interleaved. How many layers does a rank "
                       "have, and how many of them make one chunk?")
    return no_reply("decode", point, reply, WANTED) or Message(
        "v-wrong", f"{call('decode', point)} returned {show_value(reply)}: not right. A rank holds L/p layers; cut them into "
        "chunks of as many layers as the flag says, and count the chunks.")


def _none_message(replies):
    point, reply = next((point, reply) for point, reply in replies.items() if reply is not None)
    if same(reply, 1):
        return Message("one-not-none", f"{call('decode', point)} returned 1. With one chunk a rank nothing is interleaved: "
                       "Megatron sets v to None and runs its plain 1F1B. Return None.")
    if _is_value_error(reply):
        return Message("refuses-one-chunk", f"{call('decode', point)} raised ValueError. Both divisions come out even, so "
                       "Megatron takes it: as plain 1F1B, with one chunk a rank. Return None.")
    return no_reply("decode", point, reply, WANTED) or Message(
        "none-wrong", f"{call('decode', point)} returned {show_value(reply)}: not right. {WANTED}")


def _refused_message(replies):
    point, reply = next((point, reply) for point, reply in replies.items() if not _is_value_error(reply))
    layers, p, flag = point
    rule = (f"--num-layers {layers} is no multiple of --pipeline-model-parallel-size {p}" if layers % p else
            f"a rank has {layers // p} layers, no multiple of --num-layers-per-virtual-pipeline-stage {flag}")
    if isinstance(reply, Raised) and "Error is not an answer" in reply.text:
        return Message("returned-error", f"{call('decode', point)} returned an error. Raise it: `raise ValueError(\"why\")`.")
    if isinstance(reply, Raised) and reply.type == "Refused":
        return no_reply("decode", point, reply, WANTED)
    if isinstance(reply, Raised):
        return Message("other-error", f"{call('decode', point)} raised {reply.type}; a ValueError is asked for (Megatron itself "
                       f"uses assertions). The rule here: {rule}.")
    return Message("not-refused", f"{call('decode', point)} returned {show_value(reply)}, but {rule}: Megatron refuses such a "
                   "run. Raise ValueError.")


LESSON_SLIPS = {
    ("dp", 8): "that is the number of processes. One replica of the model takes TP x PP of them.",
    ("dp", 4): "the 8 processes are divided by TP alone. The stages take processes too.",
    ("dp", 2): "the 8 processes are divided by PP alone. Each stage is on TP processes.",
    ("m", 128): "that is the global batch in samples. A micro-batch has --micro-batch-size of them.",
    ("m", 32): "TP cuts the layers, not the batch; only DP shares the batch out.",
    ("m", 16): "every micro-batch goes through all stages: PP does not share the batch out, only DP does.",
    ("m", 8): "TP and PP do not share the batch out, only DP does.",
    ("v", 3): "that is the flag: the layers of a chunk. v is the number of chunks of a rank.",
    ("v", 12): "that is the layers of a rank. How many chunks do they make?",
    ("v", 16): "that is the number of virtual stages in all. How many of them are on one rank?",
    ("v", 2): "the layers are shared out over the 4 stages; the processes of TP share each layer, they hold no layers apart.",
}
# What a key may have been meant as; it is named in the message, not taken.
MEANT = {"micro_batches": "m", "microbatches": "m", "num_microbatches": "m", "num_micro_batches": "m", "data_parallel": "dp",
         "replicas": "dp", "chunks": "v", "model_chunks": "v", "virtual_stages": "v"}
CALCULATION = re.compile(r"[\d\s()+*/.-]+", re.ASCII)
RULES = {"dp": "processes = TP x PP x DP", "m": "global batch = m x micro-batch size x DP",
         "v": "layers of a rank = v x layers of a chunk"}


def _lesson(given):
    """Which keys are right, and what to say."""
    wanted = 'It is a dict: {"dp": ..., "m": ..., "v": ...}.'
    trouble = unreadable(given, "lesson_run", wanted)
    given = one_row(given)
    if isinstance(given, list) and len(given) == len(RUN):
        given = dict(zip(RUN, given, strict=True))
    if not trouble and not isinstance(given, dict):
        trouble = Message("not-a-dict", f"`lesson_run`: found {show_value(given)}. {wanted}")
    if trouble:
        return dict.fromkeys(RUN, False), [trouble]
    given = {str(key).strip().lower(): value for key, value in given.items()}
    numbers = {key: as_number(given.get(key)) for key in RUN}
    right = {key: numbers[key] == value for key, value in RUN.items()}
    if all(right.values()):
        return right, [Message("lesson-right", "`lesson_run`: every number follows from one of the three rules.", good=True)]
    instead = {MEANT[key]: key for key in (name.replace(" ", "_").replace("-", "_") for name in given) if key in MEANT}
    return right, [_lesson_message(key, given.get(key), numbers, instead.get(key)) for key, good in right.items() if not good]


def _lesson_message(key, value, numbers, instead):
    if value is None and instead:
        return Message("other-key", f"`lesson_run`: there is no {instead!r} in it: write {key!r}.")
    if value is None or value == UNANSWERED:
        return Message("unanswered", f"`lesson_run`: {key!r} is not answered yet.")
    number, dp = numbers[key], numbers["dp"]
    if key == "m" and number and dp and dp != RUN["dp"] and number * dp == RUN["m"]:
        return Message("m-follows", f"`lesson_run`: m = {show_value(value)} is right for your dp. Mend dp, and m will follow.")
    if number is None and isinstance(value, str):
        advice = "Without the quotes Python computes it." if CALCULATION.fullmatch(value) else number_advice(value)
        return Message("lesson-text", f"`lesson_run`: {key} = {show_value(value)} is text that is no number. {advice}".rstrip())
    text = LESSON_SLIPS.get((key, number))
    return Message(f"lesson-{key}", f"`lesson_run`: {key} = {show_value(value)} is not it: {text or RULES[key] + '.'}")
