"""Right and wrong answers of notebook 4; those of its order are in a bank of their own."""

from tests.bank import Case
from tests.bank_4_interleaved_order import RIGHT_ORDERS, WRONG_ORDERS


def layers(body, points, *codes, head="def layers_of(num_layers, p, v, rank, chunk):\n"):
    return Case("ex4-layers", head + body, points, codes)


def one(expression, points, *codes):
    return layers(f"    L, k = num_layers, num_layers // (p * v)\n    return {expression}", points, *codes)


RIGHT_LAYERS = [
    one("list(range((chunk * p + rank) * k, (chunk * p + rank + 1) * k))", 3, "layers_of-right"),
    one("range((chunk * p + rank) * k, (chunk * p + rank + 1) * k)", 3),
    one("tuple((chunk * p + rank) * k + i for i in range(k))", 3),
    one("(layer for layer in range(L) if layer // k % p == rank and layer // k // p == chunk)", 3),
    one("[layer for layer in range(L) if divmod(layer // k, p) == (chunk, rank)][::-1]", 3),
    one("[layer + 1 for layer in range(L) if divmod(layer // k, p) == (chunk, rank)]", 3, "layers_of-right", "layers-from-one"),
    layers("    import numpy\n    return numpy.arange(num_layers).reshape(v, p, -1)[chunk, rank]", 3),
    layers("    import numpy\n    return list(numpy.split(numpy.arange(num_layers), p * v)[chunk * p + rank])", 3),
    layers("""    deck, k = list(range(num_layers)), num_layers // p // v
    for c in range(v):
        for r in range(p):
            hand, deck = deck[:k], deck[k:]
            if (c, r) == (chunk, rank):
                return hand""", 3),
    layers("    first = rank * (num_layers / p / v) + chunk * num_layers / v\n"
           "    return [first + i for i in range(num_layers // p // v)]", 3),
    one("{*range((chunk * p + rank) * k, (chunk * p + rank + 1) * k)}", 3),
    one("[str(layer) for layer in range(L) if divmod(layer // k, p) == (chunk, rank)]", 3),
    Case("ex4-layers", "layers_of = lambda L, p, v, r, c: [*range(L)][(c * p + r) * L // (p * v):][:L // (p * v)]", 3),
]
WRONG_LAYERS = [
    one("f'{(chunk * p + rank) * k}-{(chunk * p + rank + 1) * k - 1}'", 0, "not-a-list-of-numbers"),
    one("', '.join(map(str, range((chunk * p + rank) * k, (chunk * p + rank + 1) * k)))", 0, "not-a-list-of-numbers"),
    one("[f'layer {layer}' for layer in range((chunk * p + rank) * k, (chunk * p + rank + 1) * k)]", 0,
        "not-a-list-of-numbers"),
    Case("ex4-layers", "layers_of = ...", 0, ("unanswered",)),
    layers("    ...", 0, "unanswered"),
    Case("ex4-layers", "layers_of = [0, 1]", 0, ("not-a-function",)),
    one("[*range((rank * v + chunk) * k, (rank * v + chunk + 1) * k)]", 1, "blocked"),
    one("[*range((rank * p + chunk) * k, (rank * p + chunk + 1) * k)]", 0, "rank-and-chunk-swapped"),
    layers("""    k, place = num_layers // (p * v), p - 1 - rank if chunk % 2 else rank
    return range((chunk * p + place) * k, (chunk * p + place + 1) * k)""", 1, "zigzag"),
    one("{'layers': [0]}", 0, "not-a-list-of-numbers"),
    one("[*range((chunk * p + rank) * (L // p), (chunk * p + rank + 1) * (L // p))]", 0, "divided-by-p-only"),
    one("[*range((chunk * p + rank) * (L // v), (chunk * p + rank + 1) * (L // v))]", 0, "divided-by-v-only"),
    one("[*range(rank * L // p, (rank + 1) * L // p)]", 0, "no-chunks"),
    one("[*range(rank * k, (rank + 1) * k)]", 0, "chunk-ignored"),
    one("[layer for layer in range(L) if layer // k % p == rank]", 0, "all-chunks"),
    one("[*range(chunk * p + rank, L, p * v)]", 0, "dealt-singly"),
    one("[*range(rank, L, p)][chunk * k:(chunk + 1) * k]", 0, "dealt-singly"),
    one("[*range((chunk * p + rank) * k, (chunk * p + rank + 1) * k + 1)]", 0, "one-too-many"),
    one("[*range((chunk * p + rank) * k, (chunk * p + rank + 1) * k - 1)]", 0, "one-too-few"),
    one("((chunk * p + rank) * k, (chunk * p + rank + 1) * k - 1)", 0, "only-the-ends"),
    one("((chunk * p + rank) * k, (chunk * p + rank + 1) * k)", 0, "only-the-ends"),
    one("chunk * p + rank", 0, "the-stage"),
    one("[*range(((chunk - 1) * p + rank - 1) * k, ((chunk - 1) * p + rank) * k)]", 0, "counted-from-one"),
    one("[*range((chunk * p + rank - 1) * k, (chunk * p + rank) * k)]", 0, "ranks-from-one"),
    one("[*range(((chunk - 1) * p + rank) * k, ((chunk - 1) * p + rank + 1) * k)]", 0, "chunks-from-one"),
    one("[*range((chunk * p + rank - 1) * k + 1, (chunk * p + rank) * k + 1)]", 0, "ranks-from-one"),
    one("[*range((rank * v + chunk) * k + 1, (rank * v + chunk + 1) * k + 1)]", 1, "blocked"),
    one("[*range((chunk * v + rank) * k, (chunk * v + rank + 1) * k)]", 0, "p-and-v-swapped"),
    layers("    k = num_layers // (p * v)\n    return [*range((chunk * p + rank) * k, (chunk * p + rank + 1) * k)]", 0,
           "rank-and-chunk-swapped", head="def layers_of(num_layers, p, v, chunk, rank):\n"),
    one("[*range(((v - 1 - chunk) * p + rank) * k, ((v - 1 - chunk) * p + rank + 1) * k)]", 1, "layers_of-wrong"),
    one("f'{(chunk * p + rank) * k} to {(chunk * p + rank + 1) * k}'", 0, "not-a-list-of-numbers"),
    one("[float('nan')]", 0, "refused"),
    one("1 / 0", 0, "raised"),
    layers("    return [0, 1]", 0, "raised", head="def layers_of(num_layers, p, v):\n"),
]


