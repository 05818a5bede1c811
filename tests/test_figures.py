import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from random import Random
from xml.etree import ElementTree

import pytest

from course import Costs, Schedule, Timeline, simulate, violations
from course.figures import Figure, save, stack, standalone, timeline_figure
from course.figures.__main__ import main, overview
from course.figures.looks import FAULT, LOOKS
from course.figures.timeline import TOO_NARROW
from course.schedules import SCHEDULES, gpipe, interleaved_1f1b, one_f_one_b

SPLIT = Schedule.from_csv("0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1")
FAULTY = """
    F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3
    .  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .
    .  .  F0 F1 F2 F3 B0 .  B1 B2 B3 .  .  .
    .  .  .  F0 F1 F2 F3 B0 B1 B2 .  .  .  ."""


def measured(timeline, seed=7):
    """The timeline as a clock would have seen it, in milliseconds: late starts, early ends."""
    random = Random(seed)
    return Timeline(timeline.schedule,
                    tuple(tuple(20.0 * start + random.random() for start in row) for row in timeline.starts),
                    tuple(tuple(20.0 * end - random.random() for end in row) for row in timeline.ends))


def faulty():
    drawing = Timeline.from_grid(FAULTY, 4, 4)
    return timeline_figure(drawing, "Your drawing", marks=violations(drawing))


FIGURES = {
    **{name: lambda entry=entry: timeline_figure(simulate(entry.make(4, 8, 2 if entry.chunked else 1)), entry.title)
       for name, entry in SCHEDULES.items()},
    "large": lambda: timeline_figure(simulate(one_f_one_b(8, 64))),
    "split": lambda: timeline_figure(simulate(SPLIT, Costs(1, input_grad=Fraction(1, 2), weight_grad=1))),
    "measured": lambda: timeline_figure(measured(simulate(gpipe(4, 4))), unit="ms"),
    "faulty": faulty,
    "stacked": lambda: stack(timeline_figure(simulate(gpipe(2, 2))), timeline_figure(simulate(one_f_one_b(2, 2)))),
    "nothing drawn": lambda: timeline_figure(Timeline(Schedule(((), ()), (0, 1), 2), ((), ()), ((), ()))),
    "one box": lambda: timeline_figure(Timeline.from_grid("F0", 1, 1), "<1 & 1>"),
}


def boxes(figure, kind):
    """How many boxes of a kind are in the plot; the first one of each colour in the picture is the legend's."""
    tints = {LOOKS[kind].tint(chunk, 2) for chunk in (0, 1)}
    return sum(element.get("d").count("z") for element in ElementTree.fromstring(figure.svg).iter("path")
               if element.get("fill") in tints and element.get("d").count("v25.0"))


def words(figure):
    return [element.text for element in ElementTree.fromstring(figure.svg).iter("text")]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_one_well_formed_element_with_a_text_form(name):
    figure = FIGURES[name]()
    root = ElementTree.fromstring(figure.svg)
    assert root.tag == "svg"
    assert figure.text.strip() and repr(figure) == figure.text
    assert figure._repr_mimebundle_() == {"text/html": figure._repr_html_(), "text/plain": figure.text}
    assert figure.svg in figure._repr_html_()
    pictures = [element for element in root.iter("svg") if element.get("role") == "img"]
    assert pictures and all(picture.get("aria-label") for picture in pictures)
    assert "\n\n".join(picture.find("desc").text for picture in pictures) == figure.text


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_reproducible_and_disturb_no_page(name):
    figure = FIGURES[name]()
    assert FIGURES[name]() == figure
    for elsewhere in (" id=", "url(", "<style", "<script", "class=", "nan", "inf"):
        assert elsewhere not in figure.svg
    assert 'fill="currentColor"' in figure.svg
    assert "#000" not in {element.get("fill") for element in ElementTree.fromstring(figure.svg).iter("text")}


def test_a_literal_figure_in_text():
    assert str(timeline_figure(simulate(gpipe(4, 4)), "GPipe")) == """\
GPipe
F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3
.  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .
.  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .
.  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .  .
14 slots; bubble 3/7 = 42.9%; most micro-batches held, per stage: 4 4 4 4"""


def test_the_learner_may_be_left_to_find_the_numbers():
    figure = timeline_figure(simulate(gpipe(4, 4)), summary=False)
    assert "bubble" not in figure.svg + figure.text and "held" not in figure.svg + figure.text


@pytest.mark.parametrize("timeline", [simulate(gpipe(4, 4)), simulate(one_f_one_b(8, 64)), measured(simulate(gpipe(4, 4)))])
def test_a_box_for_each_operation(timeline):
    figure, each = timeline_figure(timeline), len(timeline.spans) // 2
    assert boxes(figure, "F") == boxes(figure, "B") == each


