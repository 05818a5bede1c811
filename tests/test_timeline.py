import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import Costs, Operation, Schedule, Span, Timeline, schedules, simulate, violations
from course.drawing import DrawingError, read_drawing
from course.schedules import SCHEDULES


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("costs", [Costs(1, 1), Costs(1, 2), Costs(2, 3), Costs(Fraction(1, 2), 1)])
def test_the_text_grid_goes_out_and_in(name, costs):
    timeline = simulate(SCHEDULES[name].make(4, 8, 2 if SCHEDULES[name].chunked else 1), costs)
    again = Timeline.from_grid(str(timeline), timeline.schedule.stages, 8)
    assert again.schedule.ranks == timeline.schedule.ranks
    assert again.bubble_fraction == timeline.bubble_fraction
    assert again.starts == tuple(tuple(start / timeline.slot for start in row) for row in timeline.starts)


def test_a_continued_operation_is_one_operation():
    timeline = Timeline.from_grid("F0 .  .  .  B0 ~\n.  F0 B0 ~  . .", stages=2, micro_batches=1)
    assert timeline == Timeline(
        timeline.schedule, ((0, 4), (1, 2)), ((1, 6), (2, 4)))
    assert violations(timeline) == []


def test_a_drawing_with_a_row_too_few_lacks_that_stage():
    short = Timeline.from_grid("F0 B0", stages=2, micro_batches=1)
    assert len(short.schedule.ranks) == 2 and short.schedule.rank_is_stage
    assert [fault.message for fault in violations(short) if fault.code == "missing"] == [
        "F0 is missing on stage 1", "B0 is missing on stage 1"]


def test_numbers_of_a_timeline():
    timeline = simulate(schedules.gpipe(4, 8), Costs(1, 2))
    assert (timeline.makespan, timeline.work) == (33, 4 * 24)
    assert timeline.bubble_fraction == Fraction(3, 11) and timeline.bubble_over_ideal == Fraction(3, 8)
    assert isinstance(timeline.bubble_fraction, Fraction)
    measured = simulate(schedules.gpipe(4, 8), Costs(0.1, 0.2))
    assert isinstance(measured.bubble_fraction, float) and measured.bubble_fraction == pytest.approx(3 / 11)


def test_an_activation_is_held_until_w_where_the_backward_is_split():
    late = Schedule.from_csv("0F0,0I0,0F1,0W0,0I1,0W1\n")
    assert simulate(late).peak_activations == (2,)
    assert simulate(Schedule.from_csv("0F0,0I0,0W0,0F1,0I1,0W1\n")).peak_activations == (1,)


def test_what_is_held_over_time_of_a_drawing():
    drawn = Timeline.from_grid("F0 F1 .  B0 .  B1\n.  F0 B0 F1 B1 .", stages=2, micro_batches=2)
    assert drawn.held == (((0, 1), (1, 2), (4, 1), (6, 0)), ((1, 1), (3, 0), (3, 1), (5, 0)))
    assert drawn.holding((10, 7))[1] == ((1, 7), (3, 0), (3, 7), (5, 0))
    split = simulate(Schedule.from_csv("0F0,0I0,0F1,0W0,0I1,0W1\n"))
    assert [level for _, level in split.held[0]] == [1, 2, 1, 0]


TIMES = st.lists(st.integers(0, 4).map(lambda quarters: Fraction(quarters, 4)), min_size=8, max_size=8)


@given(st.sampled_from(list(SCHEDULES)), st.integers(1, 4), st.integers(1, 2), TIMES, TIMES)
def test_held_counts_what_is_between_the_start_of_f_and_the_end_of_b_or_w(name, p, rounds, forward, backward):
    schedule = SCHEDULES[name].make(p, 2 * p * rounds, 2 if SCHEDULES[name].chunked else 1)
    stages = schedule.stages
    timeline = simulate(schedule, Costs(forward[:stages], backward[:stages], latency=forward[0]))
    assert timeline.peak_activations == tuple(max(level for _, level in steps) for steps in timeline.held)
    born = {span.operation: span.start for span in timeline.spans}
    gone = {Operation(span.operation.stage, "F", span.operation.micro_batch): span.end
            for span in timeline.spans if span.operation.kind in "BW"}
    for rank, steps in enumerate(timeline.held):
        assert steps[-1][1] == 0
        for moment in {time for time, _ in steps}:
            alive = sum(born[operation] <= moment < gone[operation]
                        for operation in schedule.ranks[rank] if operation.kind == "F")
            assert alive == [level for time, level in steps if time <= moment][-1]


