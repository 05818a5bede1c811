"""Right and wrong answers of notebook 3: the formula and two of its values; the other exercises' are in bank_3_bubble_uses."""

from tests.bank import Case
from tests.bank_3_bubble_uses import RIGHT_USES, WRONG_USES

GOOD = {"total_slots": "2 * (m + p - 1)", "busy_slots": "2 * m", "bubble_fraction": "(p - 1) / (m + p - 1)"}


def derive(points, *codes, before="", **formulas):
    """The three functions, the right ones but for the formulas given; a formula may be a whole body."""
    parts = [before]
    for name, formula in (GOOD | formulas).items():
        body = formula if formula.startswith("\n") else f"\n    return {formula}"
        parts.append(f"def {name}(p, m):{body}")
    return Case("ex3-derive", "\n".join(parts), points, codes)


SIMULATION = """
def total_slots(p, m):
    ends = [[0] * m for _ in range(p + 1)]
    for s in range(p):
        for i in range(m):
            ends[s + 1][i] = max(ends[s][i], ends[s + 1][i - 1] if i else s) + 1
    return 2 * ends[p][m - 1]
def busy_slots(p, m): return sum(1 for kind in "FB" for _ in range(m))
def bubble_fraction(p, m): return 1 - busy_slots(p, m) / total_slots(p, m)
"""

RIGHT_DERIVE = [
    derive(8, "total_slots-right", "busy_slots-right", "bubble_fraction-right"),
    derive(8, total_slots="m + p - 1", busy_slots="m"),
    derive(8, total_slots="3 * (m + p - 1)", busy_slots="3 * m", bubble_fraction="Fraction(p - 1, m + p - 1)",
           before="from fractions import Fraction"),
    derive(8, total_slots="2 * p * (m + p - 1)", busy_slots="2 * m * p",
           bubble_fraction="1 - busy_slots(p, m) / total_slots(p, m)"),
    derive(8, total_slots="2.5 * (m + p - 1)", busy_slots="2.5 * m"),
    derive(8, total_slots="(m + p - 1) / 10", busy_slots="m / 10", bubble_fraction="1 / (1 + m / (p - 1)) if p > 1 else 0"),
    derive(8, before="import numpy as np", total_slots="np.int64(2) * (m + p - 1)", busy_slots="np.float64(2 * m)",
           bubble_fraction="np.divide(p - 1, m + p - 1)"),
    derive(8, "rounded", bubble_fraction="round((p - 1) / (m + p - 1), 3)"),
    derive(8, "rounded", bubble_fraction="round((p - 1) / (m + p - 1), 2)"),
    derive(8, total_slots="str(2 * (m + p - 1))", busy_slots="[[2 * m]][0][0]", bubble_fraction="f'{p - 1}/{m + p - 1}'"),
    derive(8, before="class Tensor:\n    def __init__(self, value): self.value = value\n    def tolist(self): return self.value",
           total_slots="Tensor([2 * (m + p - 1)])", busy_slots="Tensor(2 * m)",
           bubble_fraction="Tensor([(p - 1.0) / (m + p - 1)])"),
    derive(8, "rounded", bubble_fraction="f'{100 * (p - 1) / (m + p - 1):.1f}%'"),
    derive(8, before="from decimal import Decimal", bubble_fraction="Decimal(p - 1) / Decimal(m + p - 1)"),
    derive(8, before="from course import schedules, simulate", total_slots="simulate(schedules.gpipe(p, m)).makespan",
           bubble_fraction="simulate(schedules.one_f_one_b(p, m)).bubble_fraction"),
    derive(8, total_slots="\n    slots = 2 * m\n    for stage in range(1, p):\n        slots += 2\n    return slots"),
    derive(8, bubble_fraction="((p - 1) / m) / (1 + (p - 1) / m)"),
    derive(8, total_slots="sum(2 for _ in range(m + p - 1))", busy_slots="\n    print('busy')\n    return 2 * m"),
    Case("ex3-derive", SIMULATION, 8, ("bubble_fraction-right",)),
    Case("ex3-derive", "import functools\n@functools.cache\ndef total_slots(p, m):\n"
         "    return total_slots(p, m - 1) + 2 if m > 1 else 2 * p\ndef busy_slots(p, m): return total_slots(1, m)\n"
         "bubble_fraction = lambda p, m: 1 - busy_slots(p, m) / total_slots(p, m)", 8),
]

