from xml.etree import ElementTree

import pytest

from course.figures import layer_map, stack
from course.formulas import layers_of_chunk


def held(layers, ranks, chunks):
    places = [(rank, chunk) for rank in range(ranks) for chunk in range(chunks)]
    return {place: layers_of_chunk(layers, ranks, chunks, *place) for place in places}


def parts(figure, **attributes):
    return [element for element in ElementTree.fromstring(figure.svg).iter("path")
            if all(element.get(name) == value for name, value in attributes.items())]


def words(figure):
    return [element.text for element in ElementTree.fromstring(figure.svg).iter("text")]


@pytest.mark.parametrize("place", [held(8, 2, 2), held(48, 4, 4), held(8, 1, 8), held(4, 4, 1), held(400, 8, 5), {},
                                   {(0, 0): []}])
def test_a_map_is_one_well_formed_element_with_a_text_form(place):
    figure = layer_map(place, title="<8 & 2>")
    assert ElementTree.fromstring(figure.svg).tag == "svg" and figure == layer_map(place, title="<8 & 2>")
    for elsewhere in (" id=", "url(", "<style", "class=", "nan", "inf"):
        assert elsewhere not in figure.svg
    assert figure.text.startswith("<8 & 2>") and repr(figure) == figure.text


def test_a_literal_map_in_text():
    assert str(layer_map(held(8, 2, 2), "8 layers")) == """\
8 layers
rank 0 | chunk 0 (stage 0): layers 0-1 | chunk 1 (stage 2): layers 4-5
rank 1 | chunk 0 (stage 1): layers 2-3 | chunk 1 (stage 3): layers 6-7"""


def test_a_box_and_a_number_for_each_layer_and_a_stage_over_each_chunk():
    figure = layer_map(held(8, 2, 2))
    boxes = [path for path in parts(figure, stroke="#000") if path.get("fill", "none").startswith("#")]
    assert sum(path.get("d").count("v25.0") for path in boxes) == 8
    assert sorted(word for word in words(figure) if word.isdigit()) == sorted([*map(str, range(8)), *map(str, range(4))])


def test_chunks_differ_in_more_than_colour():
    one, two = layer_map(held(8, 2, 1)), layer_map(held(8, 2, 2))
    hatched = [sum(path.get("d").count("M") for path in parts(figure, **{"stroke-width": "0.8", "stroke-opacity": "0.4"}))
               for figure in (one, two)]
    bars = [sum(path.get("d").count("M") for path in parts(figure, **{"stroke-width": "1"})) for figure in (one, two)]
    assert hatched[0] == 0 < hatched[1] and bars == [0, 5]  # four layers of chunk 1, and the legend


@pytest.mark.parametrize(("place", "said"), [
    ({(0, 0): [3, 1, 7]}, "layers 1, 3, 7"), ({(0, 0): []}, "no layers"), ({(1, 0): [5]}, "rank 1 | chunk 0 (stage 1): layers 5"),
    ({(0, 0): [1, 1, 2]}, "layers 1, 1-2")])
def test_odd_maps_are_drawn_as_they_are(place, said):
    assert said in layer_map(place).text


def test_maps_of_many_layers_leave_the_numbers_out():
    assert words(layer_map(held(400, 8, 5))).count("399") == 0


def test_maps_stand_above_each_other():
    assert len(ElementTree.fromstring(stack(layer_map(held(8, 2, 1)), layer_map(held(8, 2, 2))).svg).findall("svg")) == 2
