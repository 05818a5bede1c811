"""Right and wrong answers of notebook 2; those of its first function stand in a module of their own."""

from tests.bank import Case
from tests.bank_2_orders import LOOP, RIGHT_ORDERS, WRONG_ORDERS, function, order

LIBRARY = "import numpy\nfrom fractions import Fraction\n" + order(LOOP + "return order", 8).source


def phases(body, points, *codes):
    return Case("ex2-phases", LIBRARY + function("phase_lengths(p, m, stage)", body), points, codes)


RIGHT_PHASES = [
    phases("w = min(p - 1 - stage, m)\nreturn w, m - w, w", 3, "phases-right"),
    phases("w = min(p - stage, m)\nreturn w, m - w, w", 3, "phases-right"),
    phases("w = min(p - 1 - stage, m)\nreturn [w, m - w, w]", 3),
    phases("w = min(p - 1 - stage, m)\nreturn {'warm-up': w, 'steady': m - w, 'cooldown': w}", 3),
    phases("w = numpy.minimum(p - 1 - stage, m)\nreturn numpy.array([w, m - w, w])", 3),
    phases("w = p - 1 - stage if p - 1 - stage < m else m\nreturn Fraction(w), float(m - w), w", 3),
    phases("""
kinds = "".join(token[0] for token in one_f_one_b(p, m, stage))
w = len(kinds) - len(kinds.lstrip("F"))
c = len(kinds) - len(kinds.rstrip("B"))
return w, (len(kinds) - w - c) // 2, c
""", 3),
    phases("w = 0\nfor _ in range(stage + 1, p):\n    if w < m:\n        w += 1\nyield w\nyield m - w\nyield w", 3),
    phases("kinds = ''.join(t[0] for t in one_f_one_b(p, m, stage))\nw = kinds.index('B') - 1\nreturn w, m - w, w", 3,
           "phases-right"),
    phases("w = min(m - 1, p - 1 - stage)\nreturn w, m - w, w", 3, "phases-right"),
    phases("w = min(m, p - 1 - stage)\nw -= w == m and m % 2\nreturn w, m - w, w", 3, "phases-right"),
    phases("w = min(p - stage, m)\nreturn f'{w}, {m - w}, {w}'", 3),
    phases("w = min(p - 1 - stage, m)\nreturn Fraction(w), float(m - w), str(w)", 3),
    phases("from course.formulas import warm_up_forwards as f\nw = f(p, m, stage)\nreturn (w, m - w, w)", 3),
]
WRONG_PHASES = [
    Case("ex2-phases", "def phase_lengths(p, m, stage): return 1e308, 2**4000, 1", 0, ("refused",)),
    Case("ex2-phases", "phase_lengths = ...", 0, ("unanswered",)),
    phases("...", 0, "unanswered"),
    Case("ex2-phases", "phase_lengths = (3, 5, 3)", 0, ("not-a-function",)),
    phases("w = p - 1 - stage\nreturn w, m - w, w", 2, "right-where-m-is-large", "negative"),
    phases("w = p - stage\nreturn w, m - w, w", 2, "right-where-m-is-large", "negative"),
    phases("w = min(p - 1 - stage, m)\nreturn w, max(0, m - p + 1 + stage), p - 1 - stage", 2, "backwards-do-not-add-up"),
    phases("w = min(p - 1, m)\nreturn w, m - w, w", 1, "warm-up-same"),
    phases("w = min(p, m)\nreturn w, m - w, w", 1, "warm-up-same"),
    phases("w = min(stage, m)\nreturn w, m - w, w", 1, "upside-down"),
    phases("w = max(0, min(p - 2 - stage, m))\nreturn w, m - w, w", 1, "one-too-few"),
    phases("w = min(p - stage + 1, m)\nreturn w, m - w, w", 1, "one-too-many"),
    phases("return m, 0, m", 1, "is-gpipe"),
    phases("w = min(p - 1 - stage, m)\nreturn w, 2 * (m - w), w", 1, "operations-not-pairs"),
    phases("w = min(p - stage, m)\nreturn w, 2 * (m - w), w", 1, "operations-not-pairs"),
    phases("w = min(p - 1 - stage, m)\nreturn w, m, w", 1, "forwards-do-not-add-up"),
    phases("w = min(p - stage, m)\nreturn w, m - w + 1, w - 1", 1, "forwards-do-not-add-up"),
    phases("w = min(p - 1 - stage, m)\nreturn w, m - w, 0", 1, "backwards-do-not-add-up"),
    phases("w = min(p - 1 - stage + stage % 2, m)\nreturn w, m - w, w", 1, "two-ways-to-count"),
    phases("w = min(m - 1, p - stage)\nreturn w, m - w, w", 1, "two-ways-to-count"),
    phases("w = min(p - 1 - stage, m)\nreturn m - w, w, w", 0, "turned"),
    phases("w = min(p - stage, m)\nreturn w, w, m - w", 1, "turned"),
    phases("w = min(m - 1 - stage, p)\nreturn w, p - w, w", 0, "arguments-swapped"),
    Case("ex2-phases", "def phase_lengths(m, p, stage):\n    w = min(p - stage, m)\n    return w, m - w, w", 0,
         ("arguments-swapped",)),
    phases("w = min(p - 1 - stage, m)\nreturn w + 0.25, m - w - 0.25, w + 0.25", 1, "phases-wrong"),
    phases("return 10 ** 9, m - 10 ** 9, 10 ** 9", 0, "negative"),
    phases("w = min((p - stage) // 2, m)\nreturn w, m - w, w", 1, "phases-wrong"),
    phases("return min(p - 1 - stage, m)", 0, "not-three-numbers"),
    phases("w = min(p - 1 - stage, m)\nreturn w, m - w", 0, "not-three-numbers"),
    phases("return '3', 'five', '3'", 0, "not-three-numbers"),
    phases("return 3, 5, 3", 0, "phases-wrong"),
    phases("return 1 / 0", 0, "raised"),
    phases("return float('inf'), 0, 0", 0, "refused"),
    phases("return True, True, True", 0, "not-three-numbers"),
]


