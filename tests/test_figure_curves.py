import itertools
import logging
import re
import subprocess
import sys
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from course.figures import curves_figure, stack, standalone
from course.figures.curves import PENS
from course.figures.plain_svg import INK

X = [2, 4, 8, 16, 32]
CURVES = {"measured": [7.5, 5, 4, 5, 7], "simulated": [7, 5, 4, 5, 7], "<formula> & more": [Fraction(13, 2), 4, 3, None, 6]}


@pytest.fixture(scope="module")
def figure():
    return curves_figure(X, CURVES, "Step time", "m", "s")


def shapes(figure, colour):
    """The paths of one colour: the line with all its points, the markers, and the two of the legend."""
    return [path.get("d") for path in ElementTree.fromstring(figure.svg).iter("path") if path.get("stroke") == colour.lower()]


def test_a_literal_figure_in_text(figure):
    assert repr(figure) == """\
Step time (s)
m                   2  4  8  16  32
measured          7.5  5  4   5   7
simulated           7  5  4   5   7
<formula> & more  6.5  4  3   -   6"""


def test_it_is_one_well_formed_element_that_disturbs_no_page(figure):
    root = ElementTree.fromstring(figure.svg)
    assert root.tag == "svg" and root.get("role") == "img" and root.get("aria-label") == "Step time"
    assert root.find("desc").text == figure.text
    for elsewhere in (" id=", "url(", "style>", "<script", "class=", "nan", "inf", "href", INK, "#000000", "#ffffff"):
        assert elsewhere not in figure.svg, elsewhere
    words = [text.text for text in root.iter("text")]
    assert {"Step time", "m", "s", "2", "32", *CURVES} <= set(words) and "0" in words
    assert stack(figure, figure).svg.count("<svg") == 3 and "<title" not in standalone(figure)


def test_curves_are_told_apart_by_marker_and_dashes_as_well_as_colour(figure):
    assert len({pen.marker for pen in PENS}) == len({(pen.colour, str(pen.dashes)) for pen in PENS}) == len(PENS) == 8
    assert len({pen.colour for pen in PENS[:4]}) == len({str(pen.dashes) for pen in PENS[:4]}) == 4
    root = ElementTree.fromstring(figure.svg)
    lines = [path for path in root.iter("path") if path.get("fill") == "none" and path.get("stroke") in
             {pen.colour.lower() for pen in PENS[:3]} and path.get("d").count("L") > 1]
    assert len({line.get("stroke-dasharray") for line in lines}) == 3
    for pen, values in zip(PENS, CURVES.values(), strict=False):
        assert len(shapes(figure, pen.colour)) == 2 + 1 + sum(value is not None for value in values)


def test_heights_are_in_proportion_from_zero(figure):
    line = next(d for d in shapes(figure, PENS[0].colour) if d.count("L") == 4)
    heights = [float(y) for _, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", line)]
    places = [float(x) for x, _ in re.findall(r"(-?[\d.]+) (-?[\d.]+)", line)]
    per_unit = (heights[2] - heights[0]) / (7.5 - 4)
    assert heights[0] - heights[4] == pytest.approx(-0.5 * per_unit, abs=0.2)
    ticks = re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]*text-anchor="end"[^>]*>0</text>', figure.svg)
    assert float(ticks[0]) - 4 == pytest.approx(heights[2] + 4 * per_unit, abs=1.5)
    steps = [after - before for before, after in itertools.pairwise(places)]
    assert max(steps) - min(steps) < 0.3  # doublings stand at equal distances


def test_curves_are_reproducible_and_a_single_value_is_one(figure):
    assert curves_figure(X, CURVES, "Step time", "m", "s") == figure
    assert "(" not in repr(curves_figure([1, 2, 3], {"a": [1, 2, 3]}))
    assert curves_figure([4], {"a": [2]}).svg.startswith("<svg") and curves_figure([], {}).text.strip() == ""


def test_a_curve_of_another_length_is_named():
    with pytest.raises(ValueError, match="'a' has 2 values for 3 places"):
        curves_figure([1, 2, 3], {"a": [1, 2]})


def test_matplotlib_comes_with_the_first_curve_and_leaves_the_logger_as_it_was(figure):
    assert logging.getLogger("matplotlib").level == logging.NOTSET
    code = ("import sys, course.figures, course.exercises; print('matplotlib' in sys.modules); "
            "course.figures.curves_figure([1], {'a': [1]}); print('matplotlib.pyplot' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"] and done.stderr == ""
