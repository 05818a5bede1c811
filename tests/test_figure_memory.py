"""What is held over time, as a picture: steps on the timeline's axis, bars in the text form."""

import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import Costs, simulate
from course.figures import memory_figure, stack, timeline_figure
from course.figures.memory import AREA, BARS, HEIGHT, ROOM
from course.schedules import SCHEDULES, gpipe, interleaved_1f1b, one_f_one_b


def paths(figure, look):
    return [element.get("d") for element in ElementTree.fromstring(figure.svg).iter("path")
            if all(element.get(name.replace("_", "-")) == str(value) for name, value in look.items())]


def words(figure):
    return [element.text for element in ElementTree.fromstring(figure.svg).iter("text")]


def test_a_literal_figure_in_text():
    timeline = simulate(one_f_one_b(4, 8))
    assert str(memory_figure(timeline.held, timeline.makespan, "1F1B", capacity=4)) == """\
1F1B
stage 0 |▂▄▆█████████████▆▆▄▄▂▂| peak 4 micro-batches
stage 1 | ▂▄▆▆▆▆▆▆▆▆▆▆▆▆▆▆▄▄▂▂ | peak 3 micro-batches
stage 2 |  ▂▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▂▂  | peak 2 micro-batches
stage 3 |   ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂   | peak 1 micro-batch
room for 4 micro-batches"""


def test_names_of_two_widths_keep_the_bars_in_line():
    timeline = simulate(gpipe(11, 1))
    lines = str(memory_figure(timeline.held, timeline.makespan)).splitlines()
    assert lines[0].startswith("stage 0  |") and lines[10].startswith("stage 10 |")
    assert {line.index("|") for line in lines} == {9}


@given(st.sampled_from(list(SCHEDULES)), st.integers(1, 4), st.integers(1, 2), st.integers(1, 3))
def test_each_slot_has_the_bar_of_what_is_held_in_it(name, p, rounds, backward):
    schedule = SCHEDULES[name].make(p, 2 * p * rounds, 2 if SCHEDULES[name].chunked else 1)
    timeline = simulate(schedule, Costs(1, backward, input_grad=1, weight_grad=backward))
    top = max(timeline.peak_activations)
    lines = str(memory_figure(timeline.held, timeline.makespan)).splitlines()
    if timeline.makespan > 60:
        return
    for line, operations, starts, ends in zip(lines, schedule.ranks, timeline.starts, timeline.ends, strict=True):
        spans = {operation: span for operation, *span in zip(operations, starts, ends, strict=True)}
        pairs = {operation: next(other for other in operations if other.kind in "BW" and (other.stage, other.micro_batch) == (
            operation.stage, operation.micro_batch)) for operation in operations if operation.kind == "F"}
        held = [sum(spans[f][0] <= slot < spans[b][1] for f, b in pairs.items()) for slot in range(timeline.makespan)]
        bars = line.split("|")[1]
        assert [BARS.index(bar) for bar in bars] == [-(-level * 8 // top) for level in held]


def test_the_steps_stand_where_the_operations_do():
    timeline = simulate(gpipe(2, 2))
    for scale in (None, 20):
        above = timeline_figure(timeline, scale=scale)
        below = memory_figure(timeline.held, timeline.makespan, scale=scale)
        ticks = [re.findall(r'<text x="([\d.]+)" y="[\d.]+"[^>]*>\d+</text>', figure.svg.split("text-anchor")[-1])
                 for figure in (above, below)]
        assert ticks[0] == ticks[1] and len(ticks[0]) > 2
        boxes = {float(x) for x in re.findall(r"M([\d.]+) [\d.]+h[\d.]+v25", above.svg)}
        ups = [float(x) for x in re.findall(r"H([\d.]+)V", paths(below, AREA)[0])]
        assert {ups[0], ups[1]} <= boxes


def test_all_rows_have_one_scale_and_the_capacity_is_a_line_on_it():
    timeline = simulate(one_f_one_b(2, 4))
    figure = memory_figure(timeline.held, timeline.makespan, capacity=4)
    first, second = ([float(y) for y in re.findall(r"V([\d.]+)", part)] for part in paths(figure, AREA)[0].split("z")[:2])
    assert max(first) - min(first) == pytest.approx(HEIGHT / 2) and max(second) - min(second) == pytest.approx(HEIGHT / 4)
    line, = paths(figure, ROOM)
    assert max(first) - float(line.split()[1].split("H")[0]) == pytest.approx(HEIGHT)
    assert {"peak 2", "peak 1"} <= set(words(figure))


def test_figures_that_are_compared_have_one_scale_and_say_it():
    held = [simulate(make(2, 4)) for make in (gpipe, one_f_one_b)]
    most, less = (memory_figure(timeline.held, timeline.makespan, full=4) for timeline in held)
    first, = ([float(y) for y in re.findall(r"V([\d.]+)", part)] for part in paths(less, AREA)[0].split("z")[:1])
    assert max(first) - min(first) == pytest.approx(HEIGHT / 2)
    assert words(most).count("4") == words(less).count("4") == 2 + 1  # a row each, and the axis of time
    assert str(less).splitlines()[0] == "stage 0 |▂▄▄▄▄▄▄▄▂▂| peak 2 micro-batches"
    assert str(less).splitlines()[-1] == str(most).splitlines()[-1] == "a bar of full height: 4 micro-batches"
    assert "full height: 5" in str(memory_figure(held[0].held, 10, full=5)) and "full height: 4" in str(
        memory_figure(held[0].held, 10, full=3))


def test_a_large_peak_keeps_to_its_column():
    assert "12345678" in words(memory_figure([[(0, 12345678), (1, 0)]], 2, unit="bytes"))


def test_measured_times_are_cut_into_slots_and_other_units_into_a_line():
    row = [(0.02, 1), (1.01, 2), (2.98, 1), (4.03, 0)]
    assert "|▄██▄|" in str(memory_figure([row], 4.03))
    assert len(str(memory_figure([row], 4.03, time_unit="ms")).split("|")[1]) == 60
    assert "ms" in words(memory_figure([row], 4.03, time_unit="ms"))


@pytest.mark.parametrize("figure", [
    memory_figure([], 0), memory_figure([()], 0, title="<none & nothing>"), memory_figure([(), [(Fraction(1, 2), 3), (2, 0)]], 2),
    memory_figure(simulate(interleaved_1f1b(8, 16, 2)).held, 100, place="rank")])
def test_a_figure_is_well_formed_and_disturbs_no_page(figure):
    root = ElementTree.fromstring(figure.svg)
    assert root.get("role") == "img" and root.get("aria-label")
    assert not re.search(r"<style| id=|class=", figure.svg)
    assert isinstance(figure.text, str)
    assert stack(figure, timeline_figure(simulate(gpipe(2, 2)))).svg.count("<svg") == 3