WRONG_DERIVE = [
    Case("ex3-derive", "total_slots = busy_slots = bubble_fraction = ...", 0, ("unanswered",)),
    derive(0, "unanswered", total_slots="\n    ...", busy_slots="\n    ...", bubble_fraction="\n    ..."),
    Case("ex3-derive", "total_slots, busy_slots, bubble_fraction = 22, 16, 3 / 11", 0, ("not-a-function",)),
    Case("ex3-derive", "total_slots, busy_slots, bubble_fraction = None, 'm', [1]", 0, ("not-a-function",)),
    derive(5, "over-ideal", bubble_fraction="(p - 1) / m"),
    derive(5, "over-ideal", bubble_fraction="p / m"),
    derive(5, "over-stages", bubble_fraction="(p - 1) / p"),
    derive(5, "off-by-one", bubble_fraction="p / (m + p)"),
    derive(5, "total-off-by-one", bubble_fraction="(p - 1) / (m + p)"),
    derive(5, "idle-too-long", bubble_fraction="p / (m + p - 1)"),
    derive(5, "upside-down", bubble_fraction="(m + p - 1) / (p - 1)"),
    derive(5, "percent", bubble_fraction="100 * (p - 1) / (m + p - 1)"),
    derive(5, "useful-share", bubble_fraction="m / (m + p - 1)"),
    derive(5, "swapped", bubble_fraction="(m - 1) / (m + p - 1)"),
    derive(5, "units-mixed", bubble_fraction="2 * (p - 1) / (m + p - 1)"),
    derive(5, "units-mixed", bubble_fraction="(p - 1) / (2 * (m + p - 1))"),
    derive(5, "stages-mixed", bubble_fraction="p * (p - 1) / (m + p - 1)"),
    derive(5, "stages-mixed", bubble_fraction="(p - 1) / (p * (m + p - 1))"),
    derive(5, "total-over-busy", bubble_fraction="(m + p - 1) / m"),
    derive(5, "a-count", bubble_fraction="2 * (p - 1)"),
    derive(5, "a-count", bubble_fraction="p - 1"),
    derive(5, "whole-division", bubble_fraction="(p - 1) // (m + p - 1)"),
    derive(5, "whole-division", bubble_fraction="0"),
    derive(5, "whole-division", bubble_fraction="int((p - 1) / (m + p - 1))"),
    derive(5, "units-mixed", bubble_fraction="(p - 1) / (2 * m + p - 1)"),
    derive(5, "m-is-p", bubble_fraction="(p - 1) / (2 * p - 1)"),
    derive(5, "returned-none", bubble_fraction="\n    if p > 1:\n        return (p - 1) / (m + p - 1)"),
    derive(5, "total_slots-wrong", total_slots="2 * (m + 3)"),
    derive(5, "total_slots-wrong", total_slots="2 * (m + p - 1) if p > 1 else m"),
    derive(5, "total_slots-wrong", total_slots="2 * (m + p - 1) if m > 1 else p"),
    derive(5, "constant", bubble_fraction="3 / 11"),
    derive(5, "bubble_fraction-wrong", bubble_fraction="(p + 1) / (m * m + p)"),
    derive(3, "total-off-by-one", "off-by-one", "follows-own", total_slots="m + p", busy_slots="m",
           bubble_fraction="1 - busy_slots(p, m) / total_slots(p, m)"),
    derive(5, "total-off-by-one", total_slots="2 * (m + p)"),
    derive(5, "total-one-too-short", total_slots="2 * (m + p - 2)"),
    derive(5, "total-slot-too-short", total_slots="2 * (p + m - 1) - 1"),
    derive(5, "total-slot-too-long", total_slots="2 * (p + m - 1) + 1"),
    derive(5, "no-bubble", total_slots="2 * m"),
    derive(5, "one-at-a-time", total_slots="2 * m * p"),
    derive(5, "way-back", total_slots="2 * m + p - 1"),
    derive(5, "wait-twice", total_slots="2 * m + 4 * (p - 1)"),
    derive(5, "constant", total_slots="22"),
    derive(5, "total_slots-wrong", total_slots="m * m + p"),
    derive(5, "total_slots-wrong", total_slots="-2 * (m + p - 1)"),
    derive(7, "units-differ", busy_slots="m"),
    derive(7, "units-differ", busy_slots="2 * m * p"),
    derive(7, "units-differ", total_slots="p * (m + p - 1)", busy_slots="m"),
    derive(6, "is-total", busy_slots="2 * (m + p - 1)"),
    derive(6, "is-idle", busy_slots="2 * (p - 1)"),
    derive(6, "counts-stages", busy_slots="2 * p"),
    derive(6, "busy-one-too-few", busy_slots="2 * (m - 1)"),
    derive(6, "constant", busy_slots="16"),
    derive(6, "busy_slots-wrong", busy_slots="2 * m + 1"),
    derive(0, "constant", total_slots="22", busy_slots="16", bubble_fraction="3 / 11"),
    derive(5, "raised", total_slots="2 * (m + p - 1) / (p - 1) * (p - 1)"),
    derive(5, "raised", bubble_fraction="1 / (1 + m / (p - 1))"),
    derive(6, "refused", busy_slots="float('nan')"),
    derive(6, "list-of-one", busy_slots="{m}"),
    derive(0, "constant", total_slots="5e-324", busy_slots="5e-324", bubble_fraction="5e-324"),
    derive(0, total_slots="1e-13 * (p * p + m)", busy_slots="1e-12 * p ** 2", bubble_fraction="0"),
    derive(5, "list-of-one", bubble_fraction="(x for x in [(p - 1) / (m + p - 1)])"),
    derive(5, "number-as-words", bubble_fraction="'three elevenths'"),
    derive(5, "truth-value", bubble_fraction="p == 1"),
    derive(5, "unanswered", bubble_fraction="\n    (p - 1) / (m + p - 1)"),
    derive(5, "raised", bubble_fraction="\n    raise SystemExit"),
    Case("ex3-derive", "def total_slots(p): return 2 * p\ndef busy_slots(p, m): return 2 * m\n"
         "def bubble_fraction(p, m, v): return v", 2, ("raised",)),
    derive(3, "constant", total_slots="10 ** 300", busy_slots="1.5", bubble_fraction="(p - 1) / (m + p - 1)"),
    derive(3, "total_slots-wrong", total_slots="10 ** 98 * p", busy_slots="0.5 ** m"),
    derive(3, "refused", total_slots="10 ** 1000 * p", busy_slots="0.5 ** m"),
]


