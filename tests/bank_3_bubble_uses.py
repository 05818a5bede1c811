"""Right and wrong answers of notebook 3: the inverse, the definitions, the best micro-batch size."""

from tests.bank import Case


def inverse(body, points, *codes, before=""):
    body = body if body.startswith("\n") else f"\n    return {body}"
    source = f"import math\nfrom fractions import Fraction\n{before}\ndef micro_batches_needed(p, fraction):{body}"
    return Case("ex3-inverse", source, points, codes)


RIGHT_INVERSE = [
    inverse("max(1, math.ceil((p - 1) * (1 - fraction) / fraction))", 3, "micro_batches_needed-right"),
    inverse("max(1, math.ceil((p - 1) * (1 / fraction - 1)))", 3),
    inverse("next(m for m in range(1, 10 ** 6) if 1 - m / (m + p - 1) <= fraction)", 3),
    inverse("\n    m = 1\n    while (p - 1) / (m + p - 1) > fraction:\n        m += 1\n    return m", 3),
    inverse("next(m for m in range(1, 10 ** 6) if (p - 1) / (m + p - 1) <= fraction)", 3),
    inverse("max(1, -int((1 - p) * (1 - fraction) // fraction))", 3),
    inverse("max(math.ceil((p - 1) / Fraction(fraction) - (p - 1)), 1)", 3),
    inverse("float(max(1, math.ceil((p - 1) / fraction - p + 1)))", 3),
    inverse("np.maximum(1, np.ceil((p - 1) * (1 - fraction) / fraction))", 3, before="import numpy as np"),
    inverse("""
    low, high = 1, 1
    while (p - 1) / (high + p - 1) > fraction:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if (p - 1) / (middle + p - 1) > fraction:
            low = middle + 1
        else:
            high = middle
    return high""", 3),
    inverse("str(max(1, math.ceil((p - 1) * (1 - fraction) / fraction)))", 3),
]
RECURSION = """
    def least(m):
        return m if (p - 1) / (m + p - 1) <= fraction else least(m + 1)
    return least({})"""
WRONG_INVERSE = [
    inverse(RECURSION.format(1), 2, "calls-itself-too-often"),
    inverse(RECURSION.format("p"), 2, "starts-at-p"),
    inverse("\n    return micro_batches_needed(p, fraction)", 0, "raised"),
    Case("ex3-inverse", "micro_batches_needed = ...", 0, ("unanswered",)),
    inverse("\n    ...", 0, "unanswered"),
    Case("ex3-inverse", "micro_batches_needed = 27", 0, ("not-a-function",)),
    inverse("math.ceil((p - 1) * (1 - fraction) / fraction)", 2, "one-stage-zero"),
    inverse("max(1, math.floor((p - 1) * (1 - fraction) / fraction))", 2, "one-too-few"),
    inverse("int((p - 1) * (1 - fraction) / fraction)", 1, "one-too-few"),
    inverse("math.ceil((p - 1) * (1 - fraction) / fraction) + 1", 2, "one-too-many"),
    inverse("max(1, (p - 1) * (1 - fraction) / fraction)", 2, "not-whole"),
    inverse("(p - 1) * (1 - fraction) / fraction", 1, "not-whole"),
    inverse("max(1, round((p - 1) * (1 - fraction) / fraction))", 2, "nearest"),
    inverse("max(1, math.ceil((p - 1) / fraction))", 0, "over-ideal"),
    inverse("(p - 1) / fraction", 0, "over-ideal"),
    inverse("max(1, math.ceil(p * (1 - fraction) / fraction))", 0, "off-by-one"),
    inverse("max(1, math.ceil(p / fraction))", 0, "off-by-one"),
    inverse("max(1, math.ceil((p - 1) * (100 - fraction) / fraction))", 0, "percent"),
    inverse("max(1, math.ceil((p - 1) * fraction / (1 - fraction)))", 0, "useful-share"),
    inverse("max(1, math.floor((p - 1) * (1 - fraction) / fraction) + 1)", 2, "strict"),
    inverse("\n    m = 1\n    while (p - 1) / (m + p - 1) >= fraction:\n        m += 1\n    return m", 2, "strict"),
    inverse("\n    m = p\n    while (p - 1) / (m + p - 1) > fraction:\n        m += 1\n    return m", 2, "starts-at-p"),
    inverse("1", 0, "always-one"),
    Case("ex3-inverse", "import math\ndef micro_batches_needed(f, p): return max(1, math.ceil((p - 1) * (1 - f) / f))", 0,
         ("always-one",)),
    inverse("\n    for m in range(1, 20):\n        if (p - 1) / (m + p - 1) <= fraction:\n            return m", 0,
            "returned-none"),
    inverse("10 ** 6", 0, "micro_batches_needed-wrong"),
    inverse("(p - 1) / (8 + p - 1)", 0, "micro_batches_needed-wrong"),
    inverse("math.ceil((1 - fraction) / fraction) / (p - 1)", 0, "micro_batches_needed-wrong"),
    inverse("[m for m in range(100)]", 0, "micro_batches_needed-wrong"),
    inverse("(m for m in range(3))", 0, "micro_batches_needed-wrong"),
    inverse("fraction > 0", 0, "truth-value"),
    inverse("next((m for m in range(1, 500) if (p - 1) / (m + p - 1) <= fraction), 499)", 0, "micro_batches_needed-wrong"),
    inverse("float('nan')", 0, "refused"),
    inverse("\n    raise ValueError('not yet')", 0, "raised"),
    inverse("\n    assert p > 1, 'no bubble'\n    return math.ceil((p - 1) * (1 - fraction) / fraction)", 2, "one-stage"),
]
ENDLESS = inverse("\n    m = 1\n    while (p - 1) / (m + p - 1) > fraction:\n        pass\n    return m", 0, "too-slow")


