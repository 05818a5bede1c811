"""The plot: places follow the values, no name covers another, limits are where they are, and all of it in words."""

import itertools
import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import Costs
from course.figures.apart import Area, around, set_apart
from course.figures.plot import LETTER, LINE, RADIUS, Floor, Point, plot_figure
from course.lab import known_places

POINTS = [Point("one", 4, 33, 0), Point("two", 8, 33, 1), Point("three", 4.5, 25.5, 2), Point("four", 5, 25.5, 3),
          Point("mine", 5.5, 30, own=True)]
NAMES = "held", "slots"


def elements(figure, tag):
    return list(ElementTree.fromstring(figure.svg).iter(tag))


def words(figure):
    return {element.text: (float(element.get("x")), float(element.get("y"))) for element in elements(figure, "text")}


def marks(figure):
    """Colour -> the middle of the mark that has it, by the extent of its outline."""
    found = {}
    for element in elements(figure, "path"):
        if element.get("stroke-width") == "1" and element.get("fill", "").startswith("#"):
            numbers = [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+) ([\d.]+)", element.get("d").partition("a")[0])]
            found[element.get("fill")] = numbers[0] if "a" in element.get("d") else tuple(sum(part) / len(part)
                                                                                           for part in zip(*numbers, strict=True))
    return found


def test_right_is_more_and_up_is_longer():
    places = list(marks(plot_figure(POINTS, *NAMES)).values())
    assert len(places) == 4
    (one_x, one_y), (two_x, two_y), (three_x, three_y), (four_x, four_y) = sorted(places, key=lambda place: (place[1], place[0]))
    assert one_x + RADIUS < three_x + RADIUS < four_x < two_x
    assert one_y == pytest.approx(two_y, abs=7) and three_y == pytest.approx(four_y, abs=3) and one_y + 100 < three_y


def test_each_name_once_and_the_own_one_stands_out():
    figure = plot_figure(POINTS, *NAMES, "A title")
    drawn = [element for element in elements(figure, "text") if element.text in {point.name for point in POINTS}]
    assert sorted(element.text for element in drawn) == sorted(point.name for point in POINTS)
    assert [element.text for element in drawn if element.get("font-weight") == "bold"] == ["mine"]
    assert figure.text.splitlines() == ["A title", "        slots  held", "one        33     4", "two        33     8",
                                        "three    25.5   4.5", "four     25.5     5", "mine *     30   5.5"]


def test_points_in_one_place_share_their_words_the_own_one_first():
    shown = words(plot_figure([Point("a", 1, 2), Point("mine", 1, 2, own=True), Point("b", 1, 2), Point("c", 3, 2)], *NAMES))
    assert {"mine, a, b", "c"} <= set(shown)


def test_the_floor_is_a_stair_and_corners_above_all_points_are_left_out():
    floor = Floor(((1, 99), (2, 31), (4, 25)), "proven")
    figure = plot_figure(POINTS, *NAMES, floor=floor)
    (stair,) = (element.get("d") for element in elements(figure, "path") if element.get("stroke-dasharray"))
    steps = re.findall(r"([VH])([\d.]+)", stair)
    assert [kind for kind, _ in steps] == ["V", "H", "V", "H"]  # down to and along each corner in sight
    assert "proven: 99 at 1; 31 at 2; 25 at 4" in figure.text and "proven" in words(figure)
    assert plot_figure(POINTS, *NAMES, floor=Floor((), "")).svg == plot_figure(POINTS, *NAMES).svg


@pytest.mark.parametrize("points", [[], POINTS[:1], [Point("x", 0, 0)], [Point("a", 1, 1), Point("b", 1e6, 1e-6)]])
def test_whatever_is_to_be_drawn_is_a_well_formed_picture(points):
    figure = plot_figure(points, *NAMES, floor=Floor(((1, 1),), "proven"))
    for elsewhere in (" id=", "url(", "<style", "class=", "nan", "inf"):
        assert elsewhere not in figure.svg
    for _, (x, y) in words(figure).items():
        assert 0 <= x <= 840 and 0 <= y <= 360


@pytest.mark.parametrize("floor_y", [10, 10.5, 11, 30])
def test_the_words_of_the_floor_cover_no_mark(floor_y):
    points = [Point("far", 1, 40), Point("right", 7.6, 9.8), Point("end", 8, 10), Point("mine", 7.9, 10.4, own=True)]
    said = "proven floor of this placement"
    figure = plot_figure(points, *NAMES, floor=Floor(((1, floor_y),), said))
    x, y = words(figure)[said]
    covered = Area(x, y - LINE + 5, x + 1.1 * LETTER * len(said), y + 2)
    found = marks(figure).values()
    assert len(found) >= 1 and not any(covered.meets(around(*place, RADIUS)) for place in found)


AT = st.tuples(st.integers(120, 700), st.integers(80, 280))


@given(st.lists(AT, max_size=9, unique=True), st.data())
def test_no_words_cover_others_or_points(points, data):
    sizes = [(data.draw(st.integers(20, 120)), 14) for _ in points]
    taken = [around(*point, RADIUS) for point in points]
    areas = set_apart(points, sizes, Area(62, 50, 826, 316), taken)
    assert [(area.right - area.left, area.bottom - area.top) for area in areas] == [pytest.approx(size) for size in sizes]
    for one, other in itertools.combinations(areas, 2):
        assert not one.meets(other)
    assert not any(area.meets(mark) for area in areas for mark in taken)


def test_where_there_is_no_room_every_name_still_has_a_place_inside():
    inside = Area(0, 0, 100, 40)
    areas = set_apart([(50, 20)] * 12, [(90, 14)] * 12, inside)
    assert len(areas) == 12 and all(inside.holds(area) for area in areas)


@pytest.mark.parametrize("times", [(1, 1, 1, 0), (1, Fraction(1, 2), Fraction(1, 2), 2), (3, Fraction(1, 2), 4, Fraction(1, 4))])
@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (4, 8), (4, 32), (8, 64)])
def test_the_names_of_the_known_schedules_never_overlap(sizes, times):
    forward, inputs, weights, latency = times
    costs = Costs(forward, input_grad=inputs, weight_grad=weights, latency=latency)
    known = [Point(place.title, place.peak, place.step, look) for look, place in enumerate(known_places(*sizes, costs))]
    shown = words(plot_figure([*known, Point("yours", known[0].x, known[-1].y, own=True)], *NAMES))
    areas = [Area(x, y - LINE + 5, x + LETTER * len(name), y + 2) for name, (x, y) in shown.items()
             if any(point.name in name for point in known)]
    for one, other in itertools.combinations(areas, 2):
        assert not one.meets(other), (one, other)
