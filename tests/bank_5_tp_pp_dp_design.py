"""Right and wrong answers of notebook 5: bytes that are sent and held."""

from tests.bank import Case
from tests.bank_5_designs import RIGHT_DESIGNS, WRONG_DESIGNS

TENSOR = "layout.micro_batch_size * model.sequence * model.hidden"
TP = f"8 * {TENSOR} * (layout.tp - 1) / layout.tp * 2 * model.layers / layout.pp * layout.micro_batches"
COUNT = "(0 if layout.pp == 1 else 2 * layout.chunks - (layout.pp == 2))"
PP = f"{COUNT} * {TENSOR} * 2 * layout.micro_batches"
LAYER = "(12 * model.hidden ** 2 + 13 * model.hidden)"
EMBEDDING = "(model.vocabulary + model.sequence) * model.hidden"
STAGE = f"(model.layers / layout.pp * {LAYER} + {EMBEDDING}) / layout.tp"
WHOLE = f"(model.layers * {LAYER} + {EMBEDDING})"
DP = f"2 * (layout.dp - 1) / layout.dp * 4 * ({STAGE})"


def volumes(points, *codes, tp=TP, pp=PP, dp=DP, before=""):
    """Functions of one expression each; `before` stands above them."""
    lines = [f"def {name}_bytes(layout, model):\n    return {body}" for name, body in (("tp", tp), ("pp", pp), ("dp", dp))]
    return Case("ex5-volumes", "\n".join([before, *lines]), points, codes)


