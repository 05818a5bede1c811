"""What notebook 2 shows beside its exercises, also where an answer is wrong or a run is missing."""

import dataclasses
import re

import pytest

from course import schedules
from course.lessons import one_f_one_b as lesson
from course.pipeline import Sizes, close
from course.real_run import NoRun, no_run, run_subject

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2, layers=6)


@pytest.fixture(scope="module")
def runs():
    """GPipe, 1F1B, and 1F1B with one forward too many, on 3 processes with 4 micro-batches."""
    subjects = schedules.gpipe(3, 4), order, too_early
    yield [run_subject(subject, 3, 4, clock="virtual", sizes=SMALL) for subject in subjects]
    close()


def order(p, m, stage):
    return [operation.short for operation in schedules.one_f_one_b(p, m).ranks[stage]]


def too_early(p, m, stage):
    held = p - stage + 1
    return [f"F{i}" for i in range(min(held, m))] + [t for i in range(m) for t in (f"B{i}", f"F{i + held}") if t[0] == "B" or
                                                     i + held < m]


def count(schedule, p, m, stage):
    return m if schedule == "gpipe" else min(m, p - stage)


def lengths(p, m, stage):
    return {"warm-up": p - 1 - stage, "pairs": m - p + 1 + stage, "cooldown": p - 1 - stage}


def test_within_room_says_where_it_stops_or_that_it_fits():
    assert "Stage 0 stops at F3, in slot 3: it holds 3" in str(lesson.within_room(schedules.gpipe(3, 5), room=3))
    assert "It fits, and takes 14 slots." in str(lesson.within_room(schedules.gpipe(3, 5), room=5))
    assert "It fits, and takes 14 slots." in str(lesson.within_room(schedules.one_f_one_b(3, 5), room=3))


def test_practice_takes_one_room_or_one_for_each_stage():
    drawing = "F0 F1 . B0 . B1\n. F0 B0 F1 B1 ."
    assert "Practice: right" in str(lesson.practise_within_room(drawing, 2, 2, room=2))
    assert "Practice: right" in str(lesson.practise_within_room(drawing, 2, 2, room=(2, 1)))
    assert "there is room for 1" in str(lesson.practise_within_room(drawing, 2, 2, room=(1, 1)))


def test_side_by_side_has_equal_steps_and_unequal_memory():
    gpipe, rounds, ours = [line.split("  ")[-1].strip() for line in str(lesson.side_by_side(4, 8)).splitlines()[2:]]
    assert (gpipe, rounds, ours) == ("8, 8, 8, 8", "4, 4, 4, 4", "4, 3, 2, 1")
    cells = [line.split()[-8:-4] for line in str(lesson.side_by_side(4, 8)).splitlines()[2:]]
    assert cells == [["22", "6", "33", "9"], ["28", "12", "42", "18"], ["22", "6", "33", "9"]]


def test_phases_of_an_order():
    assert re.split(r"\s{2,}", str(lesson.phases_of(order, lengths, 3, 4)).splitlines()[1]) == [
        "stage 0", "F0 F1", "F2 B0 F3 B1", "B2 B3"]
    assert "`one_f_one_b(3, 4, 0)` returns another order than that of these phases" in str(
        lesson.phases_of(lambda p, m, stage: ["F0", "B0"] * m, lengths, 3, 4))
    assert "raised" in str(lesson.phases_of(lambda p: p, lengths, 3, 4))
    assert "F0 F1 F2" in str(lesson.phases_of(order, lambda p, m, stage: f"{p - stage}, {m - p + stage}, {p - stage}", 3, 4))


@pytest.mark.parametrize(("wrong", "said"), [
    (lambda *_: "3 5", "`phase_lengths(3, 4, 0)` now gives '3 5'"),
    (lambda p, m, stage: (p - 1, m - p + 1, p - 1), "(3, 4, 1)` now gives [2, 2, 2]"),
    (lambda p, m, stage: [(3, 1, 3), (1, 3, 1), (1, 3, 1)][stage], "(3, 4, 1)` now gives [1, 3, 1]"),
    (lambda *_: 1 / 0, "now gives ZeroDivisionError"), (lambda p: p, "now gives TypeError"), (..., "now gives NotCallable"),
])
def test_a_function_that_was_right_once_is_not_shown_as_if_it_were(wrong, said, runs):
    text = str(lesson.phases_of(order, wrong, 3, 4))
    assert said in text and "its check no longer passes" in text and len(text.splitlines()) == 1
    text = str(lesson.bytes_beside(wrong, *runs[:2]))
    assert text.startswith("`peak_in_flight('gpipe', 3, 4, 0)` now gives ") and len(text.splitlines()) == 1
    late = str(lesson.bytes_beside(lambda name, p, m, stage: m if name == "gpipe" else min(m, p), *runs[:2]))
    assert late.startswith("`peak_in_flight('1f1b', 3, 4, 1)` now gives 3: its check no longer passes.")


