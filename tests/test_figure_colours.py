"""What figures look like to whoever sees colours badly, prints in grey, or reads in a dark theme: every figure of the course."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from course import Timeline
from course.figures import curves_figure, layer_map, memory_figure, parts_figure, stuck_figure, traffic_figure
from course.figures.cluster import PICKED, cluster_figure
from course.figures.curves import PENS
from course.figures.looks import FAULT, LOOKS
from course.figures.memory import AREA
from course.figures.plot import Floor, Point, plot_figure
from course.figures.step_parts import AXIS_LOOKS, MEMORY, STEP, TRAFFIC
from tests.contrast import SHAPES, WORDS, contrast, luminance
from tests.test_figure_cluster import gpus
from tests.test_figure_layers import held
from tests.test_figure_step_parts import ROWS
from tests.test_figure_traffic import NAMES, NODES, SENT
from tests.test_figures import FIGURES

PAGES = ("#ffffff", "#111111")  # JupyterLab's themes, light and dark
PAGE = "currentColor"  # words that have the page's own colour
STYLES = Path(__file__).resolve().parent.parent / "course" / "widgets"
EXAMPLES = {
    **{name: make for name, make in FIGURES.items() if name != "stacked"},
    "cluster": lambda: cluster_figure(
        [[*gpus(0, 1, mark=PICKED), *(one for axis in AXIS_LOOKS for one in gpus(1, 1, mark=axis)), None]], "A node", stages=2),
    "curves": lambda: curves_figure([1, 2, 4], {f"curve {number}": [number, 2, 3] for number in range(len(PENS))}, "Curves", "m"),
    "layers": lambda: layer_map(held(8, 2, 4), "8 layers"),
    "memory": lambda: memory_figure([[(0, 1), (2, 0)], [(1, 2), (3, 0)]], 4, "Memory", capacity=2, full=4),
    "parts": lambda: parts_figure(ROWS, "Two layouts", limit=5.5, limit_name="limit"),
    "filled": lambda: parts_figure([("rank 0", {"state": 3, "activations": 2})], "A memory", parts=MEMORY),
    "traffic": lambda: traffic_figure(SENT | {(1, 2): ("dp", 7)}, NODES, NAMES, "One step"),
    "stuck": lambda: stuck_figure(Timeline.from_grid("F0 B0 F1 B1\nF0 F1 B0 B1", 2, 2).schedule, "A deadlock"),
    "plot": lambda: plot_figure([Point(f"point {number}", number, number % 3, number) for number in range(8)] + [
        Point("yours", 3, 1, own=True)], "held", "slots", "A plot", Floor(((1, 3), (2, 1)), "floor")),
}
BOX = re.compile(r"M([-\d.]+) ([-\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")


def drawn(element, given=None):
    """The elements of a picture in the order in which they are painted, each with what it inherits."""
    given = {**(given or {}), **element.attrib}
    if element.tag in ("path", "circle", "text"):
        yield element, given
    for child in element:
        yield from drawn(child, given)


def covers(element, given, x, y) -> bool:
    """Whether an element fills this place so that nothing under it is seen."""
    if given.get("fill", "none") in ("none", PAGE) or float(given.get("fill-opacity", 1)) < 1:
        return False
    if element.tag == "circle":
        return (x - float(given["cx"])) ** 2 + (y - float(given["cy"])) ** 2 <= float(given["r"]) ** 2
    boxes = (tuple(map(float, found.groups())) for found in BOX.finditer(given["d"]))
    return any(left <= x <= left + wide and top <= y <= top + high for left, top, wide, high in boxes)


def words_and_ground(figure):
    """Each line of words with its colour and what it stands on: the rim around it, a filled shape, or PAGE."""
    before = []
    for element, given in drawn(ElementTree.fromstring(figure.svg)):
        if element.tag != "text":
            before.append((element, given))
            continue
        if "transform" in given:  # matplotlib's, which are placed by it; none of its figures fills a shape under words
            x, y = map(float, re.findall(r"[-\d.]+", given["transform"])[:2])
        else:
            x, y = float(given["x"]), float(given["y"])
        shift = {"middle": 0, "end": -3}.get(given.get("text-anchor"), 3)
        under = [shape["fill"] for other, shape in before if covers(other, shape, x + shift, y - 4)]
        rim = given.get("stroke", "none")
        yield element.text, given.get("fill"), rim if rim not in ("none", PAGE) else ([PAGE, *under])[-1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_words_stand_out_from_what_they_stand_on_in_both_themes(name):
    found = list(words_and_ground(EXAMPLES[name]()))
    assert found or name == "nothing drawn"
    for words, colour, ground in found:
        if PAGE in (colour, ground):
            assert colour == ground == PAGE, f"{words!r}: {colour} on {ground} cannot be read in both themes"
        else:
            assert contrast(colour, ground) >= WORDS, f"{words!r}: {colour} on {ground}"


def test_a_word_on_the_wrong_ground_is_seen():
    figure = EXAMPLES["parts"]()
    for wrong in (figure.svg.replace('font-weight="600"', 'fill="#000"', 1),
                  re.sub(r"(<path [^>]*/>)(.*?)(</svg>)", r'<path d="M0 0h840.0v400.0h-840.0z" fill="#56B4E9"/>\1\2\3',
                         figure.svg, count=1)):
        found = words_and_ground(type(figure)(wrong, ""))
        assert any((colour == PAGE) != (ground == PAGE) for _, colour, ground in found)


@pytest.mark.parametrize("page", PAGES)
def test_lines_and_marks_stand_out_from_the_page(page):
    for colour in {pen.colour for pen in PENS} | {FAULT, AREA["stroke"]}:
        assert contrast(colour, page) >= SHAPES, colour


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_filled_in_a_light_colour_is_without_a_line_around_it(name):
    """On a white page the line is what shows where a box ends."""
    plain = name == "large"  # its boxes are too narrow for lines, and touch
    for element, given in drawn(ElementTree.fromstring(EXAMPLES[name]().svg)):
        colour = given.get("fill", "none")
        if element.tag == "path" and colour.startswith("#") and contrast(colour, PAGES[0]) < SHAPES and not plain:
            assert given.get("stroke", "none") != "none", given


def grey_or_hatch(look):
    """What is left of a look in grey print."""
    return round(luminance(look.colour), 1) if look.colour != "none" else None, look.hatch, look.step if look.hatch else None


@pytest.mark.parametrize("looks", [LOOKS, AXIS_LOOKS, STEP.looks, MEMORY.looks, TRAFFIC.looks], ids=len)
def test_kinds_differ_in_grey_print(looks):
    for one, other in itertools.combinations(looks.values(), 2):
        assert grey_or_hatch(one) != grey_or_hatch(other), (one, other)


def test_words_in_the_colours_of_the_widgets_stand_out():
    rules = [rule for path in sorted(STYLES.glob("*.css"))
             for rule in re.findall(r"\{([^}]*)\}", path.read_text(encoding="utf-8"))]
    coloured = [(colour[1], ground[1]) for rule in rules if (colour := re.search(r"(?<![\w-])color: (#\w+)", rule))
                and (ground := re.search(r"background(?:-color)?: [^;]*?(#\w+)", rule))]
    assert len(coloured) >= 5
    for colour, ground in coloured:
        assert contrast(colour, ground) >= WORDS, (colour, ground)
