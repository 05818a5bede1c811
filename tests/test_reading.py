"""A schedule in whatever form somebody has it, and one sentence where it is none."""

from pathlib import Path

import numpy
import pandas
import pytest

from course import Schedule, Timeline, schedules, simulate, violations
from course.reading import read_schedule
from course.schedules import SCHEDULES
from course.sharing import to_line

ORDERS = "F0 F1 B0 B1\nF0 B0 F1 B1"
DRAWING = "F0 F1 .  B0 .  B1\n.  F0 B0 F1 B1 ."


def of_function(p, m, stage):
    return [str(operation) for operation in schedules.gpipe(p, m).ranks[stage]]


@pytest.mark.parametrize("form", [
    ORDERS, ORDERS.lower(), ORDERS.replace(" ", ","), f"# a comment\n\n{ORDERS}\n", "rank 1: F0 B0 F1 B1\nrank 0: F0 F1 B0 B1",
    ORDERS.replace("F1", "F2").replace("B1", "B2").replace("F0", "F1").replace("B0", "B1"), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1",
    ORDERS.splitlines(), [line.split() for line in ORDERS.splitlines()], tuple(map(tuple, map(str.split, ORDERS.splitlines()))),
    {1: "F0 B0 F1 B1", 0: "F0 F1 B0 B1"}, {"rank 10": ["F0", "B0", "F1", "B1"], "rank 9": ["F0", "F1", "B0", "B1"]},
    (line for line in ORDERS.splitlines()), numpy.array([line.split() for line in ORDERS.splitlines()]),
    pandas.DataFrame([line.split() for line in ORDERS.splitlines()]),
    "0F0,0F1,,0B0,0B1\n1F0,1B0,1F1,1B1\n", schedules.one_f_one_b(2, 2).ranks, to_line(schedules.one_f_one_b(2, 2)),
    f"> {to_line(schedules.one_f_one_b(2, 2))}\n", '"pp1/1f1b/p2/m2/end"',
])
def test_one_order_in_many_forms(form):
    found = read_schedule(form)
    assert isinstance(found, Schedule)
    assert (found.ranks, found.stage_to_rank, found.micro_batches) == (schedules.one_f_one_b(2, 2).ranks, (0, 1), 2)


@pytest.mark.parametrize("form", [DRAWING, DRAWING.splitlines(), [line.split() for line in DRAWING.splitlines()],
                                  DRAWING.replace(".", "?"), pandas.DataFrame([line.split() for line in DRAWING.splitlines()]),
                                  "F0, F1, ., B0, ., B1\n., F0, B0, F1, B1, ."])
def test_what_has_idle_cells_is_a_drawing_and_keeps_its_slots(form):
    found = read_schedule(form)
    assert isinstance(found, Timeline) and str(found) == DRAWING.replace(" .\n", "\n") and found.starts[0] == (0, 1, 3, 5)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_known_schedule_comes_back(name):
    schedule = SCHEDULES[name].make(3, 6, SCHEDULES[name].chunks or 2)
    orders = [list(map(str, rank)) for rank in schedule.ranks]
    for form in (schedule, schedule.to_csv(), to_line(schedule), orders, "\n".join(map(" ".join, orders)),
                 lambda p, m, rank: orders[rank]):
        found = read_schedule(form, 3, 6)
        assert (found.ranks, found.stage_to_rank, found.micro_batches) == (schedule.ranks, schedule.stage_to_rank, 6)
    drawn = read_schedule(str(simulate(schedule)))
    assert drawn.schedule.ranks == schedule.ranks and drawn.schedule.stage_to_rank == schedule.stage_to_rank
    assert not violations(drawn)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_known_schedule_by_its_function(name):
    chunks, function = SCHEDULES[name].chunks or 2, getattr(schedules, {"1f1b": "one_f_one_b"}.get(name, name))
    assert read_schedule(function, 2, 4) == SCHEDULES[name].make(2, 4, chunks)
    assert read_schedule(function) == SCHEDULES[name].make(4, 8, chunks)


