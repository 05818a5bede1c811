"""Who sends to whom as a picture: cells, frames, links, text form."""

from xml.etree import ElementTree

import pytest

from course.figures import traffic_figure
from course.figures.step_parts import AXIS_LOOKS

SENT = {(0, 1): ("tp", 1234), (1, 0): ("tp", 1234), (0, 2): ("pp", 56.0)}
NODES, NAMES = [[0, 1], [2]], {0: "rank 0, stage 0", 1: "rank 1, stage 0", 2: "rank 2, stage 1"}


def test_a_literal_figure_in_text():
    assert str(traffic_figure(SENT, NODES, NAMES, "One step")) == """\
One step
Bytes that a row sends to a column: T TP, P PP; a bar between nodes
                |    to 0    to 1 |    to 2
rank 0, stage 0 |       . T 1,234 |    P 56
rank 1, stage 0 | T 1,234       . |       .
rank 2, stage 1 |       .       . |       ."""


def paths(figure, **attributes):
    return [element.get("d") for element in ElementTree.fromstring(figure.svg).iter("path")
            if all(element.get(name.replace("_", "-")) == value for name, value in attributes.items())]


def corners(d):
    """The upper left corner of each rectangle of a path."""
    return [tuple(map(float, part.split("h")[0].split())) for part in d.split("M")[1:]]


def test_each_sender_has_a_row_and_each_receiver_a_column():
    figure = traffic_figure(SENT, NODES, NAMES)
    cells = corners(paths(figure, stroke_opacity="0.28")[0])
    assert len(cells) == 9
    place = {(row, column): cells[3 * row + column] for row in range(3) for column in range(3)}
    legend, tp = paths(figure, fill=AXIS_LOOKS["tp"].colour)
    assert corners(tp) == [place[0, 1], place[1, 0]] and len(corners(legend)) == 1
    assert corners(paths(figure, fill=AXIS_LOOKS["pp"].colour)[1]) == [place[0, 2]]
    assert paths(figure, fill=AXIS_LOOKS["dp"].colour) == []


def test_a_frame_stands_around_what_stays_inside_a_node():
    figure = traffic_figure(SENT, NODES, NAMES)
    _, *frames = paths(figure, stroke_width="1.8")
    (one,), (other,) = map(corners, frames)
    assert one[0] < other[0] and one[1] < other[1] and len(frames) == 2
    cells = corners(paths(figure, stroke_opacity="0.28")[0])
    assert one[0] < cells[0][0] < other[0] < cells[8][0] and one[1] < cells[0][1] < other[1] < cells[8][1]


def test_rows_follow_the_nodes_and_numbers_fit_their_cells():
    nodes = [[1, 3, 5, 7], [0, 2, 4, 6]]
    figure = traffic_figure({(1, 3): ("dp", 987_654_321_012)}, nodes, {rank: f"rank {rank}" for rank in range(8)})
    root = ElementTree.fromstring(figure.svg)
    heads = [element.text for element in root.iter("text") if (element.text or "").startswith("to ")]
    assert heads == [f"to {rank}" for rank in (1, 3, 5, 7, 0, 2, 4, 6)]
    (group,) = [element for element in root.iter("g") if element.get("font-size")]
    cells = corners(paths(figure, stroke_opacity="0.28")[0])
    assert 15 * 0.6 * float(group.get("font-size")) < cells[1][0] - cells[0][0]
    assert root.find("desc").text == str(figure)


@pytest.mark.parametrize("nodes", [[[0]], [[0], [1]], []])
def test_nothing_sent_is_drawn_as_well(nodes):
    ElementTree.fromstring(traffic_figure({}, nodes, {rank: "a < b" for ranks in nodes for rank in ranks}).svg)
