"""What notebook 7 shows of the price of zero and of links that decide who is the shortest."""

from fractions import Fraction

import pytest

from course import Costs, Schedule, schedules, simulate
from course.floors import step_floor
from course.lessons import zero_bubble as lesson
from course.pipeline import Sizes, close
from course.predictions import PREDICTIONS
from course.real_run import no_run, run_subject

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2, layers=4)
WAITING = Costs(1, 2, latency=Fraction(1, 2))
PLAN = {"clock": "virtual", "sizes": SMALL, "steps": 1, "slot_seconds": 0.001, "compare": False}


@pytest.fixture(scope="module")
def runs():
    """1F1B, ZB-H1 and ZB-H2 on 4 processes, then GPipe and 1F1B with links that take half a forward; by the plan."""
    parts = Costs(1, input_grad=1, weight_grad=1)
    yield ([run_subject(make(4, 8), 4, 8, costs=parts, **PLAN) for make in (
        schedules.one_f_one_b, schedules.zb_h1, schedules.zb_h2)],
        [run_subject(make(4, 32), 4, 32, costs=WAITING, **PLAN) for make in (schedules.gpipe, schedules.one_f_one_b)])
    close()


def row(view, begin):
    """The cells of the line that begins so."""
    line = next(line for line in str(view).splitlines() if line.startswith(begin))
    return line[len(begin):].replace(",", "").split()


def test_zero_is_bought_with_memory_or_messages_and_gone_with_a_barrier():
    view = lesson.price_of_zero(4, 8)
    assert {name: row(view, name) for name in ("1F1B", "ZB-H1", "ZB-H2", "ZB-V")} == {
        "1F1B": ["33", "9", "33", "9", "4", "48"], "ZB-H1": ["27", "3", "27", "3", "4", "48"],
        "ZB-H2": ["27", "3", "24", "0", "7", "48"], "ZB-V": ["25.5", "1.5", "24", "0", "4", "96"]}


def test_steps_in_a_row_are_shown_with_a_barrier_and_without():
    view = lesson.steps_in_a_row(schedules.zb_h2(4, 8), 3)
    assert "With the barrier 81 slots, without 75: each rank works for 72 of them." in str(view)
    assert view.html.count("<svg") >= 1 and "ZB-H2, 3 steps, no barrier" in view.html
    assert str(view).splitlines()[1].split().count("F0") == 3 and "F8" not in str(view)
    assert "With the barrier 76.5 slots, without 73.5" in str(lesson.steps_in_a_row(schedules.zb_v(4, 8), 3))


def test_on_processes_zero_takes_almost_twice_the_bytes(runs):
    priced, _ = runs
    view = lesson.zero_measured(*priced)
    assert row(view, "slots of the step, simulated") == ["33", "27", "27"]
    assert row(view, "slots of the step, measured") == ["33.00", "27.00", "27.00"]
    assert row(view, "most idle slots between a rank's first and last operation") == ["9", "3", "0"]
    assert row(view, "micro-batches held at most") == ["4", "4", "7"]
    plain, first, second = map(int, row(view, "bytes of activations at most"))
    assert plain <= first and second > 1.5 * first
    assert [run.run.losses[-1] for run in priced] == pytest.approx([priced[0].run.losses[-1]] * 3, abs=1e-6)


def test_with_slow_links_gpipe_is_the_shorter_one_also_on_processes(runs):
    _, waiting = runs
    assert row(lesson.links_measured(*waiting), "slots of the step, simulated") == ["108", "131"]
    assert row(lesson.links_measured(*waiting), "slots of the step, measured") == ["108.00", "131.00"]
    assert row(lesson.links_measured(*waiting), "micro-batches held at most") == ["32", "4"]


def test_links_decide_who_is_shorter_and_the_floor_says_that_gpipe_cannot_be_beaten():
    view = lesson.who_is_shorter(4, 32)
    assert row(view, "0  ") == ["105", "105", "GPipe", "and", "1F1B", "105"]
    assert row(view, "0.5") == ["108", "131", "GPipe", "108"] and row(view, "1  ") == ["111", "157", "GPipe", "111"]
    assert step_floor(range(4), 32, WAITING) == simulate(schedules.gpipe(4, 32), WAITING).makespan


def test_what_is_predicted_is_what_comes_out(runs):
    (_, first, second), (gpipe, one_f_one_b) = runs
    assert PREDICTIONS["held-by-zero"].actual == second.run.peak_activations_measured[0] == 7
    assert PREDICTIONS["zero-behind-a-barrier"].actual == "same" and second.slots == first.slots
    assert PREDICTIONS["shorter-with-slow-links"].actual == "longer" and one_f_one_b.slots > gpipe.slots


@pytest.mark.parametrize(("show", "words"), [
    (lambda: lesson.price_of_zero(0, 8), "ranks = 0: at least 1"),
    (lambda: lesson.steps_in_a_row("ZB-H2"), "`ZB-H2` is not a cell"),
    (lambda: lesson.steps_in_a_row(schedules.gpipe(2, 2), 0), "steps = 0: at least 1"),
    (lambda: lesson.steps_in_a_row(Schedule.from_csv("0B0,0F0")), "comes before"),
    (lambda: lesson.who_is_shorter(4, 8, 1), "It is `who_is_shorter("),
    (lambda: lesson.who_is_shorter(4, 8, [-1]), "latency = -1"),
    (lambda: lesson.zero_measured(no_run("why not")), "why not"), (lambda: lesson.links_measured(no_run("why not")), "why not"),
    (lambda: lesson.zero_measured(3), "It is `zero_measured(*runs)`"),
])
def test_odd_values_are_one_line(show, words):
    assert words in str(show()) and "Traceback" not in str(show())