def flight(body, points, *codes):
    return Case("ex2-in-flight", LIBRARY + function("peak_in_flight(schedule, p, m, stage)", body), points, codes)


def split(gpipe, one_f_one_b):
    return f"return {gpipe} if schedule == 'gpipe' else {one_f_one_b}"


RIGHT_FLIGHTS = [
    flight(split("m", "min(m, p - stage)"), 4, "gpipe-right", "1f1b-right"),
    flight("if schedule == '1f1b' and p - stage < m:\n    return p - stage\nreturn m", 4),
    flight("return {'gpipe': m, '1f1b': min(p - stage, m)}[schedule]", 4),
    flight(split("numpy.int64(m)", "numpy.minimum(m, p - stage)"), 4),
    flight(split("float(m)", "Fraction(min(m, p - stage))"), 4),
    flight(split("str(m)", "[min(m, p - stage)]"), 4),
    flight(split("numpy.array([m])", "(min(m, p - stage),)"), 4),
    flight("from course import schedules, simulate\nmake = schedules.gpipe if schedule == 'gpipe' else schedules.one_f_one_b\n"
           "return simulate(make(p, m)).peak_activations[stage]", 4),
    flight("""
if schedule == "gpipe":
    return m
held = most = 0
for token in one_f_one_b(p, m, stage):
    held += 1 if token[0] == "F" else -1
    most = max(most, held)
return most
""", 4),
    flight("match schedule:\n    case 'gpipe':\n        return m\n    case _:\n        return sorted((m, p - stage))[0]", 4),
]
WRONG_FLIGHTS = [
    Case("ex2-in-flight", "peak_in_flight = ...", 0, ("unanswered",)),
    flight("...", 0, "unanswered"),
    Case("ex2-in-flight", "peak_in_flight = 4", 0, ("not-a-function",)),
    flight("return m", 1, "gpipe-right", "all-of-them"),
    flight("return min(m, p - stage)", 3, "gpipe-as-1f1b", "1f1b-right"),
    flight(split("m", "p"), 1, "same-on-all"),
    flight(split("m", "min(m, p)"), 1, "same-on-all"),
    flight(split("m", "p - stage"), 3, "more-than-there-are"),
    flight(split("m", "p - 1 - stage"), 1, "warm-up-only"),
    flight(split("m", "min(m, p - 1 - stage)"), 1, "warm-up-only"),
    flight(split("m", "min(m, stage + 1)"), 1, "upside-down"),
    flight(split("m", "p - stage + 1"), 1, "one-too-many"),
    flight(split("m", "min(m, p - stage + 1)"), 1, "one-too-many"),
    flight(split("m", "m // p"), 1, "1f1b-wrong"),
    flight(split("p", "min(m, p - stage)"), 3, "gpipe-stages"),
    flight(split("m - stage", "min(m, p - stage)"), 3, "gpipe-falls"),
    flight(split("2 * m", "min(m, p - stage)"), 3, "both-kinds"),
    flight(split("m + 1", "min(m, p - stage)"), 3, "gpipe-wrong"),
    flight("return {'GPipe': m, '1F1B': min(m, p - stage)}[schedule]", 0, "other-letters"),
    flight("return min(m, p - stage) if schedule == '1F1B' else m", 1, "gpipe-right", "other-letters"),
    flight("return m if schedule == 'GPipe' else min(m, p - stage)", 3, "other-letters", "1f1b-right"),
    flight("return m if schedule == '1f1b' else min(p - stage, m)", 0, "schedules-exchanged"),
    flight("return m if schedule == '1f1b' else 2 * m", 0, "both-kinds", "all-of-them"),
    flight(split("m", "list(range(min(p - stage, m)))"), 1, "gpipe-right", "not-a-number"),
    flight("return [m] * p if schedule == 'gpipe' else list(range(p - 1 - stage))", 0, "not-a-number"),
    flight("return {'gpipe_': m, '1F1B_': min(m, p - stage)}[schedule]", 0, "raised"),
    Case("ex2-in-flight", "def peak_in_flight(schedule, m, p, stage):\n    " + split("m", "min(m, p - stage)"), 0,
         ("gpipe-stages", "arguments-swapped")),
    flight("return 1 if p > 1 else m", 0, "gpipe-wrong", "1f1b-wrong"),
    flight("if schedule == 'gpipe':\n    return m", 1, "gpipe-right", "returned-none"),
    flight("return [m] * p if schedule == 'gpipe' else [min(m, p - s) for s in range(p)]", 0, "not-a-number"),
    flight("return str(m)", 1, "all-of-them"),
    flight("if schedule == '1f1b':\n    return min(m, p - stage)", 3, "returned-none", "1f1b-right"),
    flight("return 'm'", 0, "not-a-number"),
    flight("return float('nan')", 0, "refused"),
    Case("ex2-in-flight", "def peak_in_flight(p, m, stage): return m", 0, ("raised",)),
]