RIGHT_VOLUMES = [
    volumes(5, "tp_bytes-right", "pp_bytes-right", "dp_bytes-right"),
    volumes(5, tp=TP.replace("layout.tp", 'layout["tp"]').replace("model.hidden", 'model.get("hidden")'),
            dp=f"Fraction(2 * 4 * (layout.dp - 1), layout.dp) * Fraction({STAGE})", before="from fractions import Fraction"),
    volumes(5, tp=f"f'{{({TP}) / 1e9:.6f}} GB'", pp=f"f'{{({PP}) / 2**30}} GiB'", dp=f"f'{{{DP}:,.0f}} bytes'"),
    volumes(5, tp=f"(({TP}) / 1e6, 'MB')", pp=f"[{PP}, 'B']", dp=f"f'{{({DP}) / 1024:e}} kib'"),
    volumes(5, tp=f"np.float64({TP})", pp=f"np.int64({PP})", dp=f"np.float32({DP})", before="import numpy as np"),
    volumes(5, tp=TP.replace("8 *", "10 *")),
    volumes(5, dp=f"8 * (1 - 1 / layout.dp) * {WHOLE} / (layout.tp * layout.pp)"),
    volumes(5, pp=f"0 if layout.pp == 1 else (2 * layout.chunks - 1 + (layout.pp > 2)) * {TENSOR} * 2 * layout.micro_batches"),
    volumes(5, tp=f"str({TP})", pp=f"complex({PP}).real", before="import math",
            dp=f"math.fsum([8 * ({STAGE}), -8 * ({STAGE}) / layout.dp])"),
    volumes(5, dp="2 * (layout.dp - 1) / layout.dp * 4 * 12 * model.hidden ** 2 * model.layers / (layout.tp * layout.pp) + "
                  "8 * (layout.dp - 1) / layout.dp * model.vocabulary * model.hidden / layout.tp"),
    Case("ex5-volumes", """
class Pipe:
    def __init__(self, p, v):
        self.sent = [0] * p
        stages = p * v
        for stage in range(stages):
            for other in (stage - 1, stage + 1):
                if 0 <= other < stages and other % p != stage % p:
                    self.sent[stage % p] += 1

def elements(layout, model):
    return layout.micro_batch_size * model.sequence * model.hidden

def ring(n, size):
    total = 0
    for _ in range(2 * (n - 1)):
        total += size / n
    return total

def tp_bytes(layout, model):
    total = 0
    for _ in range(layout.micro_batches):
        for _ in range(model.layers // layout.pp):
            for _ in range(4):
                total += ring(layout.tp, 2 * elements(layout, model))
    return total

def pp_bytes(layout, model):
    return max(Pipe(layout.pp, layout.chunks).sent) * 2 * elements(layout, model) * layout.micro_batches

def dp_bytes(layout, model):
    h = model.hidden
    parameters = sum(12 * h * h + 13 * h for _ in range(model.layers // layout.pp)) + h * (model.vocabulary + model.sequence)
    return ring(layout.dp, 4 * parameters / layout.tp)
""", 5),
    Case("ex5-volumes", """
def sizes(tp, pp, dp, micro_batch_size, chunks, micro_batches, layers, hidden, heads, sequence, vocabulary, global_batch):
    bsh = global_batch // dp * sequence * hidden
    tensors = {1: 0, 2: 2 * chunks - 1}.get(pp, 2 * chunks)
    p = (layers // pp * (12 * hidden**2 + 13 * hidden) + (vocabulary + sequence) * hidden) / tp
    return 16 * bsh * (tp - 1) / tp * layers / pp, 2 * tensors * bsh, 8 * p * (dp - 1) / dp

tp_bytes = lambda layout, model: sizes(**layout, **model)[0]
pp_bytes = lambda layout, model: sizes(**{**layout, **model})[1]
dp_bytes = lambda l, m: sizes(*l.values(), *m.values())[2]
""", 5),
]
WRONG_VOLUMES = [
    Case("ex5-volumes", "tp_bytes = pp_bytes = dp_bytes = ...", 0, ("unanswered",)),
    volumes(0, "unanswered", tp="...", pp="None", dp="..."),
    volumes(3, "half", tp=TP.replace("8 *", "4 *")),
    volumes(3, "quarter", tp=TP.replace("8 *", "2 *")),
    volumes(3, "twice", tp=f"2 * {TP}"),
    volumes(3, "six-all-reduces", tp=TP.replace("8 *", "12 *")),
    volumes(3, "forgot-ring-share", tp=TP.replace("(layout.tp - 1) / layout.tp", "1")),
    volumes(3, "no-ring", tp=TP.replace("/ layout.tp", "")),
    volumes(4, "forgot-micro-batches", tp=TP.replace("layout.micro_batches", "1")),
    volumes(4, "forgot-dp", tp=TP.replace("layout.micro_batches", "model.global_batch / layout.micro_batch_size")),
    volumes(3, "per-layer", tp=TP.replace("model.layers / layout.pp", "1")),
    volumes(4, "all-layers", tp=TP.replace("/ layout.pp", "")),
    volumes(3, "size-not-sent", tp=f"4 * {TENSOR} * 2 * model.layers / layout.pp * layout.micro_batches"),
    volumes(4, "counts-the-bubble", tp=TP.replace("layout.micro_batches", "(layout.micro_batches + layout.pp - 1)")),
    volumes(3, "counts-the-bubble", pp=PP.replace("layout.micro_batches", "(layout.micro_batches + layout.pp - 1)")),
    volumes(4, "size-not-sent", dp=f"4 * ({STAGE})"),
    volumes(4, "size-not-sent", dp=f"4 * {WHOLE}"),
    volumes(4.5, "returned-none", dp=f"{DP} if layout.dp > 1 else None"),
    volumes(4, "one-chunk", tp=TP + " / layout.chunks"),
    volumes(3, "sharded-tensor", tp=TP + " / layout.tp"),
    volumes(3, "one-sample", tp=TP + " / layout.micro_batch_size"),
    volumes(3, "half", tp=TP.replace("8 *", "4 *").replace("layout.micro_batches", "1")),
    volumes(3, "unit-gb", tp=f"({TP}) / 1e9"),
    volumes(3, "unit-gib", tp=f"({TP}) / 2**30"),
    volumes(3, "tp_bytes-wrong", tp="12345"),
    volumes(3, "tp_bytes-wrong", tp=f"-({TP})"),
    volumes(3, "not-bytes", tp="'a lot'"),
    volumes(3, "not-bytes", tp="True"),
    volumes(3, "not-bytes", tp="'3 parsecs'"),
    volumes(3, "raised", tp="layout.m"),
    volumes(3, "raised", tp="1 / 0"),
    volumes(3, "refused", tp="float('nan')"),
    volumes(3, "refused", tp="{'a', 2}"),
    volumes(3, "not-bytes", tp="(n for n in (1, 2))"),
    volumes(3, "unanswered", tp="print('hello')"),
    volumes(3, "raised", tp="exit()"),
    volumes(3, "half", pp=f"({PP}) / 2"),
    volumes(3, "one-way", pp=f"(layout.pp > 1) * layout.chunks * {TENSOR} * 2 * layout.micro_batches"),
    volumes(3, "twice", pp=f"2 * ({PP})"),
    volumes(4, "forgot-chunks", pp=PP.replace("layout.chunks", "1")),
    volumes(4, "no-middle", pp=f"(layout.pp > 1) * 2 * layout.chunks * {TENSOR} * 2 * layout.micro_batches"),
    volumes(4, "no-middle", pp=f"2 * layout.chunks * {TENSOR} * 2 * layout.micro_batches"),
    volumes(3, "end-rank", pp=f"(layout.pp > 1) * (2 * layout.chunks - 1) * {TENSOR} * 2 * layout.micro_batches"),
    volumes(4, "pp-of-one", pp=PP.replace("0 if layout.pp == 1 else ", "")),
    volumes(3, "all-boundaries", pp=f"2 * (layout.pp * layout.chunks - 1) * {TENSOR} * 2 * layout.micro_batches"),
    volumes(3, "average-rank", pp=f"2 * (layout.chunks - 1 / layout.pp) * {TENSOR} * 2 * layout.micro_batches"),
    volumes(3, "per-layer", pp=f"({PP}) * model.layers / layout.pp"),
    volumes(3, "sharded-tensor", pp=f"({PP}) / layout.tp"),
    volumes(3, "forgot-micro-batches", pp=f"({PP}) / layout.micro_batches"),
    volumes(3, "forgot-dp", pp=f"({PP}) * layout.dp"),
    volumes(3, "pp_bytes-wrong", pp=f"({STAGE}) * 2"),
    volumes(4, "half", dp=f"({DP}) / 2"),
    volumes(4, "quarter", dp=f"({DP}) / 4"),
    volumes(4, "twice", dp=f"({DP}) * 2"),
    volumes(4, "forgot-ring-share", dp=f"8 * ({STAGE})"),
    volumes(4, "no-ring", dp=f"8 * (layout.dp - 1) * ({STAGE})"),
    volumes(4, "each-micro-batch", dp=f"({DP}) * layout.micro_batches"),
    volumes(4.5, "whole-model", dp=f"8 * (layout.dp - 1) / layout.dp * {WHOLE}"),
    volumes(4.5, "forgot-tp", dp=f"({DP}) * layout.tp"),
    volumes(4.5, "forgot-pp", dp=f"8 * (layout.dp - 1) / layout.dp * {WHOLE} / layout.tp"),
    volumes(4, "without-embedding", dp=f"8 * (layout.dp - 1) / layout.dp * {LAYER} * model.layers / layout.pp / layout.tp"),
    volumes(4.5, "embedding-whole", dp=f"8 * (layout.dp - 1) / layout.dp * ({LAYER} * model.layers / layout.pp / layout.tp + "
                                       f"{EMBEDDING})"),
    volumes(4, "half", dp=f"({DP}) / 2 * layout.tp"),
    volumes(4, "unit-gb", dp=f"({DP}) / 1e9"),
    volumes(0, "half", tp=TP.replace("8 *", "4 *"), pp=f"({PP}) / 2", dp=f"({DP}) / 2"),
    volumes(0, "tp_bytes-wrong", "pp_bytes-wrong", "dp_bytes-wrong", tp="0", pp="0", dp="0"),
    Case("ex5-volumes", "tp_bytes = 3\npp_bytes = '5 GB'\ndp_bytes = [1]", 0, ("not-a-function",)),
]

