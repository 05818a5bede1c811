"""Right and wrong answers of notebook 2."""

from tests.bank import Case


def order(body, points, *codes, header=""):
    """A function of the order, from its body; `w` and `order` are made ready in it by a body that wants them."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    return Case("ex2-order", f"{header}\ndef one_f_one_b(p, m, stage):\n{lines}\n", points, codes)


def warmed(warm_up, points, *codes):
    """The right loop with another warm-up."""
    return order(f"""
w = {warm_up}
order = [f"F{{i}}" for i in range(w)]
for i in range(m - w):
    order += [f"F{{w + i}}", f"B{{i}}"]
return order + [f"B{{i}}" for i in range(m - w, m)]
""", points, *codes)


LOOP = """
w = min(p - 1 - stage, m)
order = [f"F{i}" for i in range(w)]
for i in range(m - w):
    order += [f"F{w + i}", f"B{i}"]
order += [f"B{i}" for i in range(m - w, m)]
"""
COUNTERS = """
f = b = 0
order = []
while b < m:
    if f < m and f - b < p - stage:
        order.append(("F", f)); f += 1
    else:
        order.append(("B", b)); b += 1
return order
"""
RIGHT_ORDERS = [
    order(LOOP + "return order", 8, "right"),
    order(COUNTERS, 8, "right"),
    order(COUNTERS.replace('("F", f)', 'f"f{f}"').replace('("B", b)', 'f"{stage}b{b}"'), 8),
    order(LOOP + "return ' '.join(order)", 8),
    order(LOOP + "return tuple(order)", 8),
    order(LOOP + "return (token for token in order)", 8),
    order(LOOP + "return numpy.array(order)", 8, header="import numpy"),
    order(LOOP + "return order[:1] + ['.'] * 3 + order[1:]", 8),
    order(LOOP + "return [f'{stage}{token}' for token in order]", 8),
    order(LOOP + "return [f'{stage + 1}{token}' for token in order]", 8),
    order(LOOP + "return [token[0] + str(int(token[1:]) + 1) for token in order]", 8, "right", "numbered-from-one"),
    order(LOOP + "return [token[0] + str(m - 1 - int(token[1:])) for token in order]", 8, "right"),
    order(LOOP + "return [[token[0], numpy.int64(token[1:])] for token in order]", 8, header="import numpy"),
    order("""
w = min(p - stage, m)
forwards, backwards = iter(range(m)), iter(range(m))
order = [f"F{next(forwards)}" for _ in range(w)]
for _ in range(m - w):
    order += [f"B{next(backwards)}", f"F{next(forwards)}"]
return order + [f"B{i}" for i in backwards]
""", 8, "right"),
    order("""
ahead = p - 1 - stage
slots = []
for step in range(m + ahead):
    slots += [f"F{step}"] * (step < m) + [f"B{step - ahead}"] * (step >= ahead)
return slots
""", 8, "right"),
    order("return schedules.one_f_one_b(p, m).ranks[stage]", 8, header="from course import schedules"),
    order("return [str(o) for o in schedules.one_f_one_b(p, m).ranks[stage]]", 8, header="from course import schedules"),
    order("""
from course import schedules, simulate
spans = simulate(schedules.one_f_one_b(p, m)).spans
return [s.operation.short for s in sorted(spans, key=lambda s: s.start) if s.rank == stage]
""", 8),
    order(LOOP.replace("range", "print('working') or range", 1) + "return order", 8),
    order(LOOP + "return collections.deque(order)", 8, header="import collections"),
    order(LOOP + "return dict.fromkeys(order).keys()", 8),
    order(LOOP + "return str(order)", 8),
    order(LOOP + "return [f'{token[0]} {token[1:]}' for token in order]", 8),
    Case("ex2-order", """
def build(p, m, stage, f=0, b=0):
    if b == m:
        return []
    if f < m and f - b < p - stage:
        return [f"F{f}"] + build(p, m, stage, f + 1, b)
    return [f"B{b}"] + build(p, m, stage, f, b + 1)
