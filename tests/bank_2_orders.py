"""Right and wrong orders of notebook 2's function `one_f_one_b`."""

from tests.bank import Case


def order(body, points, *codes, header=""):
    """A function of the order, from its body; LOOP makes `w` and `order` ready in it."""
    return Case("ex2-order", f"{header}\n{function('one_f_one_b(p, m, stage)', body)}", points, codes)


def function(head, body):
    return f"def {head}:\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


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
    order(LOOP + "return pandas.DataFrame(order)", 8, header="import pandas"),
    order(LOOP + "return pandas.DataFrame([order])", 8, header="import pandas"),
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
    order(LOOP + "return order[:w], order[w:2 * m - w], order[2 * m - w:]", 8, "right"),
    order(LOOP + "return [order[:w], [[order[w + 2 * i], order[w + 2 * i + 1]] for i in range(m - w)], order[2 * m - w:]]", 8),
    order(LOOP + "return [[[t[0], int(t[1:])] for t in order[:w]]] + [(t[0], t[1:]) for t in order[w:]]", 8),
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

# in no list: where sizes are drawn, it is right at none of them
ONE_SIZE = order(LOOP + "return order if (p, m) == (4, 8) else []", 1.75, "right-at", "missing")
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
    order("return ['F\\u0660']", 0, "not-a-token"),
    order("return []", 0, "missing"),
    order("return ''", 0, "missing"),
    order("return 1 / 0", 0, "raised"),
    order("raise SystemExit", 0, "raised"),
    order("return [f'F{i}' for i in range(m)] + [f'B{i}' for i in range(m)]", 4, "is-gpipe", "holds-more", "legal"),
    order("return [f'F{i}' for i in range(m)] + [f'B{i}' for i in reversed(range(m))]", 4, "is-gpipe", "holds-more"),
    warmed("min(p - 1, m)", 3.25, "warm-up-same", "holds-more", "too-long"),
    warmed("min(p, m)", 3.25, "warm-up-p", "holds-more"),
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
    order(LOOP + "return [t.replace('B', 'I') for t in order]", 0, "split-backward"),
    order(LOOP + "return [t for token in order for t in ([token] if token[0] == 'F' else ['I' + token[1:], 'W' + token[1:]])]", 0,
          "split-backward"),
    order("return 'F0 F1 F2 F3 B0 B1 B2 B3'", 0, "constant"),
    order("return ['F0', 'B0']", 0, "constant", "missing"),
    order(LOOP + "return order if m % 2 == 0 else []", 3.5, "right-at", "missing"),
    order(LOOP + "return order if p == 4 else []", 1.75, "right-at", "missing"),
    order(LOOP + "return [f'9{t}' for t in order]", 1, "unknown", "missing"),
    order(LOOP + "return [t if t[0] == 'F' else f'B{m - 1 - int(t[1:])}' for t in order]", 2, "order"),
    order(LOOP + "return [f'{t[0]}{(int(t[1:]) + stage) % m}' for t in order]", 2, "deadlock"),
    order(LOOP + "return order[::-1]", 1, "order"),
    order(LOOP + "return order[:2 * m - w] + order[2 * m - w:][::-1]", 6.25, "right-at", "too-long"),
    order("return [f'{k}{i}' for r in range(0, m, p) for k in 'FB' for i in range(r, min(r + p, m))]", 3.25, "in-rounds",
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
    Case("ex2-order", "def one_f_one_b(m, p, stage):\n" + function("x()", LOOP + "return order").partition("\n")[2], 1.75,
         ("arguments-swapped",)),
    order("if m == 1:\n    return ['F0']\n" + LOOP.strip() + "\nreturn order", 7, "right-where-m-is-large", "missing"),
    order("if m < p:\n    return [k + str(i) for k in 'FB' for i in range(m)]\n" + LOOP.strip() + "\nreturn order", 7,
          "right-where-m-is-large", "holds-more", "m-below-p"),
    order("kept.extend([k + str(i) for i in range(m) for k in 'FB'])\nreturn kept", 0, "changed", header="kept = []"),
    order(LOOP + "while True:\n    yield 'F0'", 0, "too-slow"),
    order(LOOP + "input('m? ')\nreturn order", 0, "raised"),
    order(LOOP + "return order if m >= p else []", 7, "right-where-m-is-large", "missing"),
    order("if p == 1: raise ValueError('one stage is no pipeline')\n" + LOOP.strip() + "\nreturn order", 7, "raised"),
    order("if stage == p - 1: return [k + str(i) for i in range(m) for k in 'FB']\n"
          "return [f'F{i}' for i in range(m)] + [f'B{i}' for i in range(m)]", 4, "holds-more"),
]
