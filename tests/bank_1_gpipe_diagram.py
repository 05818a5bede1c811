"""Right and wrong answers of notebook 1."""

from tests.bank import Case

FIRST_OUT = """
F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3
.  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .
.  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .
.  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .  .
"""
LAST_OUT = FIRST_OUT.replace("B0 B1 B2 B3", "B3 B2 B1 B0")
ONE_F_ONE_B = """
F0 F1 F2 F3 .  .  .  B0 .  B1 .  B2 .  B3
.  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3 .
.  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .  .
.  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .  .
"""
# As short as GPipe, neither GPipe nor 1F1B: stage 3 alternates, stage 2 does not.
NEITHER = """
F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3
.  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .
.  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .
.  .  .  F0 F1 F2 B0 F3 B1 B2 B3 .  .  .
"""
ROWS = FIRST_OUT.strip().splitlines()


def diagram(text, points, *codes):
    return Case("ex1-diagram", f"gpipe_diagram = {text!r}", points, codes)


def row(number, text):
    return "\n".join(text if index == number else line for index, line in enumerate(ROWS))


def from_one(text):
    for number in (4, 3, 2, 1):
        text = text.replace(str(number - 1), str(number))
    return text


RIGHT_DIAGRAMS = [
    diagram(FIRST_OUT, 10, "right"),
    diagram(LAST_OUT, 10, "right"),
    diagram(FIRST_OUT.replace("B0 B1 B2 B3", "B2 B0 B3 B1"), 10, "right"),
    diagram(FIRST_OUT.replace("F0 F1 F2 F3", "F3 F1 F0 F2"), 10, "right"),
    diagram(from_one(FIRST_OUT), 10, "right", "numbered-from-one"),
    diagram(FIRST_OUT.lower(), 10, "right", "lower-case"),
    diagram(FIRST_OUT.replace("  ", " ").replace(" ", "\t"), 10, "right", "tab"),
    diagram("\n".join(f"stage {s}: {line}" for s, line in enumerate(ROWS)), 10, "right"),
    diagram("\n".join(f"{s} | {line.replace('  ', ' ').replace(' ', ' | ')}" for s, line in enumerate(ROWS)), 10, "right"),
    diagram("\n\n".join(" ".join(f"{s}{cell}" if cell != "." else cell for cell in line.split())
                        for s, line in enumerate(ROWS)), 10, "right"),
    diagram(FIRST_OUT + "\n\n   \n", 10, "right"),
    diagram("\n".join(line + " . ." for line in ROWS), 10, "right"),
    diagram("...\n" + FIRST_OUT, 10, "right"),
    diagram("\n".join(f"stage {s}: {line}" for s, line in reversed(list(enumerate(ROWS)))), 10, "right", "labels"),
    diagram(FIRST_OUT + ". . . .\n", 10, "right", "idle-row"),
    diagram("# stage 0 first\n" + FIRST_OUT.replace("\n.", "  # done\n.", 1), 10, "right"),
    diagram(" " + FIRST_OUT.replace("\n", "\n    "), 10, "right"),
    Case("ex1-diagram", f"import pandas\ngpipe_diagram = pandas.DataFrame({[line.split() for line in ROWS]})", 10, ("right",)),
    Case("ex1-diagram", f"gpipe_diagram = {ROWS!r}", 10, ("right",)),
    Case("ex1-diagram", f"import numpy\ngpipe_diagram = numpy.array({[line.split() for line in ROWS]!r})", 10, ("right",)),
    Case("ex1-diagram", """
rows = []
for stage in range(4):
    lead, gap = ["."] * stage, ["."] * (2 * (3 - stage))
    forwards, backwards = [f"F{i}" for i in range(4)], [f"B{i}" for i in range(4)]
    rows.append(" ".join(lead + forwards + gap + backwards + lead))
gpipe_diagram = "\\n".join(rows)
""", 10, ("right",)),
]

