"""What notebook 3 shows beside its exercises, and the numbers that stand in its text."""

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from course import Costs, simulate
from course.formulas import bubble_fraction, bubble_over_ideal, micro_batches_needed, to_fraction_of_total, total_slots
from course.lessons import bubble, step_time
from course.predictions import PREDICTIONS
from course.real_run import no_run, run_subject
from course.schedules import gpipe, one_f_one_b
from tools.sources import read_cells

ROOT = Path(__file__).resolve().parent.parent
TEXT = " ".join(" ".join(cell.source for cell in read_cells(ROOT / "solutions/pipeline_parallelism/3_bubble_fraction.py")
                         if cell.kind == "markdown").split())
SLOW = Costs(forward=[1, 1, 2, 1], backward=[1, 1, 2, 1])


def lines(view):
    return [line.split() for line in repr(view).splitlines()]


def rows(view):
    """The lines that begin with a number."""
    return [line for line in lines(view) if line and line[0].isdecimal()]


def test_the_lessons_table_is_exact_in_every_row():
    for p, m in bubble.SIZES:
        simulated, formula = bubble.compared(p, m)
        assert simulated == formula and isinstance(simulated, Fraction)
    view = bubble.bubble_table(bubble_fraction)
    table = [row for row in rows(view) if "yes" in row]
    assert [(int(row[0]), int(row[1])) for row in table] == [(p, m) for p in (2, 4, 8) for m in (4, 8, 16, 32, 64)]
    assert "no" not in {row[4] for row in table}
    assert table[6][2:] == ["3/11", "3/11", "yes", "3/11", "=", "27.3%", "72.7%"]
    assert view.html.count("<svg") >= 1 and "8 stages" in repr(view)


ODD = [..., 3, lambda: 1, lambda *a: 1 / 0, lambda *a: None, lambda *a: "x", lambda *a: (i for i in "ab"), lambda *a: 10 ** 999]


@pytest.mark.parametrize("function", ODD)
def test_odd_functions_are_shown_as_what_they_return(function):
    for view in (bubble.your_formula(function, function, function), bubble.bubble_table(function),
                 bubble.two_definitions(function, function), bubble.needed_table(function)):
        assert "Traceback" not in repr(view) and "Raised" not in repr(view) and len(lines(view)) >= 5


def test_your_functions_beside_the_simulator():
    for row in rows(bubble.your_formula(total_slots, lambda p, m: 2 * m, lambda p, m: float(bubble_fraction(p, m)))):
        assert row[2:5] == row[5:8] and row[8] == row[-1], row


def test_the_ratio_of_backward_and_forward_changes_no_fraction():
    view = bubble.ratio_table()
    assert repr(view).count("1/4 = 25%") == 8 and len({line[3] for line in lines(view)[2:]}) == 4


def test_two_definitions_name_their_papers_and_agree():
    text = repr(bubble.two_definitions(bubble_over_ideal, to_fraction_of_total))
    assert "Huang et al. 2019, section 2.3" in text and "Narayanan et al. 2021, section 2.2" in text
    assert "3/4 and 3/7 are one bubble" in text
    last = next(line for line in text.splitlines() if line.startswith("1 trillion"))
    assert last.split()[5:] == ["63/512", "=", "12.3%", "63/575", "=", "11%", "63/575", "=", "11%"]
    assert "12.3% in one and 11.0% in another" in TEXT and f"{63 / 512:.1%} {63 / 575:.1%}" == "12.3% 11.0%"