def definitions(over, of_total, points, *codes, before=""):
    source = f"{before}\nbubble_over_ideal = lambda p, m: {over}\nto_fraction_of_total = lambda x: {of_total}"
    return Case("ex3-definitions", source, points, codes)


RIGHT_DEFINITIONS = [
    definitions("(p - 1) / m", "x / (1 + x)", 2, "bubble_over_ideal-right", "to_fraction_of_total-right"),
    definitions("Fraction(p - 1, m)", "Fraction(x) / (1 + Fraction(x))", 2, before="from fractions import Fraction"),
    definitions("(m + p - 1) / m - 1", "1 - 1 / (1 + x)", 2),
    definitions("np.float64(p - 1) / m", "np.divide(x, x + 1)", 2, before="import numpy as np"),
    definitions("2 * (p - 1) / (2 * m)", "1 / (1 + 1 / x) if x else 0", 2),
    definitions("sum(1 for _ in range(p - 1)) / m", "x * (1 + x) ** -1", 2),
    definitions("(lambda f: f / (1 - f))((p - 1) / (m + p - 1))", "x / sum((1, x))", 2),
    definitions("round((p - 1) / m, 4)", "round(x / (1 + x), 4)", 2, "rounded"),
    definitions("np.float32((p - 1) / m)", "np.array([x / (1 + x)])", 2, before="import numpy as np"),
    definitions("f'{p - 1}/{m}'", "f'{100 * x / (1 + x)}%'", 2),
    definitions("f'{100 * (p - 1) / m:.1f}%'", "f'{x / (1 + x):.2f}'", 2, "rounded"),
]
WRONG_DEFINITIONS = [
    Case("ex3-definitions", "bubble_over_ideal = to_fraction_of_total = ...", 0, ("unanswered",)),
    Case("ex3-definitions", "bubble_over_ideal, to_fraction_of_total = 3 / 8, 3 / 11", 0, ("not-a-function",)),
    definitions("(p - 1) / (m + p - 1)", "x / (1 + x)", 1, "over-total"),
    definitions("p / m", "x / (1 + x)", 1, "off-by-one"),
    definitions("(p - 1) / p", "x / (1 + x)", 1, "over-stages"),
    definitions("(m + p - 1) / m", "x / (1 + x)", 1, "total-over-ideal"),
    definitions("m / (p - 1)", "x / (1 + x)", 1, "upside-down"),
    definitions("100 * (p - 1) / m", "x / (1 + x)", 1, "percent"),
    definitions("2 * (p - 1) / m", "x / (1 + x)", 1, "units-mixed"),
    definitions("(p - 1) / (2 * m)", "x / (1 + x)", 1, "units-mixed"),
    definitions("(p - 1) / (p * m)", "x / (1 + x)", 1, "stages-mixed"),
    definitions("(p - 1) // m", "x / (1 + x)", 1, "whole-division"),
    definitions("0", "x // (1 + x)", 0, "whole-division"),
    definitions("(m - 1) / p", "int(x / (1 + x))", 0, "swapped", "whole-division"),
    definitions("m / (m + p - 1)", "x / (1 + x)", 1, "useful-share"),
    definitions("m - p", "x / (1 + x)", 1, "bubble_over_ideal-wrong"),
    definitions("(p - 1) / m", "x / (1 - x)", 1, "other-way"),
    definitions("(p - 1) / m", "1 / (1 + x)", 1, "useful-share"),
    definitions("(p - 1) / m", "x", 1, "unchanged"),
    definitions("(p - 1) / m", "1 + x", 1, "total-over-ideal"),
    definitions("(p - 1) / m", "(1 + x) / x", 1, "upside-down"),
    definitions("(p - 1) / m", "1 - x", 1, "one-minus"),
    definitions("(p - 1) / m", "100 * x / (1 + x)", 1, "percent"),
    definitions("(p - 1) / m", "x ** 2", 1, "to_fraction_of_total-wrong"),
    definitions("(p - 1) / m", "None", 1, "unanswered"),
    definitions("(p - 1) / m", "x / (1 + m)", 1, "raised"),
    definitions("'(p-1)/m'", "[x]", 0, "number-as-words", "list-of-one"),
    definitions("float('inf')", "{x}", 0, "refused"),
]


