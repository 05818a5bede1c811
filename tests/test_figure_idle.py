import re
from collections import Counter
from html import unescape

import pytest

from course import Costs, Timeline, schedules, simulate
from course.figures import timeline_figure
from course.figures.idle import MOST_HOVERED, MOST_LINES
from course.waiting import waits


def hovered(figure):
    return [unescape(words) for words in re.findall(r"<title>(idle,.*?)</title>", figure.svg)]


def test_each_idle_stretch_says_why_on_hover_and_in_the_text():
    timeline = simulate(schedules.gpipe(2, 1))
    figure = timeline_figure(timeline, waits=waits(timeline))
    lines = ["idle, slot 1 to 3: stage 0 waits for B0 of stage 1, which ends at slot 3",
             "idle, slot 0 to 1: stage 1 waits for F0 of stage 0, which ends at slot 1",
             "idle, slot 3 to 4: drain: stage 1 has nothing left to do in this step"]
    assert figure.text.splitlines()[2:5] == lines
    assert sorted(hovered(figure)) == sorted(lines)
    assert timeline_figure(timeline) == timeline_figure(timeline, waits=()) != figure


def test_a_hover_lies_over_its_stretch():
    timeline = simulate(schedules.gpipe(2, 1))
    figure = timeline_figure(timeline, waits=waits(timeline))
    begin, width = re.search(r'<path d="M([\d.]+) [\d.]+h([\d.]+)v25[^>]*><title>idle, slot 1 to 3', figure.svg).groups()
    forward = re.search(r'<path d="M([\d.]+) [\d.]+h([\d.]+)v25[^>]*><title>F0: forward of micro-batch 0 on stage 0', figure.svg)
    assert float(begin) == pytest.approx(float(forward[1]) + float(forward[2]), abs=0.2)
    assert float(width) == pytest.approx(2 * float(forward[2]), abs=0.2)


@pytest.mark.parametrize("ranks", [4, 32])
def test_many_stretches_are_summed_up(ranks):
    costs = Costs(1, 2, latency=1)
    timeline = simulate(schedules.one_f_one_b(ranks, 40), costs)
    found = waits(timeline, costs)
    lines = [line for line in timeline_figure(timeline, waits=found, grid=False).text.splitlines() if line.startswith("idle")]
    assert len(found) > MOST_LINES >= len(lines) > 0
    total = sum(int(re.search(r": (\d+) slots? ", line)[1]) for line in lines)
    assert total == sum(wait.end - wait.start for wait in found) == ranks * timeline.makespan - timeline.work
    said = Counter(re.search(r"idle on (.*?):", line)[1] for line in lines)
    assert set(said) == ({f"stage {rank}" for rank in range(ranks)} if ranks == 4 else {"all ranks together"})
    assert "waiting for messages on their way" in "\n".join(lines) and "drain" in "\n".join(lines)


def test_of_very_many_stretches_the_longest_ones_are_explained():
    costs = Costs(1, 2, latency=1)
    timeline = simulate(schedules.one_f_one_b(8, 200), costs)
    figure = timeline_figure(timeline, waits=waits(timeline, costs))
    assert len(waits(timeline, costs)) > MOST_HOVERED == len(hovered(figure))
    longest = max(waits(timeline, costs), key=lambda wait: wait.end - wait.start)
    assert any(longest.message in words for words in hovered(figure))


def test_times_of_stretches_carry_their_unit():
    timeline = simulate(schedules.gpipe(2, 1), Costs(1.5, 3.25))
    figure = timeline_figure(timeline, unit="ms", waits=waits(timeline, unit="ms"))
    assert "idle, 0 to 1.5 ms: stage 1 waits for F0 of stage 0, which ends at 1.5 ms" in figure.text


def test_a_drawing_with_faults_is_explained_too():
    drawn = Timeline.from_grid("F0 .  B0\n.  .  .", 2, 1)
    assert "idle, slot 1 to 2: stage 0 waits for B0 of stage 1, which is nowhere" in (
        timeline_figure(drawn, waits=waits(drawn)).text)


def test_a_grid_that_no_page_bears_is_left_out():
    figure = timeline_figure(simulate(schedules.gpipe(2, 1), Costs([1, 90_000], [1, 90_000])))
    assert figure.text.startswith("(180002 slots on 2 stages: too many cells for text)\n180002 slots; bubble")