def test_a_function_is_asked_for_the_sizes_that_are_named():
    assert read_schedule(of_function) == read_schedule(of_function, 4, 8)
    assert read_schedule(of_function, 2, 3).ranks == schedules.gpipe(2, 3).ranks

    def chunked(p, m, v, rank):
        return list(map(str, schedules.interleaved_1f1b(p, m, v).ranks[rank]))

    assert read_schedule(chunked, 2, 4, 2).ranks == schedules.interleaved_1f1b(2, 4, 2).ranks


def test_a_file_by_its_name(folder):
    Path("mine.csv").write_text("\ufeff" + schedules.zb_v(2, 3).to_csv(), encoding="utf-8")
    for name in ("mine.csv", " mine.csv ", Path("mine.csv")):
        assert read_schedule(name).ranks == schedules.zb_v(2, 3).ranks
    Path("other.csv").write_bytes(b"\xff\xfe0\x00")
    for name, words in (("other.csv", "not text in UTF-8"), ("none.csv", "none.csv cannot be read"), (Path(), "cannot be read")):
        with pytest.raises(ValueError, match=words):
            read_schedule(name)


def test_a_drawing_with_rows_left_out_has_its_ranks():
    found = read_schedule("F0 F1 . B0", ranks=3)
    assert len(found.schedule.ranks) == 3 and found.schedule.stage_to_rank == (0, 1, 2)


@pytest.mark.parametrize(("form", "words"), [
    (..., "not answered yet"), (None, "not answered yet"), ("", "empty"), ("...", "not answered yet"), (3, "3 is no schedule"),
    ([], "is no schedule"), ([3], "is no schedule"), ([[]], "no operation"), (". .\n. .", "no operation"),
    ("F0 Q\n. F0", "`Q` is not a cell"), ([["F0", "B0"], ["F0", "Q"]], "item 1, 'Q', is no token"),
    ("0SEND_F0,0F0\n1F0", "SEND_F0"), ("pp1/1f1b/p4", "breaks off"), ("999999F0 .", "more than 100,000 forwards"),
    ([["F999999"], ["999999F0"]], "cannot be looked at"), ([["F0"]] * 257, "257 ranks: at most 256"),
    (object(), "an object is not an answer"), ("F0\nF0\nF0", ""),
    (lambda p, m, stage: 1 / 0, "ZeroDivisionError"), (lambda p, m: [], "TypeError"), (lambda p, m, stage: "Q", "is no token"),
    (lambda p, m, stage: ..., "not answered yet"),
])
def test_what_is_no_schedule_is_one_sentence(form, words):
    if not words:
        assert violations(read_schedule(form))
        return
    with pytest.raises(ValueError) as raised:
        read_schedule(form)
    assert words in str(raised.value) and "\n" not in str(raised.value) and not str(raised.value).endswith(".")


def test_more_rows_than_ranks_are_named():
    with pytest.raises(ValueError, match="2 stages: row 2"):
        read_schedule(". F0\nF0\nF0", ranks=2)


@pytest.mark.parametrize(("sizes", "words"), [
    ({"ranks": "x"}, "ranks = 'x': a whole number"), ({"ranks": 0}, "ranks = 0: at least 1"),
    ({"micro_batches": -1}, "at least 1"), ({"chunks": 1.5}, "chunks = 1.5"), ({"ranks": 10**6}, "more than 100,000 forwards"),
    ({"ranks": 257}, "ranks = 257: at most 256"), ({"ranks": 400, "micro_batches": 400}, "ranks = 400 x micro_batches = 400"),
])
def test_sizes_that_cannot_be_are_refused_for_every_form(sizes, words):
    for form in (DRAWING, of_function, schedules.gpipe(2, 2)):
        with pytest.raises(ValueError, match=words):
            read_schedule(form, **sizes)


def test_a_schedule_without_an_operation_is_none():
    for nothing in (Schedule((), (), 0), Schedule(((), ()), (0, 1), 2), Timeline(Schedule(((),), (0,), 1), ((),), ((),))):
        with pytest.raises(ValueError, match="no operation in it"):
            read_schedule(nothing)


def test_a_blank_line_in_a_csv_is_no_rank():
    with pytest.raises(ValueError, match="row 1 of the CSV, counted from 0, has no operation"):
        read_schedule("0F0,0B0\n\n1F0,1B0")