def limits(body, points, *codes, before=""):
    body = body if body.startswith("\n") else f"\n    return {body}"
    return Case("ex3-limits", f"{before}\ndef best_micro_batch_size(global_batch, p, dp, times):{body}", points, codes)


RIGHT_LIMITS = [
    limits("min(times, key=lambda b: (global_batch / (b * dp) + p - 1) * times[b])", 3, "best-right"),
    limits("""
    best, least = None, float("inf")
    for b, seconds in times.items():
        step = (global_batch // dp // b + p - 1) * seconds
        if step <= least:
            best, least = b, step
    return best""", 3),
    limits("sorted(times, key=lambda b: (global_batch // (b * dp) + p - 1) * times[b])[0]", 3),
    limits("""
    chosen, least = None, None
    while times:
        b, seconds = times.popitem()
        step = (global_batch / (b * dp) + p - 1) * seconds
        if least is None or step < least:
            chosen, least = b, step
    return chosen""", 3),
    limits("int(np.array(list(times))[np.argmin([(global_batch / b / dp + p - 1) * t for b, t in times.items()])])", 3,
           before="import numpy as np"),
    limits("np.int64(min((Fraction(global_batch, b * dp) + p - 1) * Fraction(t), b)[1] if False else "
           "min(((Fraction(global_batch, b * dp) + p - 1) * Fraction(t), b) for b, t in times.items())[1])", 3,
           before="import numpy as np\nfrom fractions import Fraction"),
    limits("float(max((-(global_batch / (b * dp) + p - 1) * t, -b) for b, t in times.items())[1] * -1)", 3),
    limits("""
    def finish(m, t):
        ends = [0.0] * p
        for _ in range(m):
            for stage in range(p):
                ends[stage] = max(ends[stage], ends[stage - 1] if stage else 0.0) + t
        return ends[-1]
    return min(times, key=lambda b: finish(global_batch // (b * dp), times[b]))""", 3),
]
WRONG_LIMITS = [
    Case("ex3-limits", "best_micro_batch_size = ...", 0, ("unanswered",)),
    limits("\n    ...", 0, "unanswered"),
    Case("ex3-limits", "best_micro_batch_size = 4", 0, ("not-a-function",)),
    limits("min(times, key=lambda b: global_batch / (b * dp) * times[b])", 0, "forgets-fill"),
    limits("min(times, key=lambda b: times[b] / b)", 0, "forgets-fill"),
    limits("min(times, key=lambda b: (global_batch / b + p - 1) * times[b])", 2, "forgets-dp"),
    limits("min(times, key=lambda b: (global_batch / (b * dp) + p) * times[b])", 0, "p-for-p-1"),
    limits("min(times)", 0, "most-micro-batches"),
    limits("min(times, key=lambda b: (p - 1) / (global_batch / (b * dp) + p - 1))", 0, "most-micro-batches"),
    limits("max(times)", 0, "largest"),
    limits("min(times, key=times.get)", 0, "shortest-operation"),
    limits("global_batch // (dp * min(times, key=lambda b: (global_batch / (b * dp) + p - 1) * times[b]))", 0, "returns-m"),
    limits("min((global_batch / (b * dp) + p - 1) * t for b, t in times.items())", 0, "returns-seconds"),
    limits("min(enumerate(times), key=lambda pair: (global_batch / (pair[1] * dp) + p - 1) * times[pair[1]])[0]", 0,
           "returns-index"),
    limits("max(times, key=lambda b: (global_batch / (b * dp) + p - 1) * times[b])", 0, "longest"),
    limits("sorted(times)[len(times) // 2]", 0, "not-the-best"),
    limits("5", 0, "not-a-size"),
    limits("'the smallest'", 0, "not-a-size"),
    limits("[4]", 0, "not-a-size"),
    limits("None", 0, "unanswered"),
    limits("\n    best = None\n    for b in times:\n        if times[b] < 0.03:\n            best = b\n    return best", 0,
           "returned-none"),
    limits("(b for b in times)", 0, "not-a-size"),
    limits("float('nan')", 0, "refused"),
    limits("times[3]", 0, "raised"),
    limits("\n    raise SystemExit(4)", 0, "raised"),
    limits("min(times, key=lambda b: (global_batch / (b * dp) + p - 1) * times[b]) if dp == 1 else 1 / 0", 2, "raised"),
    Case("ex3-limits", "def best_micro_batch_size(global_batch, p, times): return 1", 0, ("raised",)),
]

RIGHT_USES = RIGHT_INVERSE + RIGHT_DEFINITIONS + RIGHT_LIMITS
WRONG_USES = WRONG_INVERSE + WRONG_DEFINITIONS + WRONG_LIMITS