WRONG_DIAGRAMS = [
    Case("ex1-diagram", "gpipe_diagram = ...", 0, ("unanswered",)),
    diagram("\n...\n", 0, "unanswered"),
    Case("ex1-diagram", "gpipe_diagram = None", 0, ("unanswered",)),
    diagram("", 0, "drawing-empty"),
    Case("ex1-diagram", "gpipe_diagram = 14", 0, ("drawing-not-text",)),
    Case("ex1-diagram", "gpipe_diagram = [['F0', 'F1']]", 0, ("missing", "row-missing")),
    Case("ex1-diagram", "gpipe_diagram = {0: 'F0 F1'}", 0, ("drawing-not-text",)),
    Case("ex1-diagram", "gpipe_diagram = lambda: 'F0'", 0, ("refused",)),
    Case("ex1-diagram", "gpipe_diagram = {'F0', 'F1'}", 0, ("refused",)),
    Case("ex1-diagram", "gpipe_diagram = b'F0'", 0, ("refused",)),
    diagram(FIRST_OUT.replace("F2", "X2", 1), 0, "drawing-token"),
    diagram(FIRST_OUT.replace(".", "-"), 0, "drawing-token"),
    diagram(FIRST_OUT.replace("F0 F1", "F0F1", 1), 0, "drawing-token"),
    diagram(FIRST_OUT + "F0 F1\n", 0, "drawing-rows"),
    diagram("\n".join(ROWS[:3]), 5.25, "row-missing"),
    diagram(row(2, ROWS[2].replace("B3", ". ")), 5.25, "missing"),
    diagram(row(0, "F0 F1 F2 F3"), 5.25, "missing"),
    diagram(row(0, "F0 F1 F2 F3 F3 .  .  .  .  .  B0 B1 B2 B3"), 5.25, "repeated"),
    diagram(row(0, ROWS[0].replace("B3", "B7")), 5.25, "unknown", "missing"),
    diagram(row(1, ROWS[1].replace("F2", "0F2")), 5.25, "wrong-rank"),
    diagram(FIRST_OUT.replace("B", "I"), 0, "missing"),
    diagram(FIRST_OUT.replace("B3", ". "), 5.25, "missing"),
    diagram(FIRST_OUT.replace("F3", ". ").replace("F2", ". ").replace("B3", ". ").replace("B2", ". "), 3.5, "missing"),
    diagram(FIRST_OUT.replace("B3", ". ").replace("B2 .", "B2 B5"), 4.2, "missing", "unknown"),
    diagram("F0 F1 F2 F3\n. F0 F1 F2 F3\n. . F0 F1 F2 F3\n. . . F0 F1 F2 F3", 0, "missing"),
    diagram(row(1, "F0 F1 F2 F3 .  .  .  .  .  B0 B1 B2 B3 ."), 5, "forward-too-early"),
    diagram(row(0, "F0 F1 F2 F3 .  .  .  .  .  B0 B1 B2 B3 ."), 5, "backward-too-early"),
    diagram(row(3, ".  .  .  F0 F1 F2 B3 F3 B0 B1 B2 .  .  ."), 3, "before-own-forward", "not-gpipe-order"),
    diagram("\n".join(". " * s + "F0 F1 F2 F3 " + ". " * 3 + "B0 B1 B2 B3 " + ". " * (3 - s) for s in range(4)), 5,
            "backward-direction", "backward-too-early"),
    diagram("\n".join(ROWS[::-1]), 5, "rows-reversed"),
    diagram(row(0, ROWS[0].replace(".  ", "", 1)), 4, "cell-missing", "backward-too-early"),
    diagram(row(1, ROWS[1].replace(".  ", "", 1)), 4, "cell-missing", "forward-too-early"),
    diagram("\n".join("   " * line.count(". ", 0, line.index("F0")) + line.lstrip(". ") for line in ROWS), 4, "blanks"),
    diagram(FIRST_OUT.replace(".", " "), 4, "blanks"),
    Case("ex1-diagram", f"import pandas\ngpipe_diagram = pandas.DataFrame({[line.split() for line in ROWS[:2]]})", 3.5,
         ("row-missing",)),
    diagram("\n".join([ROWS[0], "", *ROWS[2:]]), 5.25, "row-missing"),
    diagram(FIRST_OUT.replace("B2", "W2"), 3.75, "missing", "split-backward"),
    diagram(row(0, ROWS[0].replace(".", " ")), 4, "blanks", "cell-missing"),
    diagram(FIRST_OUT.replace("F3", "F4"), 4.2, "unknown", "missing"),
    diagram(row(3, ROWS[3].replace(" B3", "")).replace("B0", "3B3 B0", 1), 5.25, "wrong-rank"),
    diagram("F0 F1 F2 F3 . . . . . . B3 3B0 B1 B0\n. F0 F1 F2 F3 . . . . B3 B2 B1 B0 .\n"
            ". . F0 F1 F2 F3 . . B3 B2 B1 B0 . .\n. . . F0 F1 F2 F3 B3 B2 B1 . . . .", 1.5, "wrong-rank", "backward-too-early"),
    Case("ex1-diagram", "gpipe_diagram = 'F\\u0660 F\\u0661'", 0, ("drawing-token",)),
    Case("ex1-diagram", "gpipe_diagram = 'F' + '9' * 5000", 0, ("drawing-token",)),
    Case("ex1-diagram", "gpipe_diagram = '\\ud800'", 0, ("missing", "row-missing")),
    diagram("F0 F1 F2 F3 B0 B1 B2 B3\n" * 4, 4, "forward-too-early", "more-too-early"),
    diagram("\n".join(". " + line for line in ROWS), 8, "too-long"),
    diagram("\n".join(line.replace("B0", ". B0", 1) if s == 0 else line + " ." for s, line in enumerate(ROWS)), 8, "too-long"),
    diagram(ONE_F_ONE_B, 8, "is-1f1b"),
    diagram(NEITHER, 8, "not-gpipe-order"),
    diagram("\n".join(line.rstrip(" .") for line in ROWS), 9, "not-marked"),
    diagram(row(1, ROWS[1].replace(".  .  .  .", ".  ?  .  .")), 9, "not-marked"),
    diagram(row(3, ".  .  .  F0 F1 F2 F3 B0 B1 B2 B3 ~  .  ."), 5, "long-operation"),
]