def test_where_the_clocks_do_not_show_it_the_table_says_so(runs):
    def slower(run, **changes):
        return dataclasses.replace(run, run=dataclasses.replace(run.run, **changes))

    gpipe, ours = (slower(run, overruns=0, measured=run.run.predicted) for run in runs[:2])  # as on a machine at rest
    later = dataclasses.replace(ours.run.measured, ends=tuple(tuple(end + 3 for end in row) for row in ours.run.measured.ends))
    assert "more than one slot longer" not in str(lesson.same_step(gpipe, ours))
    assert "more than one slot longer" in str(lesson.same_step(gpipe, slower(ours, measured=later)))
    assert '5 in the run "GPipe"' in str(lesson.same_step(slower(gpipe, overruns=5), ours))


def test_bytes_are_count_times_bytes_of_one(runs):
    gpipe, ours, other = runs
    text = str(lesson.bytes_beside(count, gpipe, ours))
    rows = [line.split() for line in text.splitlines()[1:]]
    assert [row[3] for row in rows] == list("444321") and all(row[-1] == row[-2] for row in rows)
    assert "Not here yet: a run of your order" in str(lesson.bytes_beside(count, gpipe, other))
    assert str(lesson.bytes_beside(count, no_run("why"), no_run("why"))) == (
        "Not here yet: GPipe's run and a run of your order, once it is 1F1B.\n\nwhy")
    assert str(lesson.bytes_beside(lambda schedule, p, m, stage: [str(count(schedule, p, m, stage))], gpipe, ours)) == text


def test_two_runs_on_one_axis(runs):
    gpipe, ours, other = runs
    assert "GPipe, measured" in str(lesson.same_step(gpipe, ours)) and "1F1B, measured" in str(lesson.same_step(gpipe, ours))
    assert "Your order, measured" in str(lesson.same_step(gpipe, other)) and "busy" not in str(lesson.same_step(gpipe, other))
    assert "Both runs are needed" in str(lesson.same_step(gpipe, no_run("no")))


def test_stage_0_holds_as_much_whatever_the_number_of_stages(runs):
    _, ours, other = runs
    text = str(lesson.fewer_stages(run_subject(schedules.one_f_one_b(2, 4), 2, 4, clock="virtual", sizes=SMALL), ours))
    two, three = (int(line.split()[-1].replace(",", "")) for line in text.splitlines()[-2:])
    assert abs(two - three) < 0.1 * three
    for pair in [(ours, other), (no_run("x"), ours), (ours, no_run("x"))]:
        assert "Not here yet" in str(lesson.fewer_stages(*pair))
    column = [line.split()[3] for line in str(lesson.layers_in_flight(48, 16, [2, 4, 8, 16])).splitlines()[2:]]
    assert column == ["48"] * 4


def test_what_the_room_buys():
    lines = str(lesson.what_room_buys(4, 4, [4, 64])).splitlines()[2:]
    assert [line.split() for line in lines] == [["4", "4:", "fits", "4:", "fits", "42.9%"],
                                                ["64", "64:", "no", "room", "4:", "fits", "4.5%"]]


def test_a_run_that_is_not_there_says_why():
    assert isinstance(no_run("why"), NoRun) and "There was no run to look at yet. why" in str(no_run("why").memory())


def test_one_micro_batch_is_counted_as_one():
    for said in (lesson.side_by_side(1, 1), lesson.layers_in_flight(1, 1, [1]), lesson.within_room(schedules.gpipe(1, 2), 1)):
        assert "1 micro-batch" in str(said) and not re.search(r"\b1 (micro-batches|stages|layers)\b", str(said))
