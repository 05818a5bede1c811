import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from course import Schedule, Timeline, schedules, violations
from course.figures import stuck_figure
from course.figures.looks import FAULT
from course.legality import cycles, rings
from course.simulation import as_far_as_it_goes, standing
from tests.test_legality import mutants

CROSSED = Timeline.from_grid("F0 B0 F1 B1\nF0 F1 B0 B1", 2, 2).schedule
BEHIND = Schedule.from_csv("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1F1,1B0,1B1,1F2,1B2\n"
                           "2F0,2F1,2B1,2F2,2B0,2B2\n3F0,3F1,3F2,3B0,3B1,3B2\n")


def parts(figure):
    """Of the picture: hollow boxes of ranks in no circle, arrows, heavy ones."""
    paths = list(ElementTree.fromstring(figure.svg).iter("path"))
    curves = [path for path in paths if "C" in path.get("d")]
    return (sum(bool(path.get("stroke-dasharray")) for path in paths), len(curves),
            sum(path.get("stroke") == FAULT and path.get("stroke-width") == "3" for path in curves))


def test_a_deadlock_is_drawn_as_far_as_it_goes_and_its_cycle_is_heavy():
    figure = stuck_figure(CROSSED, "Crossed")
    assert figure.text == """\
Crossed
F0 .
.  F0
! deadlock: stage 0, stage 1, each waits for the next, for ever
stage 0 is at B0 and waits for B0 of stage 1
stage 1 is at F1 and waits for F1 of stage 0
2 operations of 8 can run, until slot 2"""
    assert parts(figure) == (0, 2, 2)
    assert figure.svg.count(f'fill="none" stroke="{FAULT}" stroke-width="3"') == 4  # a box and an arrow of each
    assert {"B0", "F1"} <= {element.text for element in ElementTree.fromstring(figure.svg).iter("text")}
    assert "<title>idle, slot 1 to 2: stage 0 is at B0 and waits for B0 of stage 1, for ever</title>" in figure.svg


def test_who_waits_for_the_cycle_is_not_in_it():
    assert [[(stand.rank, str(stand.operation), str(stand.needed), stand.on) for stand in cycle] for cycle in cycles(BEHIND)] == [
        [(2, "2B1", "3B1", 3), (3, "3F2", "2F2", 2)]]
    figure = stuck_figure(BEHIND)
    assert parts(figure) == (2, 4, 2)
    assert figure.text.splitlines()[4:] == [
        "! deadlock: stage 2, stage 3, each waits for the next, for ever",
        "stage 2 is at B1 and waits for B1 of stage 3", "stage 3 is at F2 and waits for F2 of stage 2",
        "stage 0 is at B0 and waits for B0 of stage 1", "stage 1 is at B0 and waits for B0 of stage 2",
        "9 operations of 24 can run, until slot 5"]


def test_a_rank_that_waits_for_itself_has_an_arrow_to_itself():
    figure = stuck_figure(Schedule.from_csv("0F0,0B0\n1B0,1F0"))
    assert parts(figure) == (1, 2, 1)
    assert "! B0 comes before F0, which it needs, on stage 1" in figure.text
    assert "stage 1 is at B0 and waits for F0 of stage 1" in figure.text


def test_what_is_nowhere_is_said():
    figure = stuck_figure(Schedule.from_csv("0F0,0B0\n1F0"))
    assert figure.text.splitlines()[2:] == [
        "! B0 is missing on stage 1", "stage 0 is at B0 and waits for B0 of stage 1, which is nowhere",
        "2 operations of 3 can run, until slot 2"]
    assert parts(figure) == (1, 1, 0)


def test_a_legal_schedule_goes_to_its_end():
    figure = stuck_figure(schedules.gpipe(2, 2))
    assert figure.text.endswith("8 operations of 8 can run, until slot 6") and parts(figure) == (0, 0, 0)


@settings(max_examples=80)
@given(mutants())
def test_any_schedule_is_drawn_with_all_that_stands_and_all_its_faults(schedule):
    figure, gone = stuck_figure(schedule), as_far_as_it_goes(schedule)
    ElementTree.fromstring(figure.svg)
    assert not re.search(r"nan|inf\b| id=|url\(", figure.svg)
    stands = standing(schedule, gone)
    heavy = {rank for ring in rings({stand.rank: stand.on for stand in stands}) for rank in ring}
    assert parts(figure) == (len(stands) - len(heavy), len(stands), len(heavy))
    assert all(rank[:len(ran)] == ran for rank, ran in zip(schedule.ranks, gone.schedule.ranks, strict=True))
    for stand in stands:
        assert schedule.label(stand.operation) in figure.text and schedule.place(stand.rank) in figure.text
    for fault in violations(schedule):
        assert fault.message in figure.text or fault.code == "deadlock"


@settings(max_examples=80)
@given(mutants())
def test_the_cycles_are_the_deadlocks_that_are_named(schedule):
    found = [fault for fault in violations(schedule) if fault.code == "deadlock"]
    assert len(found) == len(cycles(schedule))
    for fault, cycle in zip(found, cycles(schedule), strict=True):
        assert fault.rank == cycle[0].rank
        for stand, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            assert stand.on == following.rank and stand.needed in schedule.needs(stand.operation)
            assert schedule.label(stand.operation) in fault.message and schedule.label(stand.needed) in fault.message
    if found and {fault.code for fault in violations(schedule)} == {"deadlock"}:
        stands = standing(schedule, as_far_as_it_goes(schedule))
        assert {frozenset(stand.rank for stand in cycle) for cycle in cycles(schedule)} == {
            frozenset(ring) for ring in rings({stand.rank: stand.on for stand in stands})}


@pytest.mark.parametrize("ranks", [3, 16, 64])
def test_a_circle_of_all_ranks_stays_readable(ranks):
    rows = [f"{s}F0,{s}B0,{s}F1,{s}B1" if s == 0 else f"{s}F0,{s}F1,{s}B0,{s}B1" for s in range(ranks)]
    figure = stuck_figure(Schedule.from_csv("\n".join(rows)))
    assert parts(figure)[1] == ranks
    root = ElementTree.fromstring(figure.svg)
    assert max(len(element.text) for element in root.iter("text")) <= 120
    assert all(f"stage {rank} is at" in figure.text for rank in range(ranks))