def bubbles(per_stage, fraction, points, *codes):
    source = f"import fractions\nbubbles_per_stage = {per_stage}\nbubble_fraction_4_4 = {fraction}"
    return Case("ex1-bubbles", source, points, codes)


RIGHT_BUBBLES = [
    bubbles("[6, 6, 6, 6]", "3/7", 4, "bubbles-right", "fraction-right"),
    bubbles("(6, 6, 6, 6)", "fractions.Fraction(24, 56)", 4),
    bubbles("[14 - 2 * 4] * 4", "0.43", 4),
    bubbles("[6.0, 6.0, 6.0, 6.0]", "round(24 / 56, 3)", 4),
    bubbles("(row.count('.') for row in " + repr(ROWS) + ")", "1 - 32 / 56", 4),
    bubbles("__import__('numpy').full(4, 6)", "__import__('numpy').float32(3) / 7", 4),
    bubbles("{0: 6, 1: 6, 2: 6, 3: 6}", "'3/7'", 4),
    bubbles("[6, 6, 6, 6]", "'42.9%'", 4),
    bubbles("[6, 6, 6, 6]", "'0,429'", 4),
    bubbles("map(int, '6666')", "__import__('decimal').Decimal(3) / 7", 4),
]
WRONG_BUBBLES = [
    bubbles("...", "...", 0, "unanswered"),
    bubbles("[6, 4, 2, 0]", "3/7", 2.5, "only-middle"),
    bubbles("[0, 2, 4, 6]", "3/7", 2.5, "only-ends"),
    bubbles("[0, 1, 2, 3]", "3/7", 2, "one-phase"),
    bubbles("[8, 8, 8, 8]", "4/7", 0, "busy-cells", "useful-share"),
    bubbles("[6, 6, 6, 7]", "3/7", 3.5, "bubbles-wrong"),
    bubbles("6", "3/7", 2, "not-a-list"),
    bubbles("[6, 6, 6]", "3/7", 2, "not-a-list"),
    bubbles("['6', '6', 'x', '6']", "3/7", 2, "not-a-list"),
    bubbles("[6, 6, 6, 6]", "3/4", 2, "over-other"),
    bubbles("[6, 6, 6, 6]", "3/8", 2, "off-by-one"),
    bubbles("[6, 6, 6, 6]", "42.9", 2, "percent"),
    bubbles("[6, 6, 6, 6]", "24", 2, "a-count"),
    bubbles("[6, 6, 6, 6]", "6", 2, "a-count"),
    bubbles("[6, 6, 6, 6]", "0.5", 2, "fraction-wrong"),
    bubbles("[6, 6, 6, 6]", "'three sevenths'", 2, "not-a-number"),
    bubbles("[7, 7, 7, 7]", "28 / 60", 0, "bubbles-wrong", "fraction-wrong"),
    bubbles("[6, 6, 6, 6]", "float('nan')", 2, "refused"),
    bubbles("[10 ** 1000] * 4", "fractions.Fraction(1, 10 ** 5000)", 0, "refused"),
    bubbles("[10 ** 99] * 4", "fractions.Fraction(10 ** 99, 7)", 0, "bubbles-wrong"),
    bubbles("[6, 6, 6, 6]", "__import__('decimal').Decimal('1e100000')", 2, "refused"),
    bubbles("[6, 6, 6, 6]", "True", 2, "not-a-number"),
    bubbles("[True] * 4", "[3/7]", 0, "not-a-list", "not-a-number"),
    bubbles("{'stage 0': 6}", "3/7", 2, "not-a-list"),
]


def twice(slots, fraction, points, *codes):
    return Case("ex1-backward-twice", f"from fractions import Fraction\nslots_when_backward_takes_two = {slots}\n"
                f"fraction_when_backward_takes_two = {fraction}", points, codes)


