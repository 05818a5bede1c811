"""The plan of an experiment table: what is computed of a row, the rules, the nearest row that obeys, the plan as a file."""

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.formulas import PPConfig, bubble_fraction
from course.plan import CHOICES, COLUMNS, CONDITIONS, DEFAULT, Row, how_busy
from course.plan_file import plan_from_toml, plan_to_toml
from course.plan_rules import EXAMPLE, MOST_PROCESSES, MOST_ROWS, nearest, read_plan
from course.schedules import SCHEDULES

GOOD = {"schedule": "1f1b", "pp": 4, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1}
SIZES = [(p, v, m) for p in (1, 2, 3, 4, 8) for v in (1, 2, 3) for m in (1, 2, 3, 4, 8, 12)]
ROWS = [Row(name, p, v, m, 3, layers=p * v) for name in CHOICES for p, v, m in SIZES
        if (v == 1 or SCHEDULES[name].chunked) and (name != "interleaved_1f1b" or m % p == 0)]


def problems(*changes, **options):
    return read_plan([GOOD | change for change in changes], **options).problems


def test_the_estimate_is_exact_where_the_formula_is_said_to_hold_and_only_there():
    assert len(ROWS) > 150 and any(row.parts for row in ROWS)
    for row in ROWS:
        assert (row.simulated().bubble_fraction == row.bubble_estimated) == (not row.parts), row
        assert row.bubble_estimated == bubble_fraction(row.pp, row.micro_batches, row.chunks)


@pytest.mark.parametrize("change", [{"slow_stage": 2}, {"slow_stage": Fraction(3, 2)}, {"slow_stage": 1.5}, {"message": 40},
                                    {"message": 0.5}])
@pytest.mark.parametrize("name", CHOICES)
def test_a_slow_stage_and_a_slow_link_part_from_the_formula(name, change):
    row = Row(name, 4, 2 if SCHEDULES[name].chunked else 1, 8, 4, **change)
    assert row.parts and row.simulated().bubble_fraction > row.bubble_estimated
    assert not Row(name, 1, 1, 8, 4, **change).parts