def claimed(value, points, *codes):
    return Case("ex2-claims", f"claims = {value}", points, codes)


RIGHT_CLAIMS = [
    claimed("{'a': False, 'b': True, 'c': False, 'd': False, 'e': True, 'f': True}", 1, "claim-right"),
    claimed("dict(a=0, b=1, c=0, d=0, e=1, f=1)", 1),
    claimed("[False, True, False, False, True, True]", 1),
    claimed("{'A': 'false', 'B': 'True', 'C': 'no', 'D': ' F ', 'E': 'yes', 'F': 't'}", 1),
    claimed("dict(zip('abcdef', __import__('numpy').array([0, 1, 0, 0, 1, 1], dtype=bool)))", 1),
    claimed("{key: key in 'bef' for key in 'abcdef'}", 1),
    claimed("'FTFFTT'", 1, "claim-right"),
    claimed("'False, True, False, False, True, True'", 1),
    claimed("[('a', False), ('b', True), ('c', False), ('d', False), ('e', True), ('f', True)]", 1),
    claimed("{'a': (False,), 'b': True, 'c': False, 'd': (False,), 'e': True, 'f': True}", 1),
    claimed("{'a': False, 'b': True, 'c': False, 'd': False, 'e': True, 'f': True},", 1),
    claimed("'010011'", 1),
    claimed("dict(a=0, b=1, c=0, d=0, e=1, f=1).items()", 1),
    claimed("{'a)': False, 'b)': True, 'c)': False, 'd)': False, 'e)': True, 'f)': True}", 1),
]
WRONG_CLAIMS = [
    claimed("...", 0, "unanswered"),
    claimed("{key: ... for key in 'abcdef'}", 0, "unanswered"),
    claimed("{'a': True, 'b': True, 'c': False, 'd': False, 'e': True, 'f': True}", 0.5, "smaller-bubble"),
    claimed("{'a': False, 'b': False, 'c': False, 'd': False, 'e': True, 'f': True}", 0.5, "same-on-all"),
    claimed("{'a': False, 'b': True, 'c': True, 'd': False, 'e': True, 'f': True}", 0.5, "divided-by-p"),
    claimed("{'a': False, 'b': True, 'c': False, 'd': True, 'e': True, 'f': True}", 0.5, "warm-up-same"),
    claimed("{'a': False, 'b': True, 'c': False, 'd': False, 'e': False, 'f': True}", 0.5, "room-is-no-limit"),
    claimed("{'a': False, 'b': True, 'c': False, 'd': False, 'e': True, 'f': False}", 0.5, "other-gradient"),
    claimed("dict.fromkeys('abcdef', True)", 0.3, "smaller-bubble", "divided-by-p", "warm-up-same"),
    claimed("dict.fromkeys('abcdef', False)", 0.3, "same-on-all", "room-is-no-limit", "other-gradient"),
    claimed("{'a': False, 'b': True, 'c': False, 'd': False, 'e': True}", 0.5, "unanswered"),
    claimed("{'a': 'wrong', 'b': 2, 'c': [], 'd': False, 'e': True, 'f': True}", 0.3, "not-true-or-false"),
    claimed("{'a': False, 'b': True, 'c': False, 'd': False, 'e': True, 'f': True, 'g': True}", 1, "unknown-key"),
    claimed("True", 0, "not-a-dict"),
    claimed("[True]", 0, "not-a-dict"),
    claimed("'FTFF'", 0, "not-a-dict"),
    claimed("'FTFFTX'", 0, "not-a-dict"),
    claimed("'TTFFTT'", 0.5, "smaller-bubble"),
    claimed("{}", 0, "unanswered"),
    claimed("{'a', 'b'}", 0, "refused"),
]

RIGHT = RIGHT_ORDERS + RIGHT_PHASES + RIGHT_FLIGHTS + RIGHT_CLAIMS
WRONG = WRONG_ORDERS + WRONG_PHASES + WRONG_FLIGHTS + WRONG_CLAIMS