def test_chunks_are_told_apart_by_tint_and_by_a_line():
    timeline = simulate(interleaved_1f1b(2, 2, 2))
    figure = timeline_figure(timeline)
    assert boxes(figure, "F") == boxes(figure, "B") == 8
    lines = [element for element in ElementTree.fromstring(figure.svg).iter("path")
             if element.get("stroke-width") == "1" and element.get("stroke") == "#000"]
    assert [element.get("d").count("M") for element in lines] == [1, 8]  # in the legend, in the plot
    assert {"rank 0", "rank 1", "chunk 1"} <= set(words(figure))


def test_backwards_are_hatched_and_forwards_are_not():
    drawing = Timeline.from_grid("F0 F1", 1, 2), Timeline.from_grid("B0 B1", 1, 2)
    forward, backward = (timeline_figure(each).svg.count('stroke-opacity="0.26"') for each in drawing)
    assert (forward, backward) == (0, 2)  # legend and plot


def test_kinds_differ_by_hatch_too():
    assert len({(look.hatch, look.step if look.hatch else 0) for look in LOOKS.values()}) == len(LOOKS)


def test_tokens_where_they_fit_else_micro_batches_else_nothing():
    assert {"F0", "B3"} <= set(words(timeline_figure(simulate(gpipe(4, 4)))))
    dense = words(timeline_figure(simulate(gpipe(4, 24))))
    assert "23" in dense and "F23" not in dense
    labels = re.findall(r'paint-order.*?</g>', timeline_figure(simulate(gpipe(8, 64))).svg)
    assert labels == []


def test_labels_of_neighbours_do_not_run_into_one_word():
    drawing = Timeline.from_grid("F0 F1 F2 F3 F4 F5 F6 F7", 1, 8)
    for slots in range(8, 200, 3):
        for group in ElementTree.fromstring(timeline_figure(drawing, scale=slots).svg).iter("g"):
            places = [float(label.get("x")) for label in group if group.get("paint-order")]
            longest = max(len(label.text or "") for label in group)
            letter = 0.6 * float(group.get("font-size", 12))
            assert all(right - left > letter * longest + 1 for left, right in pairwise(places)), slots


def test_boxes_too_narrow_for_hatches_are_drawn_plain_and_the_picture_says_so():
    narrow, wide = (timeline_figure(simulate(interleaved_1f1b(16, 64, chunks))) for chunks in (4, 1))
    for figure, said in ((narrow, True), (wide, False)):
        assert (TOO_NARROW in words(figure)) == said
        assert figure.svg.count('stroke-opacity="0.26"') == (1 if said else 2)  # hatches, in the legend and in the plot
    assert boxes(wide, "F") == 16 * 64
    drawn = [path.get("d").count("v25.0") for path in ElementTree.fromstring(narrow.svg).iter("path")
             if not path.get("stroke") and path.get("fill") != "none"]
    assert sum(drawn) == 2 * 16 * 64 * 4
    assert len(narrow.svg) < 400_000


def test_the_grid_may_be_left_out_of_the_text():
    figure = timeline_figure(simulate(gpipe(4, 4)), "GPipe", grid=False)
    assert figure.text == "GPipe\n14 slots; bubble 3/7 = 42.9%; most micro-batches held, per stage: 4 4 4 4"


def test_faults_have_an_outline_and_a_sign_and_what_is_missing_is_listed():
    figure = faulty()
    assert words(figure).count("!") == 3
    outline = next(element for element in ElementTree.fromstring(figure.svg).iter("path")
                   if element.get("stroke") == FAULT)
    assert outline.get("d").count("z") == 3
    assert "! B3 is missing on stage 3" in words(figure)
    assert "! B0 on stage 2 starts at slot 6, but needs B0 of stage 3, which ends at slot 8" in figure.text.splitlines()
    assert "! B3 is missing on stage 3" in figure.text.splitlines()


def test_a_place_can_be_marked_by_rank_and_position():
    figure = timeline_figure(simulate(gpipe(2, 2)), marks=[(1, 0)])
    assert "! F0 on stage 1, which starts at slot 1" in figure.text
    with pytest.raises(ValueError, match=r"\(1, 9\): there is no operation 9 on rank 1"):
        timeline_figure(simulate(gpipe(2, 2)), marks=[(1, 9)])


