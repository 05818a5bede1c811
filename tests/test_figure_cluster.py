from itertools import pairwise
from xml.etree import ElementTree

import pytest

from course.figures import standalone
from course.figures.cluster import PICKED, Gpu, _tint, cluster_figure
from tests.contrast import luminance


def gpus(first, count, **more):
    return [Gpu(rank, rank, "TP 0", rank, **more) for rank in range(first, first + count)]


def words(figure):
    return [element.text for element in ElementTree.fromstring(figure.svg).iter("text")]


def right_edges(figure):
    return [float(path.get("d").split()[0][1:]) + 82 for path in ElementTree.fromstring(figure.svg).iter("path")
            if "h82.0" in path.get("d")]


@pytest.mark.parametrize(("nodes", "each"), [(1, 1), (1, 8), (2, 4), (8, 8), (4, 16), (3, 5)])
def test_every_rank_stands_once_inside_the_picture(nodes, each):
    figure = cluster_figure([gpus(node * each, each) for node in range(nodes)], "<4 & 2>", stages=nodes * each)
    assert ElementTree.fromstring(figure.svg).tag == "svg" and "<rect" not in standalone(figure, background=None)
    assert sorted(words(figure)).count("TP 0") == nodes * each == figure.text.count("  rank ")
    assert {f"rank {rank}" for rank in range(nodes * each)} < set(words(figure))
    assert max(right_edges(figure)) < 840
    for elsewhere in (" id=", "url(", "<style", "class=", "nan", "inf"):
        assert elsewhere not in figure.svg


def test_a_literal_cluster_in_text():
    nodes = [[Gpu(0, 0, "TP 0", 0, PICKED), Gpu(1, 0, "TP 1", 0, "tp")], [Gpu(2, 1, "TP 0", 1, "pp"), None]]
    assert str(cluster_figure(nodes, "Two nodes", lines=["Below."])) == """\
Two nodes
node 0
  rank 0: stage 0, TP 0 (picked)
  rank 1: stage 0, TP 1 (TP group)
node 1
  rank 2: stage 1, TP 0 (PP group)
  no rank
Below."""


def test_marks_are_words_too_and_neighbours_of_one_tray_have_one_frame():
    one, two = Gpu(0, 0, "TP 0", 0, PICKED), Gpu(1, 0, "TP 1", 0, "dp")
    joined, apart = cluster_figure([[one, two]]), cluster_figure([[one, Gpu(1, 0, "TP 1", 1, "dp")]])
    assert {"picked", "DP group"} < set(words(joined))
    frames = [sum("h180.0" in path.get("d") for path in ElementTree.fromstring(figure.svg).iter("path"))
              for figure in (joined, apart)]
    assert frames == [1, 0]


@pytest.mark.parametrize("stages", [1, 2, 8, 64])
def test_black_words_stand_out_on_every_stage(stages):
    tints = [luminance(_tint(stage, stages)) for stage in range(stages)]
    assert all((tint + 0.05) / 0.05 >= 4.5 for tint in tints)
    assert all(one < two for one, two in pairwise(tints))
