"""Right and wrong answers of notebook 6: plans and tables; the conclusions are in bank_6_conclusions."""

from tests.bank import Case
from tests.bank_6_conclusions import RIGHT_CONCLUSIONS, WRONG_CONCLUSIONS

A = '{"schedule": "1f1b", "pp": 2, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1}'
B = '{"schedule": "gpipe", "pp": 4, "chunks": 1, "micro_batches": 16, "micro_batch_size": 2, "dp": 1}'
C = '{"schedule": "interleaved_1f1b", "pp": 4, "chunks": 2, "micro_batches": 8, "micro_batch_size": 4, "dp": 1}'


def plan(rows, points, *codes, before=""):
    return Case("ex6-plan", f"{before}\nconfigurations = {rows}", points, codes)


def beside(changed, points, *codes, before=""):
    """A right plan of three rows and one more: a dict, or what is changed in A."""
    row = changed if changed.startswith("{") else "{**a, " + changed + "}"
    return plan(f"[a, {B}, {C}, {row}]", points, *codes, before=f"{before}\na = {A}")


RIGHT_PLANS = [
    plan(f"[{A}, {B}, {C}]", 6, "plan-right", "no-parting"),
    plan(f"[{A}, {B}, {C}, {{**{A}, 'slow_stage': 2}}]", 6, "plan-right"),
    plan(f"({A}, {B}, {C}, {{**{A}, 'message': 40}})", 6, "plan-right"),
    plan("[row.as_dict() for row in DEFAULT]", 6, "plan-right", before="from course.plan import DEFAULT"),
    plan("[{key: str(value) for key, value in row.as_dict().items()} for row in DEFAULT]", 6, "plan-right",
         before="from course.plan import DEFAULT"),
    plan("[dict(zip(('schedule', 'p', 'v', 'm', 'b', 'DP'), row)) for row in (('1f1b', 2, 1, 8, 4, 1), ('looped_bfs', 4, 4, "
         "16, 2, 1))]", 6),
    plan("DEFAULT", 6, "plan-right", before="from course.plan import DEFAULT"),
    plan(f"pandas.DataFrame([{A}, {B}, {C}])", 6, before="import pandas"),
    plan(f"pandas.DataFrame([{A}, {B}, {C}, {{**{A}, 'slow_stage': 2}}])", 6, "plan-right", before="import pandas"),
    plan("[('1f1b', 2, 1, 8, 4, 1), ('looped_bfs', 4, 4, 16, 2, 1)]", 6),
    plan("[{'schedule': s, 'pp': numpy.int64(p), 'chunks': v, 'micro_batches': m, 'micro_batch_size': 32 // m} "
         "for s, p, v, m in (('GPipe', 2, 1, 4), ('1F1B', 4, 1, 8), ('Interleaved 1F1B', 4, 2, 8))]", 6, before="import numpy"),
    plan(f"{{1: {A}, 2: {B}, 3: {C}}}", 6),
    plan("[dict(zip(keys, row)) for row in (('1f1b', 2, 1, 2, 8, 2), ('interleaved_1f1b', 2, 4, 4, 4, 2), "
         "('gpipe', 8, 1, 16, 1, 2))]", 6, before="keys = 'schedule pp chunks micro_batches micro_batch_size dp'.split()"),
    plan(f"(row for row in [{A}, {B}, {C}])", 6),
    plan(f"[{{**row, 'layers': 24}} for row in ({A}, {B}, {C})]", 6),
    plan(f"[{{**row, 'micro_batch_size': 2 * row['micro_batch_size']}} for row in ({A}, {B}, {C})]", 6),
    plan(f"[{A}, {A}, {B}, {C}]", 6, "same-rows"),
    plan(f"[{{**{A}, 'chunks': None, 'slow_stage': None}}, {B}, {C}]", 6),
    plan("[R('gpipe', 2, 1, 8, 4, 1), R('1f1b', 4, 1, 4, 8, 1), R('interleaved_1f1b', 4, 4, 8, 4, 1)]", 6,
         before="import collections\nR = collections.namedtuple('R', 'schedule pp chunks micro_batches micro_batch_size dp')"),
    beside("'micro_batches': 8.0, 'pp': 1, 'slow_stage': 1.5", 6),
]