def test_the_devices_are_those_that_the_text_describes():
    forward, backward = (Row("1f1b", 4, 2 // 2, 8, 4).costs().per_stage(4)[kind] for kind in "FB")
    assert forward == [4 * (3 + 2 * 4)] * 4 and backward == [2 * time for time in forward]
    slow = Row("1f1b", 4, 1, 8, 4, slow_stage=2).costs().per_stage(4)["F"]
    assert slow == [44, 44, 88, 44]
    assert Row("1f1b", 4, 1, 8, 4, message=40).costs().per_boundary(4) == [(40, 0)] * 3
    assert isinstance(Row("1f1b", 4, 1, 8, 4, slow_stage=1.1).simulated().makespan, int | Fraction)


def test_the_step_over_m_is_a_u_in_units():
    steps = [Row("1f1b", 4, 1, m, 32 // m).simulated().makespan for m in (2, 4, 8, 16, 32)]
    assert min(steps) == steps[2] and steps[:3] == sorted(steps[:3], reverse=True) and steps[2:] == sorted(steps[2:])


def test_the_default_plan_obeys_and_shows_what_a_plan_must_show():
    plan = read_plan([row.as_dict() for row in DEFAULT])
    assert tuple(plan.rows.values()) == DEFAULT and not plan.problems and len(DEFAULT) <= MOST_ROWS
    assert {row.global_batch for row in DEFAULT} == {32} and len({row.layers for row in DEFAULT}) == 1
    assert len({row.pp for row in DEFAULT}) > 1 and len({row.micro_batches for row in DEFAULT}) > 1
    assert any(row.chunks > 1 for row in DEFAULT) and any(row.dp > 1 for row in DEFAULT)
    assert [bool(row.parts) for row in DEFAULT].count(True) == 1


def test_columns_are_those_of_the_deliverable():
    assert COLUMNS == ("schedule", "pp", "chunks", "micro_batches", "micro_batch_size", "dp", "global_batch", "bubble_estimated",
                       "bubble_measured", "peak_activation_bytes", "step_time_predicted", "step_time_measured")
    assert CONDITIONS == ("layers", "slow_stage", "message")


BROKEN = [
    ({"pp": 0}, "too-small", "pp = 0: a whole number of at least 1"),
    ({"pp": -4}, "too-small", "pp = -4"),
    ({"micro_batches": -8}, "too-small", "micro_batches = -8"),
    ({"micro_batch_size": 0}, "too-small", "micro_batch_size = 0"),
    ({"dp": 0}, "too-small", "dp = 0"),
    ({"chunks": 0}, "too-small", "chunks = 0"),
    ({"pp": "four"}, "not-whole", "pp = 'four': a whole number"),
    ({"micro_batches": 8.5}, "not-whole", "micro_batches = 8.5"),
    ({"micro_batches": True}, "not-whole", "micro_batches = True"),
    ({"micro_batches": [8]}, "not-whole", "[8]"),
    ({"dp": float("nan")}, "not-whole", "nan"),
    ({"pp": None}, "missing-key", "pp is missing"),
    ({"pp": "..."}, "missing-key", "pp is missing"),
    ({"schedule": "gantt"}, "unknown-schedule", "'gantt'"),
    ({"schedule": 7}, "unknown-schedule", "schedule = 7"),
    ({"schedule": "zb_h1"}, "unknown-schedule", "gpipe, 1f1b, interleaved_1f1b or looped_bfs"),
    ({"micro_batch": 8}, "unknown-key", "did you mean micro_batches?"),
    ({"colour": "red"}, "unknown-key", "'colour'"),
    ({"pp": 16, "layers": 64}, "too-large", "pp = 16: at most 8"),
    ({"micro_batches": 128}, "too-large", "micro_batches = 128: at most 64"),
    ({"pp": 8, "dp": 4}, "too-large", "pp x dp = 8 x 4 = 32: at most 16"),
    ({"micro_batch_size": 10 ** 30}, "too-large", "the global batch"),
    ({"chunks": 2}, "chunks", "1f1b has one stage a rank"),
    ({"schedule": "interleaved_1f1b", "chunks": 2, "micro_batches": 6}, "not-a-multiple", "a multiple of pp = 4"),
    ({"pp": 3}, "layers", "16 layers cannot be shared out evenly"),
    ({"schedule": "looped_bfs", "chunks": 3}, "layers", "4 x 3 stages"),
    ({"slow_stage": 0.5}, "not-a-time", "slow_stage = 0.5: a number from 1 to 10"),
    ({"message": -1}, "not-a-time", "message = -1"),
    ({"message": "long"}, "not-a-time", "'long'"),
    ({"layers": 15}, "layers", "15 layers"),
]


@pytest.mark.parametrize(("change", "code", "words"), BROKEN, ids=lambda value: str(value)[:40])
def test_a_broken_rule_is_named_with_its_row_and_the_nearest_row_that_obeys(change, code, words):
    problem, = problems({}, change, {"pp": 2})
    assert (problem.row, problem.code) == (2, code) and words in problem.text and str(problem).startswith("Row 2: ")
    assert read_plan([GOOD, problem.nearest.as_dict()]).problems == ()
    assert "The nearest row that obeys: {" in str(problem) and len(str(problem)) < 500


def test_a_row_that_differs_from_most_in_batch_or_layers_is_named():
    batch, = problems({}, {"micro_batches": 16}, {"pp": 2})
    assert (batch.row, batch.code) == (2, "other-batch") and "= 64" not in batch.text
    assert "are 64 samples, and the plan's global batch is 32" in batch.text
    assert batch.nearest == Row("1f1b", 4, 1, 16, 2) or batch.nearest == Row("1f1b", 4, 1, 8, 4)
    layers, = problems({}, {}, {"layers": 32})
    assert (layers.row, layers.code, layers.nearest) == (3, "other-layers", Row("1f1b", 4, 1, 8, 4))
    assert [problem.row for problem in problems({}, {"pp": 2}, global_batch=64)] == [1, 2]
    assert problems({}, {}, layers=8) == ()


def test_the_lessons_fourth_configuration_is_mended_by_its_micro_batches():
    rows = [{"schedule": "1f1b", "pp": p, "micro_batches": m, "micro_batch_size": b}
            for p, m, b in ((2, 8, 4), (4, 8, 4), (4, 32, 1), (8, 64, 1))]
    problem, = read_plan(rows).problems
    assert problem.row == 4 and problem.nearest == Row("1f1b", 8, 1, 32, 1)


def test_what_is_no_plan_is_said():
    for value, code in ((5, "not-a-list"), ("rows", "not-a-list"), (None, "not-a-list"), ({}, "not-a-list"), ([], "no-rows"),
                        ({"row": 1}, "not-a-list")):
        problem, = read_plan(value).problems
        assert (problem.row, problem.code) == (None, code) and str(problem).startswith("The plan: ")
    assert [problem.code for problem in read_plan([5, "row", GOOD, [1, 2]]).problems] == ["not-a-row"] * 3
    many = read_plan([GOOD] * 9)
    assert [problem.code for problem in many.problems] == ["too-many-rows"] and len(many.rows) == 9
    assert read_plan([GOOD], global_batch="many").problems[0].code == "global-batch"


def test_rows_in_other_forms_are_read():
    expected = Row("1f1b", 4, 1, 8, 4)
    for form in (["1F1B", 4, 1, 8, 4, 1], {**GOOD, "pp": 4.0}, {**GOOD, "schedule": " 1f1b "}, vars(expected),
                 {key: value for key, value in GOOD.items() if key not in ("chunks", "dp")}):
        assert read_plan([form]).rows == {1: expected}, form
    assert read_plan({"a": GOOD, "b": GOOD | {"pp": 2}}).rows[2].pp == 2
    for name in ("interleaved", "Interleaved 1F1B", "interleaved-1f1b"):
        assert read_plan([GOOD | {"schedule": name, "chunks": 2}]).rows[1].schedule == "interleaved_1f1b"
    assert read_plan([GOOD | {"schedule": "Looped BFS"}]).rows[1].schedule == "looped_bfs"
    assert EXAMPLE.startswith('{"schedule": "1f1b", "pp": 4')


ANY = st.one_of(st.integers(-3, 70), st.floats(), st.text(max_size=5), st.none(), st.booleans(), st.lists(st.integers(),
                                                                                                           max_size=2))


@given(st.lists(st.dictionaries(st.sampled_from([*GOOD, "slow_stage", "message", "layers", "odd"]), ANY) | ANY, max_size=4))
def test_whatever_is_given_each_row_is_sound_or_has_its_problem(items):
    plan = read_plan(items)
    named = {problem.row for problem in plan.problems}
    assert plan.count == 0 or all((number in plan.rows) != (number in named) for number in range(1, plan.count + 1))
    for row in plan.rows.values():
        assert row.simulated().makespan > 0 and row.processes <= MOST_PROCESSES
    for problem in plan.problems:
        assert 5 < len(str(problem)) < 600


def test_the_nearest_row_changes_as_little_as_it_can():
    assert nearest(GOOD | {"micro_batches": 7}) == Row("1f1b", 4, 1, 8, 4)
    assert nearest(GOOD | {"pp": 5}) == Row("1f1b", 4, 1, 8, 4)
    assert nearest(GOOD | {"schedule": "interleaved_1f1b", "chunks": 3}).chunks in (2, 4)
    assert nearest(GOOD | {"slow_stage": 2, "pp": 3}).slow_stage == 2
    assert nearest({}) == Row("1f1b", 4, 1, 8, 4)
    begin = time.perf_counter()
    read_plan([GOOD | {"pp": 5, "layers": 60}] * 8, global_batch=240)
    assert time.perf_counter() - begin < 5, "a guard: it takes 0.3 s"


def test_what_was_changed_on_purpose_stays_in_the_nearest_row():
    replicas, = problems({}, {"dp": 2}, {"pp": 2}, {"pp": 8})
    assert replicas.nearest == Row("1f1b", 4, 1, 4, 4, dp=2), "the micro-batches give way"
    assert problems({}, {"dp": 2})[0].nearest == Row("1f1b", 4, 1, 4, 4, dp=2)
    more, = problems({}, {"micro_batches": 16}, {"pp": 2}, {"pp": 8})
    assert more.nearest == Row("1f1b", 4, 1, 16, 2), "more micro-batches were meant: they are smaller then"
    larger, = problems({}, {"micro_batch_size": 8}, {"pp": 2}, {"pp": 8})
    assert larger.nearest == Row("1f1b", 4, 1, 4, 8)


def test_a_configuration_of_the_lesson_is_no_row():
    problem, = read_plan([GOOD, vars(PPConfig(2, 8, 4))]).problems
    assert (problem.row, problem.code) == (2, "not-a-row") and "not a PPConfig" in problem.text and EXAMPLE in problem.text


@pytest.mark.parametrize("count", [1, 2])
def test_rows_in_single_brackets_are_told_of_the_double_ones(count):
    text = "[row]\nschedule = '1f1b'\npp = 2\nmicro_batches = 4\nmicro_batch_size = 2\n" * count
    problem, = plan_from_toml(text).problems
    assert "[[row]], in double brackets" in problem.text and len(str(problem).splitlines()) == 1


def test_a_measurement_is_held_against_its_own_plan():
    row = Row("1f1b", 4, 1, 8, 4, slow_stage=2)
    planned = float(row.simulated().bubble_fraction)
    assert how_busy(row, planned + 0.009, 1.04, 1.0) == how_busy(row, planned - 0.009, 1.0, 1.0) == ""
    assert how_busy(row, planned + 0.02, 1.0, 1.0).endswith(f"where its plan gives {planned:.1%}")
    assert how_busy(row, planned, 1.06, 1.0) == "step 1.06 s where its plan gives 1 s"


def test_a_plan_goes_to_toml_and_comes_back():
    rows = (*DEFAULT[:3], Row("looped_bfs", 4, 2, 8, 4, message=40), Row("1f1b", 4, 1, 8, 4, slow_stage=1.5))
    text = plan_to_toml(rows)
    plan = plan_from_toml(text)
    assert tuple(plan.rows.values()) == rows and not plan.problems
    assert "global_batch = 32" in text and text.count("[[row]]") == 5
    other = tuple(Row("gpipe", p, 1, 4, 6, layers=24) for p in (2, 3))
    assert tuple(plan_from_toml(plan_to_toml(other)).rows.values()) == other


@pytest.mark.parametrize(("text", "words"), [
    ("[[row]\n", "it is no TOML"), ("", "it has no rows"), ("rows = 3", "'rows'"), ("row = 3", "a list of rows is needed"),
    ("global_batch = -1\n[[row]]\nschedule = 'gpipe'", "global_batch = -1"),
    ("layers = 'x'\n[[row]]\nschedule = '1f1b'\npp = 2\nmicro_batches = 2\nmicro_batch_size = 1", "layers = 'x'"),
    ("[[row]]\nschedule = '1f1b'\npp = 2", "micro_batches is missing"),
])
def test_a_file_that_is_no_plan_is_said(text, words):
    plan = plan_from_toml(text)
    assert plan.rows == {} and words in str(plan.problems[0])