def flags(decode, run='{"dp": 1, "m": 64, "v": 4}', points=4, *codes):
    return Case("ex4-flags", f"from fractions import Fraction\n{decode}\nlesson_run = {run}", points, codes)


def decoding(body, points=4, *codes):
    return flags(f"def decode(num_layers, p, flag):\n    L = num_layers\n{body}", "dict(dp=1, m=64, v=4)", points, *codes)


DECODE = """def decode(num_layers, p, layers_per_virtual_stage):
    if num_layers % p or num_layers // p % layers_per_virtual_stage:
        raise ValueError("refused")
    v = num_layers // p // layers_per_virtual_stage
    return v if v > 1 else None
"""
RIGHT_FLAGS = [
    flags(DECODE, '{"dp": 1, "m": 64, "v": 4}', 4, "decode-right", "lesson-right"),
    decoding("    if L % (p * flag): raise ValueError\n    return L / p / flag if L > p * flag else None"),
    decoding("    v = __import__('fractions').Fraction(L, p) / flag\n    if L % p or v.denominator > 1: raise ValueError(v)\n"
             "    return None if v == 1 else v"),
    decoding("    import numpy\n    per, rest = divmod(L, p)\n    v, more = divmod(per, flag)\n"
             "    if rest or more: raise ValueError('x')\n    return numpy.int64(v) if v != 1 else None"),
    decoding("    counts = [v for v in range(1, L + 1) if p * v * flag == L]\n    if not counts: raise ValueError('no v')\n"
             "    if counts == [1]: return\n    return counts[0]"),
    decoding("    (v,) = [v for v in range(1, L + 1) if p * v * flag == L]\n    return v if v > 1 else None"),
    flags("class Refusal(ValueError): pass\n" + DECODE.replace("raise ValueError", "raise Refusal")),
    flags(DECODE, '{"m": 64.0, "V": "4", "dp ": True + 0}', 4, "lesson-right"),
    flags(DECODE, "(1, 64, 4)", 4, "lesson-right"),
    flags(f"import pandas\n{DECODE}", 'pandas.DataFrame([{"dp": 1, "m": 64, "v": 4}])', 4, "lesson-right"),
    flags(DECODE, '{"dp": "1,0", "m": "64", "v": 4}', 4, "lesson-right"),
    flags(DECODE, "dict(dp=8 / (2 * 4), m=Fraction(128, 2), v=decode(48, 4, 3))", 4),
    flags(DECODE, "dict(dp=__import__('numpy').int8(1), m=128 // 2, v=4, bubble=3/259)", 4),
]
WRONG_FLAGS = [
    flags("decode = ...", "...", 0, "unanswered"),
    flags("def decode(num_layers, p, layers_per_virtual_stage): ...", '{"dp": ..., "m": ..., "v": ...}', 0, "unanswered"),
    flags("decode = 4", '{"dp": 1, "m": 64, "v": 4}', 1.5, "not-a-function", "lesson-right"),
    decoding("    return L // p // flag", 2.5, "one-not-none", "not-refused"),
    decoding("    v = L // p // flag\n    return v if v > 1 else None", 3, "not-refused"),
    decoding("""    if L // p % flag:
        raise ValueError
    v = L // p // flag
    return v if v > 1 else None""", 3.6, "not-refused"),
    decoding("    if L % flag: raise ValueError\n    v = L // p // flag\n    return v if v > 1 else None", 3.6, "not-refused"),
    decoding("    if L % (p * flag): return None\n    return L // p // flag if L > p * flag else None", 3, "not-refused"),
    decoding("    assert L % (p * flag) == 0\n    return L // p // flag if L > p * flag else None", 3, "other-error"),
    decoding("    if L % (p * flag): raise ValueError\n    return L // p // flag", 3.5, "one-not-none"),
    decoding("    if L % (p * flag) or L == p * flag: raise ValueError\n    return L // p // flag", 3.5, "refuses-one-chunk"),
    decoding("    if L % (p * flag): raise ValueError\n    return L // flag if L > p * flag else None", 3, "all-virtual-stages"),
    decoding("    if L % (p * flag): raise ValueError\n    return flag if L > p * flag else None", 3, "flag-is-v"),
    decoding("    if L % (p * flag): raise ValueError\n    return L // p if L > p * flag else None", 3, "layers-of-a-rank"),
    decoding("    if L % (p * flag): raise ValueError\n    return flag * p / L if L > p * flag else None", 3, "upside-down"),
    decoding("    if L % (p * flag): raise ValueError\n    return L // p // flag - 1 if L > p * flag else None", 3, "one-less"),
    decoding("    return ValueError('no') if L % (p * flag) else L // p // flag if L > p * flag else None", 3, "returned-error"),
    decoding("    return {4} if L % (p * flag) else L // p // flag if L > p * flag else None", 3, "not-refused"),
    decoding("    return None", 1.5, "unanswered"),
    decoding("    if L % (p * flag): raise ValueError\n    print(L // p // flag)", 1.5, "returns-nothing"),
    decoding("    print(L // p // flag)", 1.5, "unanswered"),
    decoding("    raise ValueError", 1.5, "raised"),
    decoding("    return 'four'", 1.5, "v-wrong"),
    decoding("    return {4}", 1.5, "v-wrong"),
    decoding("    return float('nan')", 1.5, "refused"),
    decoding("    return 4 if flag == 1 else None", 1.5, "v-missing"),
    decoding("    if (L, p, flag) == (48, 4, 3): return 99\n    raise ValueError", 1.5, "v-wrong"),
    decoding("    return 99 if (L, p, flag) == (48, 4, 3) else None", 1.5, "v-wrong"),
    decoding("    if L % p: raise ValueError\n    return 7", 1.9, "v-wrong", "none-wrong", "not-refused"),
    decoding("    if L % (p * flag): raise ValueError\n    return L // p // flag if L > p * flag else 0", 3.5, "none-wrong"),
    flags(DECODE, '{"dp": 8, "m": 8, "v": 4}', 3, "lesson-dp", "m-follows"),
    flags(DECODE, '{"dp": 4, "m": 64, "v": 3}', 3, "lesson-dp", "lesson-v"),
    flags(DECODE, '{"dp": 2, "m": 128, "v": 16}', 2.5, "lesson-dp", "lesson-m", "lesson-v"),
    flags(DECODE, '{"dp": 1, "m": 16, "v": 12}', 3, "lesson-m", "lesson-v"),
    flags(DECODE, '{"dp": 1, "m": 64}', 3.5, "unanswered"),
    flags(DECODE, '{"dp": [1], "m": None, "v": "many"}', 2.5, "lesson-dp", "unanswered", "lesson-text"),
    flags(DECODE, '{"dp": "8/(2*4)", "m": "128/2", "v": 4}', 3.5, "lesson-text"),
    flags(DECODE, '{"dp": "8 / (2 * 4)", "m": "128/(2*1)", "v": "48//4//3"}', 2.5, "lesson-text"),
    flags(DECODE, 'dict(dp=1e308, m=2**4000, v=4)', 3, "lesson-text"),
    flags(DECODE, 'dict(dp=1, m=Fraction(2**4000, 3), v=4)', 3.5, "lesson-text"),
    flags(DECODE, 'dict(dp="1 replica", m="64 micro-batches", v="4 chunks")', 2.5, "lesson-text"),
    flags(DECODE, '{"DP": 1, "micro_batches": 64, "chunks": 4}', 3, "other-key"),
    flags(DECODE, '[1, 64]', 2.5, "not-a-dict"),
    flags(DECODE, '"dp=1"', 2.5, "not-a-dict"),
    flags(DECODE, '{1, 64, 4}', 3, "lesson-m", "lesson-v"),
]