def test_measured_spans_keep_the_order_in_which_they_ran():
    schedule = schedules.one_f_one_b(2, 2)
    spans = [span._replace(start=span.start * 0.51, end=span.start * 0.51 + 0.4) for span in simulate(schedule).spans]
    measured = Timeline.from_spans(reversed(spans), schedule)
    assert measured.schedule == schedule
    assert measured.grid(slot=0.5).splitlines()[1].split() == [".", "F0", "B0", "F1", "B1", "."]


def test_rounding_to_slots_never_loses_an_operation():
    schedule = Schedule.of([[Operation(0, "F", 0), Operation(0, "B", 0)]])
    tight = Timeline.from_spans([Span(Operation(0, "F", 0), 0, 0.0, 0.2), Span(Operation(0, "B", 0), 0, 0.2, 0.4)], schedule)
    assert tight.grid(slot=1).split() == ["F0", "B0"]


def test_a_measured_start_that_is_late_keeps_its_cell():
    schedule = Schedule.of([[Operation(0, "F", 0), Operation(0, "F", 1), Operation(0, "B", 0), Operation(0, "B", 1)]])
    starts, ends = (0.6, 1.0, 2.55, 3.0), (1.0, 2.0, 3.0, 4.0)
    late = Timeline.from_spans([Span(*item) for item in zip(schedule.ranks[0], (0,) * 4, starts, ends, strict=True)], schedule)
    assert late.grid(slot=1) == "F0 F1 B0 B1"


def test_chrome_trace_is_complete_events_one_thread_a_rank():
    timeline = simulate(schedules.one_f_one_b(2, 2))
    events = [event for event in json.loads(timeline.to_chrome_trace())["traceEvents"] if event["ph"] == "X"]
    assert len(events) == 8 and {event["tid"] for event in events} == {0, 1}
    assert all(event["dur"] == 1000 for event in events)
    assert max(event["ts"] + event["dur"] for event in events) == 1000 * timeline.makespan


def test_an_empty_timeline_has_no_bubble():
    empty = Timeline.from_grid(".", stages=1, micro_batches=0)
    assert (empty.makespan, empty.bubble_fraction, str(empty)) == (0, 0, ".")


@pytest.mark.parametrize(("text", "code", "words"), [
    ("F0 X1 .", "token", ["Row 0, slot 1", "`X1`"]),
    ("F0 .\nF0 - B0", "token", ["Row 1, slot 1", "`-`", "`.` for idle"]),
    ("F0 F 1", "token", ["Row 0, slot 1", "`F`"]),
    ("~ F0", "token", ["Row 0, slot 0", "goes on"]),
    (". ~", "token", ["Row 0, slot 1"]),
    ("F0\nF0\nF0", "rows", ["3 rows", "2 stages", "row 2", "`F0`"]),
    ("", "empty", ["empty"]),
    ("  \n\t\n", "empty", ["empty"]),
    ("...", "empty", ["empty"]),
    (None, "not-text", ["this is None"]),
    (["F0"], "not-text", ["list"]),
    ("F" + "9" * 10_000 + "x", "token", ["Row 0, slot 0", "…"]),
    (" " * 190_000 + "x\nF0", "token", ["Row 0, slot 0", "`x`"]),
    ("9" * 5000 + "1: F0\n" + "9" * 5000 + "2: F0", "token", ["Row 0, slot 0"]),
])
def test_what_cannot_be_read_is_named(text, code, words):
    with pytest.raises(DrawingError) as error:
        read_drawing(text, stages=2)
    assert error.value.code == code and all(word in str(error.value) for word in words)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(("text", "codes"), [
    ("F0 b0", ["lower-case"]), ("F0\tB0", ["tab"]), ("f0\tb0\nF0\tB0", ["lower-case", "tab"]),
    ("stage 0: F0 B0\nstage 1: F0 B0", []), ("0 | F0 B0 |", []), ("F0, B0", []), ("\n\n  F0 B0\n\n", []),
])
def test_lenient_reading_says_what_it_did(text, codes):
    drawing = read_drawing(text, stages=2)
    assert drawing.rows[0] == ("F0", "B0") and [code for code, _ in drawing.notes] == codes
    assert all("Row 0" in note and "`" in note for _, note in drawing.notes)


@given(st.text(alphabet="FBIW.~?0123 \n\t|:,xf", max_size=60))
def test_any_text_is_read_or_named(text):
    try:
        drawing = read_drawing(text, stages=3)
    except DrawingError as error:
        assert str(error) and error.code
    else:
        assert 1 <= len(drawing.rows) <= 3
        for row in range(len(drawing.rows)):
            for _, start, end in drawing.operations(row):
                assert 0 <= start < end <= drawing.slots