def test_one_too_many_by_the_rounding_of_floats_is_explained():
    def in_floats(p, fraction):
        return max(1, -int((1 - p) * (1 - fraction) / fraction // 1))

    assert in_floats(4, 0.2) == 13
    assert "3 * (1 - 0.2) / 0.2 is 12.0000" in repr(bubble.needed_table(in_floats))
    assert "binary" not in repr(bubble.needed_table(micro_batches_needed))
    assert rows(bubble.needed_table(micro_batches_needed))[1] == ["4", "12", "27", "57", "297"]


def test_the_numbers_of_the_worked_example():
    timeline = simulate(gpipe(2, 3))
    assert (timeline.makespan, timeline.work // 2, timeline.bubble_fraction) == (8, 6, Fraction(1, 4))
    assert "The step takes 8 slots" in TEXT and "2/8 = 1/4" in TEXT
    assert all(bubble_fraction(2, m) == Fraction(1, m + 1) and total_slots(2, m) == 2 * (m + 1) for m in range(1, 20))


def test_the_numbers_in_the_text_about_the_table():
    for p in range(1, 200):
        assert bubble_fraction(p, 4 * p) < Fraction(1, 5) and bubble_fraction(p, 8 * p) < Fraction(1, 9)
    for p in (2, 4, 8):
        shares = [bubble_fraction(p, m) for m in (4, 8, 16, 32, 64)]
        gains = [one - two for one, two in itertools.pairwise(shares)]
        assert gains == sorted(gains, reverse=True)
    for p in (2, 8, 16):
        for percent in (40, 10, 2):
            m, twice = (micro_batches_needed(p, Fraction(each) / 100) for each in (percent, Fraction(percent, 2)))
            assert 2 * m <= twice + 2 and twice <= 2 * m + p


def test_the_numbers_of_the_runs():
    equal, slow, late, long = (simulate(gpipe(4, 8), costs) for costs in (Costs(), SLOW, Costs(latency=2), Costs(message=2)))
    assert (slow.makespan, slow.makespan // 2, equal.makespan * 5 / 4) == (38, 1 + 1 + 2 + 1 + 7 * 2, 27.5)
    assert "19 slots, and as many back" in TEXT
    assert late.makespan == equal.makespan + 6 * 2 and "6 times 2 slots" in TEXT
    assert long.makespan == 2 * (4 + 3 * 2 + 7 * 2) == 2 * 24 and "24, and as many back" in TEXT
    assert simulate(one_f_one_b(4, 8), Costs(latency=2)).makespan > late.makespan
    assert len({equal.bubble_fraction, slow.bubble_fraction, late.bubble_fraction, long.bubble_fraction}) == 4


def test_the_slowest_stage_sets_the_pace_of_gpipe():
    for p, m, at, factor in ((2, 5, 0, 3), (4, 8, 2, 2), (5, 3, 4, Fraction(3, 2))):
        times = [factor if stage == at else 1 for stage in range(p)]
        assert simulate(gpipe(p, m), Costs(times, times)).makespan == 2 * (sum(times) + (m - 1) * max(times))


def test_the_emulated_step_is_a_u_with_its_bottom_inside():
    steps = {m: simulate(gpipe(4, m), step_time.emulated(32 // m)["costs"]).makespan for m in (2, 4, 8, 16, 32)}
    assert list(steps.values()) == [1544, 1208, 1112, 1208, 1792]
    shares = [bubble_fraction(4, m) for m in steps]
    assert shares == sorted(shares, reverse=True)
    alone = step_time.emulated(1)["costs"]
    assert (alone.forward, alone.message) == (20, 24) and "an operation takes 20 ms but a message 24" in TEXT
    for number in (step_time.FIXED, step_time.EACH, step_time.MESSAGE):
        assert f"{number} ms" in TEXT


@pytest.fixture(scope="module")
def runs():
    """The five runs with the plan's times: what the views make of them does not depend on the machine."""
    return {m: run_subject(gpipe(4, m), 4, m, clock="virtual", **step_time.emulated(32 // m)) for m in (2, 8, 32)}


def test_the_curve_of_the_runs(runs):
    view = step_time.step_times(runs)
    assert [row[:4] for row in rows(view)] == [["2", "16", "32", "140"], ["8", "4", "32", "44"], ["32", "1", "32", "20"]]
    assert [row[4:] for row in rows(view)] == [["1544", "1544", "1400", "60.0%"], ["1112", "1112", "968", "27.3%"],
                                               ["1792", "1792", "1400", "8.6%"]]
    assert "measured" in repr(view) and view.html.count("<svg") >= 1
    assert step_time.shortest(runs) == 8


def test_the_learners_choice_beside_the_shortest_run(runs):
    text = repr(step_time.your_choice(lambda batch, p, dp, times: min(times, key=lambda b: (batch / b + p - 1) * times[b]), runs))
    assert text.count("1112") == 2
    text = repr(step_time.your_choice(lambda batch, p, dp, times: max(times), runs))
    assert "1544" in text and "1112" in text
    for odd in (lambda *a: 3, lambda *a: None, ..., lambda: 1):
        assert "none of the sizes" in repr(step_time.your_choice(odd, runs))


def test_without_runs_there_is_the_reason(runs):
    none = no_run("Not run while the notebook is graded.")
    missing = {**runs, 8: none}
    for view in (step_time.step_times(missing), step_time.your_choice(min, missing), bubble.where_it_ends({"a": none})):
        assert repr(view) == "Not run while the notebook is graded."
    assert step_time.shortest(missing) is ...


def test_where_the_formula_ends(runs):
    view = bubble.where_it_ends({"2": runs[2], "8": runs[8]})
    assert [row[3] for row in rows(view)] == ["60%", "27.3%"] and "1544.00" in repr(view)
    assert "busy" not in repr(view)
    late = replace(runs[8], run=replace(runs[8].run, overruns=3))
    assert '3 in the run "8"' in repr(bubble.where_it_ends({"2": runs[2], "8": late}))
    assert "3 in the run \"m = 8\"" in repr(step_time.step_times({**runs, 8: late}))


def test_predictions_of_this_notebook():
    assert PREDICTIONS["busy-four-fifths"].actual == 32 and PREDICTIONS["bubble-of-a-tenth"].actual == 63
    assert PREDICTIONS["bubble-4-8"].actual == Fraction(3, 11)
    for key in ("three-quarters", "backward-three-times"):
        assert PREDICTIONS[key].read(PREDICTIONS[key].actual) == PREDICTIONS[key].actual
        assert all(f'"{word}"' in TEXT for word in PREDICTIONS[key].choices)