WRONG_PLANS = [
    plan("...", 0, "unanswered"),
    plan("[...]", 0, "unanswered"),
    plan("None", 0, "unanswered"),
    plan("[]", 0, "no-rows"),
    plan("7", 0, "not-a-list"),
    plan("'1f1b, pp 4'", 0, "not-a-list"),
    plan(A, 0, "not-a-list"),
    plan("lambda: []", 0, "refused"),
    plan("[open]", 0, "refused"),
    plan("[1, 2, 3]", 0, "not-a-row"),
    plan("[{'schedule': '1f1b', 'pp': float('nan')}]", 0, "missing-key"),
    beside("'pp': float('nan')", 5.5, "not-whole"),
    beside("'message': float('inf')", 5.5, "not-a-time"),
    plan(f"[{A}]", 2, "one-row", "not-interleaved"),
    plan(f"[{A}, {A}]", 3, "one-pp", "one-micro-batches", "not-interleaved"),
    plan(f"[{B}, {C}]", 5, "one-pp"),
    plan(f"[{A}, {C}]", 5, "one-micro-batches"),
    plan(f"[{A}, {B}]", 5, "not-interleaved"),
    plan(f"[{A}, {B}, {{**{C}, 'chunks': 1}}]", 5, "not-interleaved"),
    plan(f"[{A}, {B}, {{**{C}, 'pp': 1}}]", 5, "not-interleaved"),
    beside("'micro_batches': 64, 'micro_batch_size': 1, 'pp': 8", 5, "other-batch"),
    beside("'dp': 2", 5, "other-batch"),
    beside("'layers': 32", 5.5, "other-layers"),
    beside("'pp': 3", 5.5, "layers"),
    beside("'pp': 0", 5.5, "too-small"),
    beside("'micro_batches': -8", 5.5, "too-small"),
    beside("'pp': 'four'", 5.5, "not-whole"),
    beside("'pp': 2.5", 5.5, "not-whole"),
    beside("'pp': True", 5.5, "not-whole"),
    beside("'pp': __import__('fractions').Fraction(2**4000, 3)", 5.5, "not-whole"),
    beside("'pp': __import__('fractions').Fraction(10**99, 3)", 5.5, "not-whole"),
    beside("'pp': ...", 5.5, "missing-key"),
    beside("{'schedule': '1f1b', 'pp': 2}", 5.5, "missing-key"),
    beside("{**a, 'micro_batch': 8}", 5.5, "unknown-key"),
    beside("{**a, 'm': 8}", 5.5, "unknown-key"),
    beside("'schedule': 'pipedream'", 5.5, "unknown-schedule"),
    beside("'pp': 16", 5.5, "too-large"),
    beside("'micro_batches': 128", 5.5, "too-large"),
    beside("'pp': 8, 'dp': 4, 'micro_batches': 2", 5.5, "too-large"),
    beside("'micro_batch_size': 10 ** 90", 5.5, "too-large"),
    beside("'micro_batch_size': 10 ** 300", 5.5, "not-whole"),
    beside("'chunks': 2", 5.5, "chunks"),
    beside("'schedule': 'interleaved_1f1b', 'pp': 4, 'chunks': 2, 'micro_batches': 2, 'micro_batch_size': 16", 5.5,
           "not-a-multiple"),
    plan(f"[{A}, {B}, {{**{C}, 'micro_batches': 6}}]", 13 / 3, "not-a-multiple"),
    beside("'slow_stage': 'very'", 5.5, "not-a-time"),
    beside("'slow_stage': 0", 5.5, "not-a-time"),
    plan(f"[{A}, {B}, {C}] * 3", 5, "too-many-rows"),
    plan("[PPConfig(2, 8, 4), PPConfig(4, 8, 4), PPConfig(4, 32, 1), PPConfig(8, 64, 1)]", 0, "not-a-row",
         before="from course.formulas import PPConfig"),
    plan(f"[{A}, {B}, {C}, 5, 6, 7, 8, 9]", 4.75, "not-a-row"),
]