def test_much_that_is_missing_is_counted():
    nothing = Timeline.from_grid("F0\n.\n.\n.", 4, 4)
    figure = timeline_figure(nothing, marks=violations(nothing))
    assert sum(line.startswith("! ") for line in words(figure)) == 6
    assert f"! and {len(violations(nothing)) - 5} more that are missing" in words(figure)


def test_one_scale_gives_one_axis():
    short, long = simulate(one_f_one_b(2, 2)), simulate(gpipe(2, 4))
    first = [timeline_figure(timeline, scale=long.makespan) for timeline in (short, long)]
    places = [re.search(r'<path d="M([\d.]+) [\d.]+h([\d.]+)v25', figure.svg).groups() for figure in first]
    assert places[0] != places[1]  # the band ends where the timeline ends
    assert {"6", "10"} <= set(words(first[0])) & {"6", "10"} and "10" in words(first[1])


def test_times_carry_their_unit():
    figure = timeline_figure(measured(simulate(gpipe(2, 2))), "Measured", unit="ms")
    assert "ms" in words(figure)
    assert re.search(r"^\d+(\.\d+)? ms; bubble [\d.]+%;", figure.text, re.MULTILINE)
    assert re.search(r"<title>F0: forward of micro-batch 0 on stage 1, starts at [\d.]+ ms", figure.svg)


def test_the_text_of_a_measured_figure_stays_of_a_size():
    spans = measured(simulate(gpipe(2, 2)))
    jittered = Timeline(spans.schedule, spans.starts, tuple(tuple(start + 1e-3 for start in row) for row in spans.starts))
    assert max(map(len, timeline_figure(jittered, unit="ms").text.splitlines())) < 3000


def test_tooltips_only_where_boxes_are_few():
    assert "<title>B3: backward of micro-batch 3 on stage 2, starts at slot 11, ends at slot 12</title>" in (
        timeline_figure(simulate(gpipe(4, 4))).svg)
    assert "rank 1, stage 3" in timeline_figure(simulate(interleaved_1f1b(2, 2, 2))).svg
    large = timeline_figure(simulate(one_f_one_b(8, 64))).svg
    assert "<title>" not in large and large.count("<") < 200


def test_words_are_escaped():
    figure = timeline_figure(simulate(gpipe(1, 1)), "a < b & \"c\"")
    assert "a < b & \"c\"" in words(figure)


def test_stacked_figures_stand_below_each_other():
    parts = [timeline_figure(simulate(make(4, 4)), make.__name__) for make in (gpipe, one_f_one_b)]
    figure = stack(*parts)
    root = ElementTree.fromstring(figure.svg)
    first, second = root.findall("svg")
    assert float(first.get("y")) == 0 and float(second.get("y")) > float(first.get("height"))
    assert float(root.get("viewBox").split()[3]) == float(second.get("y")) + float(second.get("height"))
    assert figure.text == f"{parts[0]}\n\n{parts[1]}"
    with pytest.raises(ValueError, match="nothing to stack"):
        stack()


def test_a_saved_figure_stands_alone(tmp_path):
    figure = timeline_figure(simulate(gpipe(4, 4)))
    save(figure, tmp_path / "gpipe.svg")
    text = (tmp_path / "gpipe.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("color")
    assert (root.get("width"), root.get("height")) == tuple(root.get("viewBox").split()[2:])
    assert root.find("{*}rect").get("fill") == "white"
    assert "<rect" not in standalone(figure, background=None)


def test_the_command_writes_what_the_code_makes(tmp_path):
    main([str(tmp_path / "a.svg"), "gpipe", "1f1b", "--ranks", "4", "--micro-batches", "8"])
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == standalone(overview(["gpipe", "1f1b"], 4, 8))


def test_figures_leave_heavy_libraries_out():
    code = ("import sys, course.figures; "
            "print([name for name in ('IPython', 'torch', 'matplotlib') if name in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_figure_is_a_value():
    assert Figure("<svg/>", "a") == Figure("<svg/>", "a")


@pytest.mark.parametrize("title", ["", "GPipe", "Measured on 4 processes, one slot", "a" * 70])
def test_the_legend_begins_where_a_narrow_page_still_shows_it(title):
    """An output of 380 pixels, that of a page of 520, shows 540 units before it has to be scrolled."""
    drawn = ElementTree.fromstring(timeline_figure(simulate(gpipe(4, 8)), title).svg)
    ends = {element.text: float(element.get("x")) + 7 * len(element.text) for element in drawn.iter("text")}
    assert ends["forward"] < 540 and ends["backward"] < 540
    assert not title or title == "a" * 70 or ends["forward"] - 50 - 23 > 8 + 7.5 * len(title)