RIGHT_TWICE = [
    twice("21", "3/7", 2, "slots-right", "fraction-same"),
    twice("7 + 2 * 7", "Fraction(36, 84)", 2),
    twice("'21'", "'3/7'", 2),
    twice("21.0", "0.429", 2),
    twice("__import__('numpy').int64(21)", "9 / 21", 2),
    twice("(4 + 3) * (1 + 2)", "1 - 12 / 21", 2),
]
WRONG_TWICE = [
    twice("...", "...", 0, "unanswered"),
    twice("14", "3/7", 1, "unchanged"),
    twice("28", "3/7", 1, "all-doubled"),
    twice("18", "3/7", 1, "fill-forgotten"),
    twice("12", "0", 0, "no-bubble", "whole-division"),
    twice("21", "0.42", 1, "rounded-too-far"),
    twice("21", "0.5", 1, "fraction-wrong"),
    twice("20", "4/7", 0, "slots-wrong", "useful-share"),
    twice("21", "6/21", 1, "idle-unchanged"),
    twice("21", "42.86", 1, "percent"),
    twice("'twenty-one'", "None", 0, "not-a-number", "unanswered"),
    twice("21", "9 / 12", 1, "over-busy"),
    twice("21", "9", 1, "a-count"),
    twice("[21]", "{}", 0, "not-a-number"),
]


def spotted(value, points, *codes):
    return Case("ex1-spot-the-error", f"illegal_operations = {value}", points, codes)


RIGHT_SPOTTED = [
    spotted('{"a": ("B0", 1), "b": ("F2", 1), "c": ("B2", 2)}', 4, "spotted"),
    spotted('{"a": ["b0", 1], "b": ["f2", 1.0], "c": ["b2", 2]}', 4),
    spotted('dict(a=(1, "B0"), b=(1, "F2"), c=(2, "B2"))', 4),
    spotted('[("B0", 1), ("F2", 1), ("B2", 2)]', 4),
    spotted('{"a": ("1B0", 1), "b": ("1F2", 1), "c": ("2B2", 2)}', 4),
    spotted('{"a": "B0 1", "b": "F2, stage 1", "c": "2 B2"}', 4),
    spotted('{"a": "B0 on stage 1", "b": "stage 1: f2", "c": "B2 (stage 2)"}', 4, "spotted"),
    spotted('{"a": ("B0", "on stage 1"), "b": ("stage 1", "F2"), "c": "2B2 on stage 2."}', 4),
    spotted('{"A": ("B0", "1"), "B": ("F2", "stage 1"), "C": ("B2", 2)}', 4),
    spotted('{"a": ("B0", 2), "b": ("F2", 2), "c": ("B2", 3)}', 4, "stages-from-one"),
    spotted('{k: (t, __import__("numpy").int8(s)) for k, t, s in zip("abc", ("B0", "F2", "B2"), (1, 1, 2))}', 4),
]
WRONG_SPOTTED = [
    spotted("...", 0, "unanswered"),
    spotted('{"a": ..., "b": ..., "c": ...}', 0, "unanswered"),
    spotted('{"a": ("B0", 1), "b": ..., "c": ("B2", 2)}', 2, "unanswered", "spotted"),
    spotted('{"a": ("B0", 1), "b": ("F2", 1), "c": ("B2", 3)}', 2, "not-there"),
    spotted('{"a": ("B0", -1), "b": ("F2", 1.5), "c": ("B2", "-2")}', 0, "not-there", "not-a-pair"),
    spotted('{"a": ("B0", 2), "b": ("F2", 1), "c": ("B2", 2)}', 2, "the-needed-one"),
    spotted('{"a": ("B0", 1), "b": ("F2", 0), "c": ("F2", 2)}', 1, "the-needed-one"),
    spotted('{"a": ("F0", 1)}', 0, "is-legal"),
    spotted('{"a": ("B1", 0), "b": ("F1", 1), "c": ("F0", 0)}', 0, "is-legal"),
    spotted('{"a": ("B\u0660", 1), "b": 2**4000, "c": ("B2", "\u0662")}', 0, "not-a-pair"),
    spotted('{"a": "B0", "b": 1, "c": None}', 0, "not-a-pair", "unanswered"),
    spotted('{"a": ("B0", 1, 2), "b": (None, 1), "c": ("B2", "last")}', 0, "not-a-pair"),
    spotted('{"a": "B0 or B1 on stage 1", "b": "F2 on stage 1 or 2", "c": "stage 2"}', 0, "not-a-pair"),
    spotted('("B0", 1)', 0, "not-a-dict"),
    spotted('"B0 1"', 0, "not-a-dict"),
    spotted('{"a": ("B0", 1), "b": ("F2", 1), "c": ("B2", 2), "d": ("F0", 0)}', 4, "unknown-key"),
    spotted('{}', 0, "unanswered"),
]

RIGHT = RIGHT_DIAGRAMS + RIGHT_BUBBLES + RIGHT_TWICE + RIGHT_SPOTTED
WRONG = WRONG_DIAGRAMS + WRONG_BUBBLES + WRONG_TWICE + WRONG_SPOTTED