PLAN = """
from course.plan import COLUMNS, DEFAULT
from course.records import csv_of
from tests.experiment_lines import made, noisy
configurations = [r.as_dict() for r in DEFAULT]
"""


def table(change, points, *codes, before=""):
    """`lines` is the table that the configurations give; `change` are statements that make `table` of it."""
    return Case("ex6-table", f"{PLAN}{before}\nlines = made()\n{change}", points, codes)


def swapped(lines, one, other):
    """Two columns under each other's name."""
    return table(f"table = pandas.DataFrame({lines}).rename(columns={{{one!r}: {other!r}, {other!r}: {one!r}}})", 2, "swapped",
                 before="import pandas")


def cell(line, column, value, points, *codes):
    return table(f"lines[{line}][{column!r}] = {value}\ntable = lines", points, *codes)


NOISY = "noisy({n: 0.01 * n for n in range(1, 9)})"
RIGHT_TABLES = [
    table("table = pandas.DataFrame(lines)", 6, "table-right", before="import pandas"),
    table("table = pandas.DataFrame(lines, index=range(1, 9))", 6, before="import pandas"),
    table("table = lines", 6, "table-right"),
    table("table = {key: [line[key] for line in lines] for key in lines[0]}", 6),
    table("table = pandas.DataFrame(lines).to_dict()", 6, before="import pandas"),
    table("table = pandas.read_csv(io.StringIO(csv_of(lines)))", 6, before="import io, pandas"),
    table("table = list(csv.DictReader(csv_of(lines).splitlines()))", 6, before="import csv"),
    table("table = lines[::-1]", 6),
    table("table = [{**line, 'note': 'mine'} for line in lines]", 6),
    table("table = pandas.DataFrame(lines)[list(COLUMNS)]", 6, before="import pandas"),
    table("table = pandas.DataFrame(lines).reset_index().astype({'pp': 'float64'})", 6, before="import pandas"),
    table("configurations = configurations[::-1]\ntable = lines", 6),
    table("table = made(late=0.01)", 6),
    table("configurations = [{**r, 'message': 40, 'slow_stage': 1} for r in configurations]\ntable = made(configurations)", 6),
    table("configurations = [{**r, 'layers': 32} for r in configurations]\ntable = made(configurations)", 6),
    table("table = [{**line, 'dp': numpy.int64(line['dp'])} for line in lines]", 6, before="import numpy"),
]