one_f_one_b = build
""", 8, ("right",)),
    Case("ex2-order", "from functools import lru_cache\n" + order(LOOP + "return order", 8).source
         + "one_f_one_b = lru_cache(one_f_one_b)", 8, ("right",)),
]

WRONG_ORDERS = [
    Case("ex2-order", "one_f_one_b = ...", 0, ("unanswered",)),
    order("...", 0, "unanswered"),
    order("return None", 0, "unanswered"),
    order(LOOP, 0, "unanswered"),
    order("return ...", 0, "unanswered"),
    Case("ex2-order", "one_f_one_b = ['F0', 'B0']", 0, ("not-a-function",)),
    Case("ex2-order", "def one_f_one_b(p, m): return []", 0, ("raised",)),
    order("return 7", 0, "not-a-list"),
    order("return {0: ['F0', 'B0']}", 0, "not-a-list"),
    order("return float('nan')", 0, "refused"),
    order("return {'F0', 'B0'}", 0, "refused"),
    order("return ['F0', 'forward']", 0, "not-a-token"),
    order("return ['F0', 3]", 0, "not-a-token"),
    order("return ['F-1']", 0, "not-a-token"),
    order("return []", 0, "missing"),
    order("return ''", 0, "missing"),
    order("return 1 / 0", 0, "raised"),
    order("raise SystemExit", 0, "raised"),
    order("return [f'F{i}' for i in range(m)] + [f'B{i}' for i in range(m)]", 4, "is-gpipe", "holds-more", "legal"),
    order("return [f'F{i}' for i in range(m)] + [f'B{i}' for i in reversed(range(m))]", 4, "is-gpipe", "holds-more"),
    warmed("min(p - 1, m)", 19 / 6, "warm-up-same", "holds-more", "too-long"),
    warmed("min(p, m)", 19 / 6, "warm-up-p", "holds-more"),
    warmed("min(p - stage, m)", 4, "one-too-many", "holds-more"),
    warmed("max(0, min(p - 2 - stage, m))", 5, "one-too-few", "too-long"),
    warmed("min(stage, m)", 1, "upside-down", "deadlock"),
    warmed("0", 5, "no-warm-up", "too-long"),
    warmed("min(2 * (p - 1 - stage), m)", 4, "warm-up-twice", "holds-more"),
    warmed("p - 1 - stage", 7, "right-where-m-is-large", "not-a-token", "m-below-p"),
    order(LOOP.replace("min(p - 1 - stage, m)", "p - 1 - stage").replace("range(m - w, m)", "range(max(0, m - w), m)")
          + "return order", 7, "right-where-m-is-large", "unknown", "m-below-p"),
    order(LOOP + "return order[:-w] if w else order", 1, "no-cooldown", "missing"),
    order(LOOP + "return order[:w] + order[-w:] if w else []", 0, "no-pairs", "missing"),
    order(LOOP + "return order[w:]", 0, "missing"),
    order(LOOP + "return order[:w] + [t for i in range(w, 2 * m - w, 2) for t in (order[i + 1], order[i])] + order[2 * m - w:]",
          1, "pairs-turned", "order"),
    order(LOOP + "return order[:-1]", 0, "missing"),
    order(LOOP + "return order + order[-1:]", 1, "repeated"),
    order(LOOP + "return order + ['F99']", 1, "unknown"),
    order(LOOP + "return [t.replace('B', 'I') for t in order]", 0, "missing", "split-backward"),
    order(LOOP + "return [f'9{t}' for t in order]", 1, "unknown", "missing"),
    order(LOOP + "return [t if t[0] == 'F' else f'B{m - 1 - int(t[1:])}' for t in order]", 2, "order"),
    order(LOOP + "return [f'{t[0]}{(int(t[1:]) + stage) % m}' for t in order]", 2, "deadlock"),
    order(LOOP + "return order[::-1]", 1, "order"),
    order(LOOP + "return order[:2 * m - w] + order[2 * m - w:][::-1]", 37 / 6, "right-at", "too-long"),
    order("return [f'{k}{i}' for r in range(0, m, p) for k in 'FB' for i in range(r, min(r + p, m))]", 19 / 6, "in-rounds",
          "too-long"),
    order("return [f'{k}{i}' for r in range(0, m, 2) for k in 'FB' for i in range(r, min(r + 2, m))]", 3, "too-long",
          "holds-more"),
    order("""
orders = []
for s in range(p):
    w = min(p - 1 - s, m)
    orders.append([f"F{i}" for i in range(w)] + [f"{k}{i + w * (k == 'F')}" for i in range(m - w) for k in "FB"]
                  + [f"B{i}" for i in range(m - w, m)])
