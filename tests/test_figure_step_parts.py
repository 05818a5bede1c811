"""The split of a step's time as a picture: lengths, looks, text form."""

from xml.etree import ElementTree

import pytest

from course.figures import parts_figure
from course.figures.step_parts import STEP
from course.layout.cards import CARDS
from course.layout.cost import PARTS
from course.layout.search import search

ROWS = [("one", {"compute": 6.0, "bubble": 2.0, "tp": 1.0, "pp": 0.5, "dp": 0.5}), ("another", {"compute": 5.0, "dp": 0.0})]


def test_a_literal_figure_in_text():
    assert str(parts_figure(ROWS, "Two layouts", limit=5.5, limit_name="10% above the fastest")) == """\
Two layouts
one     |CCCCCCCCCCCCCCCCCCCCCCCCCCCCCC..........TTTTTPPPDD| 10.00 s: compute 6, bubble 2, TP 1, PP 0.5, DP 0.5
another |CCCCCCCCCCCCCCCCCCCCCCCCC                         | 5.00 s: compute 5
10% above the fastest: 5.50 s"""


def test_every_part_has_a_look_of_its_own_beside_its_colour():
    assert tuple(STEP.looks) == PARTS
    hatched = [(look.hatch, look.step) for look in STEP.looks.values() if look.hatch]
    assert len(set(hatched)) == len(hatched) == 3 and STEP.looks["bubble"].colour == "none"


def widths(figure, colour):
    paths = [element.get("d") for element in ElementTree.fromstring(figure.svg).iter("path") if element.get("fill") == colour]
    return [float(d.split("h")[1].split("v")[0]) for d in paths][1:]  # the first is the legend's


def test_lengths_are_seconds_on_one_axis():
    figure = parts_figure(ROWS)
    one, other = widths(figure, STEP.looks["compute"].colour)
    assert one / other == pytest.approx(6 / 5, abs=0.01)
    (tp,) = widths(figure, STEP.looks["tp"].colour)
    assert one / tp == pytest.approx(6, abs=0.05)


def test_a_real_ranking_and_the_limits():
    found = search(CARDS["c"].model, CARDS["c"].cluster)
    figure = parts_figure([(str(one.layout), one.parts) for one in found], "Card c")
    labels = [element.text for element in ElementTree.fromstring(figure.svg).iter("text")]
    assert "8.08 s" in labels and "18.28 s" in labels and {"compute", "bubble", "TP", "PP", "DP"} <= set(labels)
    assert ElementTree.fromstring(figure.svg).find("desc").text == str(figure)


@pytest.mark.parametrize("rows", [[], [("empty", {})], [("nothing", {"compute": 0.0})], [("a < b", {"compute": 1e-9})]])
def test_odd_rows_are_drawn(rows):
    figure = parts_figure(rows)
    ElementTree.fromstring(figure.svg)
    assert all(name in str(figure) for name, _ in rows)