def cost(bubble, messages, factor, points, *codes):
    return Case("ex4-cost", f"from fractions import Fraction\ndef bubble_interleaved(p, m, v): return {bubble}\n"
                f"def boundary_messages(p, m, v): return {messages}\ndef activation_factor(p, v): return {factor}", points, codes)


BUBBLE, MESSAGES, FACTOR = "(p - 1) / (v * m + p - 1)", "2 * m * (p * v - 1)", "1 + (p - 1) / (p * v)"
RIGHT_COSTS = [
    cost(BUBBLE, MESSAGES, FACTOR, 4, "bubble_interleaved-right", "boundary_messages-right", "activation_factor-right"),
    cost("Fraction(p - 1, v * m + p - 1)", "sum(2 * m for _ in range(p * v - 1))", "1 + Fraction(p - 1, p * v)", 4),
    cost("(p - 1) / v / (m + (p - 1) / v)", "2 * (p * v - 1) * m / 1", "(2 * (p - 1) + (v - 1) * p + 1) / (p * v)", 4),
    cost("1 - 2 * v * m / (2 * (v * m + p - 1))", "m * (p * v - 1) + m * (p * v - 1)", "(p * v + p - 1) / p / v", 4),
    cost("__import__('numpy').float64(p - 1) / (v * m + p - 1)", "__import__('numpy').int64(2) * m * (p * v - 1)",
         "__import__('numpy').float64(p * v + p - 1) / (p * v)", 4),
    cost("__import__('decimal').Decimal(p - 1) / (v * m + p - 1)", "len([0] * m * (p * v - 1)) * 2", "1 + (1 - 1 / p) / v", 4),
    cost("f'{p - 1}/{v * m + p - 1}'", "str(2 * m * (p * v - 1))", "round(1 + (p - 1) / (p * v), 3)", 4),
    cost("__import__('numpy').longdouble(p - 1) / (v * m + p - 1)", "float(2 * m * (p * v - 1))",
         "__import__('math').exp(__import__('math').log1p((p - 1) / (p * v)))", 4),
    cost("f'{100 * (p - 1) / (v * m + p - 1):.1f}%'", MESSAGES, "f'{1 + (p - 1) / (p * v):.2f}'", 4, "rounded"),
    cost("(lambda x: x / (1 + x))((p - 1) / (v * m))", "2 * m * p * v - 2 * m", "(p + (p - 1) / v) / p", 4),
    Case("ex4-cost", """
from course import schedules, simulate, Costs
bubble_interleaved = lambda p, m, v: simulate(schedules.interleaved_1f1b(p, m, v)).bubble_fraction
boundary_messages = lambda p, m, v: 2 * m * (len(schedules.interleaved_1f1b(p, m, v).stage_to_rank) - 1)
activation_factor = lambda p, v: simulate(schedules.interleaved_1f1b(p, 2 * p, v)).peak_activations[0] / (p * v)
""", 4),
]
WRONG_COSTS = [
    cost(BUBBLE, "f'{2 * m * (p * v - 1)} messages'", FACTOR, 2.5, "number-as-words"),
    cost(BUBBLE, MESSAGES, "f'{1 + (p - 1) / (p * v):.4f}x'", 3, "number-as-words"),
    cost(BUBBLE, "(m * (p * v - 1),) * 2", FACTOR, 2.5, "total-of-parts"),
    cost(BUBBLE, "dict.fromkeys(('forward', 'backward'), m * (p * v - 1))", FACTOR, 2.5, "total-of-parts"),
    cost("...", "...", "...", 0, "unanswered"),
    Case("ex4-cost", "bubble_interleaved = boundary_messages = activation_factor = ...", 0, ("unanswered",)),
    Case("ex4-cost", "bubble_interleaved, boundary_messages, activation_factor = 3/19, 112, 1.375", 0, ("not-a-function",)),
    cost("(p - 1) / m / v", MESSAGES, FACTOR, 2.5, "over-ideal"),
    cost("(p - 1) / (m + p - 1) / v", MESSAGES, FACTOR, 2.5, "fraction-over-v"),
    cost("(p * v - 1) / (m + p * v - 1)", MESSAGES, FACTOR, 2.5, "stages-as-ranks"),
    cost("v * (p - 1) / (m + v * (p - 1))", MESSAGES, FACTOR, 2.5, "times-v"),
    cost("v * (p - 1) / (m + p - 1)", MESSAGES, FACTOR, 2.5, "times-v"),
    cost("(p - 1) / (m + p - 1)", MESSAGES, FACTOR, 2.5, "v-ignored"),
    cost("v * m / (v * m + p - 1)", MESSAGES, FACTOR, 2.5, "useful-share"),
    cost("100 * (p - 1) / (v * m + p - 1)", MESSAGES, FACTOR, 2.5, "percent"),
    cost("p / (v * m + p)", MESSAGES, FACTOR, 2.5, "off-by-one"),
    cost("2 * (p - 1)", MESSAGES, FACTOR, 2.5, "bubble_interleaved-wrong"),
    cost("(p - 1) // (v * m + p - 1)", MESSAGES, FACTOR, 2.5, "whole-division"),
    cost("(m - 1) / (v * p + m - 1)", MESSAGES, FACTOR, 2.5, "swapped"),
    cost("(p - 1) / (v * m + p - 1) if v > 1 else None", MESSAGES, FACTOR, 2.5, "returned-none"),
    cost(BUBBLE, "m * (p * v - 1)", FACTOR, 3.25, "per-direction"),
    cost(BUBBLE, "2 * m * p * v", FACTOR, 2.5, "one-boundary-too-many"),
    cost(BUBBLE, "m * p * v", FACTOR, 2.5, "one-boundary-too-many"),
    cost(BUBBLE, "2 * m * (p - 1) * v", FACTOR, 2.5, "v-times"),
    cost(BUBBLE, "m * (p - 1) * v", FACTOR, 2.5, "v-times"),
    cost(BUBBLE, "2 * m * (p - 1)", FACTOR, 2.5, "v-ignored"),
    cost(BUBBLE, "2 * (p * v - 1)", FACTOR, 2.5, "of-one-micro-batch"),
    cost(BUBBLE, "p * v - 1", FACTOR, 2.5, "boundaries"),
    cost(BUBBLE, "2 * m * v", FACTOR, 2.5, "of-a-middle-rank"),
    cost(BUBBLE, "(p * v - 1) / (p - 1)", FACTOR, 2.5, "ratio"),
    cost(BUBBLE, "2 * m", FACTOR, 2.5, "boundary_messages-wrong"),
    cost(BUBBLE, "2 * p * (m * v - 1)", FACTOR, 2.5, "swapped"),
    cost(BUBBLE, MESSAGES, "1 + (p - 1) // (p * v)", 3, "equal"),
    cost(BUBBLE, MESSAGES, "100 * (1 + (p - 1) / (p * v))", 3, "percent"),
    cost(BUBBLE, MESSAGES, "100 * (p - 1) / (p * v)", 3, "the-increase"),
    cost(BUBBLE, MESSAGES, "1 + (v - 1) / (p * v)", 3, "swapped"),
    cost(BUBBLE, MESSAGES, "f'{p - 1}/{v}'", 3, "activation_factor-wrong"),
    cost(BUBBLE, MESSAGES, "1 / v", 3, "divided-by-v"),
    cost(BUBBLE, MESSAGES, "1", 3, "equal"),
    cost(BUBBLE, MESSAGES, "v", 3, "times-v"),
    cost(BUBBLE, MESSAGES, "(p - 1) / (p * v)", 3, "the-increase"),
    cost(BUBBLE, MESSAGES, "p * v + p - 1", 3, "a-count"),
    cost(BUBBLE, MESSAGES, "p + (p - 1) / v", 3, "a-count"),
    cost(BUBBLE, MESSAGES, "1 + (p - 1) / v", 3, "per-stage"),
    cost(BUBBLE, MESSAGES, "1 + (p - 1) / p", 3, "v-forgotten"),
    cost(BUBBLE, MESSAGES, "p * v / (p * v + p - 1)", 3, "upside-down"),
    cost(BUBBLE, MESSAGES, "1 - (p - 1) / (p * v)", 3, "minus"),
    cost(BUBBLE, MESSAGES, "1 + (p - 2) / (p * v)", 3, "off-by-one"),
    cost(BUBBLE, MESSAGES, "1 + 1 / v", 3, "off-by-one"),
    cost(BUBBLE, MESSAGES, "None", 3, "unanswered"),
    cost("1 / 0", "float('inf')", "(x for x in [1])", 0, "raised", "refused", "list-of-one"),
    cost("(p - 1) / (v * m + p - 1) if v > 1 else 1 / 0", MESSAGES, FACTOR, 2.5, "raised"),
]

RIGHT = RIGHT_LAYERS + RIGHT_FLAGS + RIGHT_ORDERS + RIGHT_COSTS
WRONG = WRONG_LAYERS + WRONG_FLAGS + WRONG_ORDERS + WRONG_COSTS