def use(first, second, points, *codes):
    source = f"from fractions import Fraction\nimport numpy as np\nbubble_4_8 = {first}\nbubble_8_64 = {second}"
    return Case("ex3-use", source, points, codes)


RIGHT_USE = [
    use("3 / 11", "7 / 71", 4, "fraction-right"),
    use("Fraction(6, 22)", "Fraction(14, 142)", 4),
    use("0.273", "0.0986", 4),
    use("0.272", "0.098", 4),
    use("0.2727272", "np.array([7 / 71])", 4),
    use("'27.3%'", "'9.86%'", 4),
    use("'3/11'", "'7/71'", 4),
    use("' 3 / 11 '", "'9.86 %'", 4),
    use("0.2727", "0.098", 4),
    use("1 - 8 / 11", "__import__('numpy').float32(7) / 71", 4),
    use("(lambda p, m: (p - 1) / (m + p - 1))(4, 8)", "__import__('decimal').Decimal('0.0986')", 4),
]
WRONG_USE = [
    use("...", "...", 0, "unanswered"),
    use("None", "7 / 71", 2, "unanswered"),
    use("3 / 8", "7 / 64", 0, "over-ideal"),
    use("3 / 4", "7 / 8", 0, "over-stages"),
    use("4 / 12", "8 / 72", 0, "off-by-one"),
    use("3 / 12", "7 / 72", 0, "total-off-by-one"),
    use("4 / 11", "8 / 71", 0, "idle-too-long"),
    use("11 / 3", "71 / 7", 0, "upside-down"),
    use("27.3", "9.86", 0, "percent"),
    use("27", "10", 0, "percent"),
    use("8 / 11", "64 / 71", 0, "useful-share"),
    use("7 / 11", "63 / 71", 0, "swapped"),
    use("7 / 71", "3 / 11", 0, "exchanged"),
    use("3", "14", 0, "a-count"),
    use("3 / 11", "0.1", 2, "rounded-too-far"),
    use("0.27", "0.10", 0, "rounded-too-far"),
    use("'27%'", "0.099", 2, "rounded-too-far"),
    use("3 // 11", "7 // 71", 0, "whole-division"),
    use("3 / 7", "7 / 15", 0, "m-is-p"),
    use("3 / 19", "7 / 135", 0, "units-mixed"),
    use("[3 / 11]", "7 / 71", 2, "not-a-number"),
    use("'1e999999999'", "'1e-999999999'", 0, "not-a-number"),
    use("0.3", "7 / 71", 2, "fraction-wrong"),
    use("'three'", "[7, 71]", 0, "not-a-number"),
    use("True", "float('inf')", 0, "not-a-number", "refused"),
    use("0", "1", 0, "whole-division", "fraction-wrong"),
    use("lambda: 3 / 11", "10 ** 99", 0, "refused", "fraction-wrong"),
    use("1e308", "10 ** 1000", 0, "refused"),
]

RIGHT = RIGHT_DERIVE + RIGHT_USE + RIGHT_USES
WRONG = WRONG_DERIVE + WRONG_USE + WRONG_USES