WRONG_TABLES = [
    table("configurations[0]['micro_batch_size'] = '1 GB'\nlines[0]['slow_stage'] = 10**6\ntable = lines", 2.875, "not-runnable"),
    table("table = ...", 0, "unanswered"),
    table("table = None", 0, "unanswered"),
    table("table = []", 0, "no-rows"),
    table("table = 'experiment_table.csv'", 0, "not-a-table"),
    table("table = [1, 2]", 0, "not-a-table"),
    table("table = {'pp': [1, 2], 'dp': [1]}", 0, "not-a-table"),
    table("table = lambda: lines", 0, "refused"),
    table("table = pandas.DataFrame(lines).style", 0, before="import pandas"),
    table("table = pandas.DataFrame(lines).round(3)", 4, "rounded", before="import pandas"),
    table("table = pandas.DataFrame(lines).T", 0, "missing-columns", before="import pandas"),
    table("table = made(configurations[:2])", (1 + 2 / 8 + 3) * 3 / 5, "row-missing", "nothing-parts", "tells-little"),
    table("table = made([Row('1f1b', 2, 1, m, 32 // m) for m in (8, 32)])", 4 / 5, "other-row", "tells-little",
          before="from course.plan import Row"),
    table("table = [{key: line[key] for key in line if key != 'bubble_measured'} for line in lines]", 3, "missing-columns"),
    table("table = pandas.DataFrame(lines).rename(columns={'dp': 'replicas', 'global_batch': 'batch'})", 0.75, "missing-columns",
          before="import pandas"),
    table("table = lines[:-1]", 4.875, "row-missing", "nothing-parts"),
    table("table = lines[1:]", 5.875, "row-missing"),
    table("table = lines + lines[:1]", 5.875, "other-row"),
    table("configurations[0]['pp'] = 1\ntable = lines", 5.75, "other-row", "row-missing"),
    swapped("made()", "bubble_measured", "bubble_estimated"),
    swapped(NOISY, "bubble_measured", "bubble_estimated"),
    swapped(NOISY, "step_time_measured", "step_time_predicted"),
    table("configurations = ...\ntable = lines", 0, "unanswered"),
    table("configurations = [5]\ntable = lines", 0, "no-plan"),
    table("table = made([Row('1f1b', 2, 1, 8, 2)])", 0, "other-row", before="from course.plan import Row"),
    table("configurations = configurations[7:]\ntable = made(configurations)", 6 / 5, "tells-little"),
    table("configurations = [configurations[7]] * 8\ntable = made(configurations)", 6 / 5, "tells-little"),
    table("configurations = [configurations[7] | {'slow_stage': 2 + n / 1e6} for n in range(8)]\ntable = made(configurations)",
          6 / 5, "tells-little"),
    table("configurations = configurations[6:]\ntable = made(configurations)", 6 * 3 / 5, "tells-little"),
    table("configurations = configurations[:3] + configurations[7:]\ntable = made(configurations)", 6 * 4 / 5, "tells-little"),
    table("configurations = configurations[3:5] + configurations[7:]\ntable = made(configurations)", 6),
    table("configurations = configurations[:4] + configurations[7:]\ntable = made(configurations)", 6),
    cell(0, "global_batch", 64, 4, "global-batch"),
    cell(1, "bubble_estimated", "3 / 8", 4, "over-ideal"),
    cell(1, "bubble_estimated", "27.27", 4, "percent"),
    cell(1, "bubble_estimated", "0.273", 4, "rounded"),
    cell(5, "bubble_estimated", "3 / 11", 4, "forgets-chunks"),
    cell(1, "bubble_estimated", "0.9", 4, "estimate"),
    cell(2, "step_time_predicted", "2", 4, "predicted"),
    cell(2, "step_time_predicted", "-1", 4, "predicted"),
    cell(2, "step_time_measured", "2", 4, "out-of-range"),
    cell(2, "step_time_measured", "20", 4, "not-together"),
    cell(2, "step_time_measured", "0", 4, "out-of-range"),
    cell(2, "step_time_measured", "None", 5, "no-number"),
    cell(2, "bubble_measured", "1.2", 4, "out-of-range"),
    cell(2, "bubble_measured", "-0.1", 4, "out-of-range"),
    cell(2, "bubble_measured", "0.05", 4, "out-of-range"),
    cell(2, "bubble_measured", "0.3", 4, "not-together"),
    cell(6, "bubble_measured", "0.5", 4, "not-together"),
    cell(2, "bubble_measured", "27.27", 4, "out-of-range"),
    cell(2, "bubble_measured", "float('nan')", 5, "no-number"),
    cell(2, "bubble_measured", "'none'", 5, "no-number"),
    cell(2, "peak_activation_bytes", "-5", 4, "out-of-range"),
    cell(2, "peak_activation_bytes", "1000.5", 4, "out-of-range"),
    cell(2, "peak_activation_bytes", "12345", 4, "peaks-differ"),
    cell(2, "peak_activation_bytes", "10 ** 1000", 5, "no-number"),
    cell(0, "step_time_measured", "float('inf')", 5, "no-number"),
    table("lines[3]['step_time_measured'] = float('nan')\ntable = pandas.DataFrame(lines)", 5, "no-number",
          before="import pandas"),
    table("configurations = configurations[:7]\ntable = made(configurations)", 5, "nothing-parts"),
    table("lines[4]['dp'] = 2\ntable = lines", 3.75, "other-row", "global-batch"),
]

RIGHT = RIGHT_PLANS + RIGHT_TABLES + RIGHT_CONCLUSIONS
WRONG = WRONG_PLANS + WRONG_TABLES + WRONG_CONCLUSIONS