return orders
""", 0, "all-stages"),
    order(LOOP + "return order if m >= p else []", 7, "right-where-m-is-large", "missing"),
    order("if p == 1: raise ValueError('one stage is no pipeline')\n" + LOOP.strip() + "\nreturn order", 7, "raised"),
    order(LOOP + "return order if (p, m) == (4, 8) else []", 7 / 6, "right-at", "missing"),
    order("if stage == p - 1: return [k + str(i) for i in range(m) for k in 'FB']\n"
          "return [f'F{i}' for i in range(m)] + [f'B{i}' for i in range(m)]", 4, "holds-more"),
]
SLOW_ORDERS = [order("while True: pass", 0, "too-slow")]


def phases(body, points, *codes):
    return Case("ex2-phases", f"import numpy\nfrom fractions import Fraction\n{LIBRARY}\ndef phase_lengths(p, m, stage):\n"
                + "\n".join("    " + line for line in body.strip().splitlines()) + "\n", points, codes)


LIBRARY = order(LOOP + "return order", 8).source
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
    phases("from course.formulas import warm_up_forwards as f\nw = f(p, m, stage)\nreturn (w, m - w, w)", 3),
]
WRONG_PHASES = [
    Case("ex2-phases", "phase_lengths = ...", 0, ("unanswered",)),
    phases("...", 0, "unanswered"),
    Case("ex2-phases", "phase_lengths = (3, 5, 3)", 0, ("not-a-function",)),
    phases("w = p - 1 - stage\nreturn w, m - w, w", 2, "right-where-m-is-large", "negative"),
    phases("w = p - stage\nreturn w, m - w, w", 2, "right-where-m-is-large", "negative"),
    phases("w = min(p - 1 - stage, m)\nreturn w, max(0, m - p + 1 + stage), p - 1 - stage", 2, "backwards-do-not-add-up"),
    phases("w = min(p - 1, m)\nreturn w, m - w, w", 0, "warm-up-same"),
    phases("w = min(p, m)\nreturn w, m - w, w", 0, "warm-up-same"),
    phases("w = min(stage, m)\nreturn w, m - w, w", 0, "upside-down"),
    phases("w = max(0, min(p - 2 - stage, m))\nreturn w, m - w, w", 0, "one-too-few"),
    phases("w = min(p - stage + 1, m)\nreturn w, m - w, w", 0, "one-too-many"),
    phases("return m, 0, m", 0, "is-gpipe"),
    phases("w = min(p - 1 - stage, m)\nreturn w, 2 * (m - w), w", 1, "operations-not-pairs"),
    phases("w = min(p - stage, m)\nreturn w, 2 * (m - w), w", 1, "operations-not-pairs"),
    phases("w = min(p - 1 - stage, m)\nreturn w, m, w", 1, "forwards-do-not-add-up"),
    phases("kinds = ''.join(t[0] for t in one_f_one_b(p, m, stage))\nw = kinds.index('B') - 1\nreturn w, m - w, w", 2,
           "right-where-m-is-large", "phases-wrong"),
    phases("w = min(p - stage, m)\nreturn w, m - w + 1, w - 1", 1, "forwards-do-not-add-up"),
    phases("w = min(p - 1 - stage, m)\nreturn w, m - w, 0", 1, "backwards-do-not-add-up"),
    phases("w = min(p - 1 - stage + stage % 2, m)\nreturn w, m - w, w", 0, "two-ways-to-count"),
    phases("w = min((p - stage) // 2, m)\nreturn w, m - w, w", 0, "phases-wrong"),
    phases("return min(p - 1 - stage, m)", 0, "not-three-numbers"),
    phases("w = min(p - 1 - stage, m)\nreturn w, m - w", 0, "not-three-numbers"),
    phases("return '3', '5', '3'", 0, "not-three-numbers"),
    phases("return 3, 5, 3", 0, "phases-wrong"),
    phases("return 1 / 0", 0, "raised"),
    phases("return float('inf'), 0, 0", 0, "refused"),
    phases("return True, True, True", 0, "not-three-numbers"),
]


def flight(body, points, *codes):
    return Case("ex2-in-flight", f"import numpy\nfrom fractions import Fraction\n{LIBRARY}\n"
                "def peak_in_flight(schedule, p, m, stage):\n"
                + "\n".join("    " + line for line in body.strip().splitlines()) + "\n", points, codes)


def split(gpipe, one_f_one_b):
    return f"return {gpipe} if schedule == 'gpipe' else {one_f_one_b}"


RIGHT_FLIGHTS = [
    flight(split("m", "min(m, p - stage)"), 4, "gpipe-right", "1f1b-right"),
    flight("if schedule == '1f1b' and p - stage < m:\n    return p - stage\nreturn m", 4),
    flight("return {'gpipe': m, '1f1b': min(p - stage, m)}[schedule]", 4),
    flight(split("numpy.int64(m)", "numpy.minimum(m, p - stage)"), 4),
    flight(split("float(m)", "Fraction(min(m, p - stage))"), 4),
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
    flight("return {'GPipe': m, '1F1B': min(m, p - stage)}[schedule]", 0, "raised"),
    flight("if schedule == 'gpipe':\n    return m", 1, "gpipe-right", "unanswered"),
    flight("return [m] * p if schedule == 'gpipe' else [min(m, p - s) for s in range(p)]", 0, "not-a-number"),
    flight("return str(m)", 0, "not-a-number"),
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
    claimed("{}", 0, "unanswered"),
    claimed("{'a', 'b'}", 0, "refused"),
]

RIGHT = RIGHT_ORDERS + RIGHT_PHASES + RIGHT_FLIGHTS + RIGHT_CLAIMS
WRONG = WRONG_ORDERS + WRONG_PHASES + WRONG_FLIGHTS + WRONG_CLAIMS