STATE = f"(6 + 12 / layout.dp if distributed_optimizer else 18) * ({STAGE})"
HELD = ("(min(layout.micro_batches, layout.pp) if layout.chunks == 1 else min(layout.micro_batches * layout.chunks, "
        "2 * (layout.pp - 1) + (layout.chunks - 1) * layout.pp + 1))")
EACH = ("{'none': (34 + 5 * model.heads * model.sequence / model.hidden) / layout.tp, 'selective': 34 / layout.tp, "
        "'full': 2}[recompute]")
OF = "model.layers / (layout.pp * layout.chunks)"
ACTIVATIONS = f"{TENSOR} * {EACH} * {OF} * {HELD}"


def memory(points, *codes, state=STATE, activations=ACTIVATIONS, before=""):
    source = (f"{before}\ndef state_bytes(layout, model, distributed_optimizer):\n    return {state}\n"
              f"def activation_bytes(layout, model, recompute):\n    return {activations}")
    return Case("ex5-memory", source, points, codes)


RIGHT_MEMORY = [
    memory(3, "state_bytes-right", "activation_bytes-right"),
    memory(3, state=f"f'{{({STATE}) / 1e9}} GB'", activations=f"str(({ACTIVATIONS}) / 2**30) + ' GiB'"),
    memory(3, state=f"Fraction({STATE})", activations=f"Decimal({ACTIVATIONS})",
           before="from fractions import Fraction\nfrom decimal import Decimal"),
    memory(3, activations=ACTIVATIONS.replace("'full': 2", "'full': 2 / layout.tp")),
    memory(3, activations=f"np.float64({TENSOR}) * {EACH} * model.layers / layout.pp * np.minimum({HELD}, 10**6) / layout.chunks",
           before="import numpy as np"),
    Case("ex5-memory", """
def state_bytes(layout, model, distributed_optimizer):
    parameters = 0
    for _ in range(model['layers'] // layout['pp']):
        parameters += 12 * model['hidden'] ** 2
    parameters += model['vocabulary'] * model['hidden'] + model['sequence'] * model['hidden']
    weights, gradients, optimizer = 2, 4, 12
    if distributed_optimizer:
        optimizer /= layout['dp']
    return parameters / layout['tp'] * (weights + gradients + optimizer)

def activation_bytes(layout, model, recompute):
    p, v, m = layout.pp, layout.chunks, layout.micro_batches
    held, most = 0, 0
    warm_up = min(m * v, 2 * (p - 1) + (v - 1) * p) if v > 1 else min(m, p - 1)
    for step in range(warm_up + 1):
        held += step < m * v
        most = max(most, held)
    layer = 2 * model.sequence * layout.micro_batch_size * model.hidden
    if recompute != "full":
        layer *= 17 / layout.tp
    if recompute == "none":
        layer += 5 * model.heads * model.sequence ** 2 * layout.micro_batch_size / layout.tp
    return layer * most * (model.layers // (p * v))
""", 3),
]
WRONG_MEMORY = [
    Case("ex5-memory", "state_bytes = activation_bytes = ...", 0, ("unanswered",)),
    memory(1.5, "unanswered", state="..."),
    memory(1.5, "weights-only", state=f"2 * ({STAGE})"),
    memory(1.5, "sixteen", state=f"(4 + 12 / layout.dp if distributed_optimizer else 16) * ({STAGE})"),
    memory(1.5, "twenty", state=f"(8 + 12 / layout.dp if distributed_optimizer else 20) * ({STAGE})"),
    memory(1.5, "without-optimizer", state=f"6 * ({STAGE})"),
    memory(1.5, "optimizer-only", state=f"12 * ({STAGE})"),
    memory(2, "ignores-distributed", state=f"18 * ({STAGE})"),
    memory(2, "all-distributed", state=f"(18 / layout.dp if distributed_optimizer else 18) * ({STAGE})"),
    memory(1.5, "always-distributed", state=f"(6 + 12 / layout.dp) * ({STAGE})"),
    memory(1.5, "divided-by-dp", state=f"({STATE}) / layout.dp"),
    memory(2, "whole-model", state=f"(6 + 12 / layout.dp if distributed_optimizer else 18) * {WHOLE}"),
    memory(2, "forgot-tp", state=f"({STATE}) * layout.tp"),
    memory(2, "forgot-pp", state=f"(6 + 12 / layout.dp if distributed_optimizer else 18) * {WHOLE} / layout.tp"),
    memory(1.5, "without-embedding",
           state=f"(6 + 12 / layout.dp if distributed_optimizer else 18) * {LAYER} * model.layers / layout.pp / layout.tp"),
    memory(2, "even-share", state=f"(6 + 12 / layout.dp if distributed_optimizer else 18) * {WHOLE} / layout.pp / layout.tp"),
    memory(1.5, "sixteen", state=f"16 * {WHOLE} / layout.pp / layout.tp if not distributed_optimizer else (4 + 12 / layout.dp) * "
                                 f"{WHOLE} / layout.pp / layout.tp"),
    memory(1.5, "unit-gb", state=f"({STATE}) / 1e9"),
    memory(1.5, "raised", state="undefined"),
    memory(1.5, "raised", state="(lambda: 1)(layout)"),
    memory(1.5, "not-bytes", state="'80GB of HBM'"),
    memory(1.5, "refused", state="float('inf')"),
    memory(2, "forgot-in-flight", activations=f"{TENSOR} * {EACH} * model.layers / layout.pp"),
    memory(2, "one-chunk", activations=f"{TENSOR} * {EACH} * {OF}"),
    memory(1.5, "holds-all", activations=f"{TENSOR} * {EACH} * model.layers / layout.pp * layout.micro_batches"),
    memory(2, "forgot-few", activations=ACTIVATIONS.replace("min(layout.micro_batches, layout.pp)", "layout.pp")),
    memory(2, "forgot-few", activations=f"{TENSOR} * {EACH} * model.layers * (1 if layout.chunks == 1 else "
                                        "1 + (layout.pp - 1) / (layout.pp * layout.chunks))"),
    memory(2, "forgot-few", activations=f"{TENSOR} * {EACH} * model.layers * (min(layout.micro_batches, layout.pp) / layout.pp "
                                        "if layout.chunks == 1 else 1 + (layout.pp - 1) / (layout.pp * layout.chunks))"),
    memory(2, "as-without-chunks", activations=f"{TENSOR} * {EACH} * model.layers / layout.pp * "
                                               "min(layout.micro_batches, layout.pp)"),
    memory(2, "as-without-chunks", activations=f"{TENSOR} * {EACH} * {OF} * min(layout.micro_batches * layout.chunks, "
                                               "(layout.chunks - 1) * layout.pp + layout.pp)"),
    memory(1.5, "warm-up-only", activations=ACTIVATIONS.replace("min(layout.micro_batches, layout.pp)",
           "min(layout.micro_batches, layout.pp - 1)").replace(" + 1))", "))")),
    memory(2, "all-layers", activations=ACTIVATIONS.replace("layout.pp * layout.chunks)", "layout.chunks)")),
    memory(1.5, "one-layer", activations=ACTIVATIONS.replace(OF, "1 / layout.chunks")),
    memory(1.5, "one-sample", activations=f"({ACTIVATIONS}) / layout.micro_batch_size"),
    memory(1.5, "two-bytes-again", activations=f"2 * {ACTIVATIONS}"),
    memory(1.5, "forgot-tp", activations=ACTIVATIONS.replace(" / layout.tp", "")),
    memory(1.5, "tp-only", activations=ACTIVATIONS.replace("34 / layout.tp", "10 + 24 / layout.tp").replace(
        "(34 + 5", "(10 * layout.tp + 24 + 5")),
    memory(2, "always-all-layers", activations=f"{TENSOR} * {EACH} * model.layers"),
    memory(1.5, "always-all-layers", activations=f"{TENSOR} * 34 * model.layers"),
    memory(1.5, "ignores-tp-and-recompute", activations=ACTIVATIONS.replace(EACH, "34")),
    memory(2, "ignores-recompute", activations=ACTIVATIONS.replace(EACH, "34 / layout.tp")),
    memory(2, "without-attention", activations=ACTIVATIONS.replace("5 * model.heads", "0 * model.heads")),
    memory(2, "attention-whole", activations=ACTIVATIONS.replace(
        "(34 + 5 * model.heads * model.sequence / model.hidden) / layout.tp",
        "34 / layout.tp + 5 * model.heads * model.sequence / model.hidden")),
    memory(1.5, "attention-always", activations=ACTIVATIONS.replace(
        "'selective': 34", "'selective': (34 + 5 * model.heads * model.sequence / model.hidden)")),
    memory(1.5, "unit-gib", activations=f"({ACTIVATIONS}) / 2**30"),
    memory(1.5, "activation_bytes-wrong", activations="1e9"),
    memory(1.5, "unanswered", activations="print(layout)"),
    memory(2, "raised", activations=ACTIVATIONS.replace("'full': 2", "'fully': 2")),
]

RIGHT = RIGHT_VOLUMES + RIGHT_MEMORY + RIGHT_DESIGNS
WRONG = WRONG_VOLUMES + WRONG_MEMORY + WRONG_DESIGNS
