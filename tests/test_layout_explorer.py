"""The Explorer of layouts without a browser: its numbers are evaluate's and search's, its refusals, its static form."""

import json
import random
import subprocess
import sys

import numpy
import pytest
from ipywidgets.widgets.widget import _instances as living

from course import notebook as nb
from course.layout import Cluster, Layout, Model, evaluate, search
from course.layout.cards import CARDS, Card
from course.layout.placement import AXES
from course.widgets.layout_exploration import explored_layout
from course.widgets.layout_explorer import LayoutExplorer, layout_answer
from course.widgets.layout_ranking import place_of, ranking
from course.widgets.layout_setting import SLIDERS, layout_of, read_layout_setting
from course.widgets.still import NEEDS_KERNEL
from course.words import gb

SIZES = (1, 2, 4, 8)


def setting(*sizes, **more):
    return read_layout_setting(CARDS, *sizes, **more)


def explored(*sizes, **more):
    return explored_layout(setting(*sizes, **more), CARDS)


def some_settings(seed, count=60):
    choose = random.Random(seed).choice
    print("seed", seed)
    legal = [one.layout for card in CARDS.values() for one in search(card.model, card.cluster)]
    for number in range(count):
        layout = choose(legal)
        sizes = [getattr(layout, name) for name in SLIDERS]
        if number % 2:
            sizes[choose(range(3))] = choose(SIZES)
        yield setting(choose("abc"), *sizes, rank=choose(range(8)), dealt=choose([False, True]))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_shown_is_what_evaluate_says(seed):
    for given in some_settings(seed):
        card, found = CARDS[given.card], explored_layout(given, CARDS)
        own = evaluate(layout_of(given, card.cluster), card.model, card.cluster)
        assert [words for words, _ in found.remarks][:len(own.problems)] == [f"{problem.text}." for problem in own.problems]
        if not own.parts:
            assert "Memory" not in found.figure.text
            continue
        said = [f"{gb(own.memory_bytes)}", f"parameters and optimizer {own.state_bytes / 1e9:.3g}",
                f"activations {own.activation_bytes / 1e9:.3g}", f"this layout |{'C'}", f"{own.step_seconds:.2f} s"]
        for words in said:
            assert words in found.figure.text, (given, words)
        for axis in AXES:
            (row,) = [line for line in found.lines if line.startswith(axis.upper())]
            for cell in (gb(own.sent[axis]), own.links[axis] or "none", f"{own.parts[axis]:.3g} s"):
                assert cell in row
        for link, sent in own.sent_by_link.items():
            assert f"{sent / 1e9:.2f} GB" in found.figure.text or (link == "across nodes" and card.cluster.nodes == 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_place_is_that_of_the_step(seed):
    for given in some_settings(seed):
        card = CARDS[given.card]
        own = evaluate(layout_of(given, card.cluster), card.model, card.cluster)
        best = ranking(card.model, card.cluster, max(2, given.chunks))
        place = place_of(own, best)
        assert (place is None) == bool(own.problems)
        if place:
            times = [one.step_seconds for one in best]
            assert all(time < own.step_seconds for time in times[:place - 1])
            assert all(time > own.step_seconds * (1 - 1e-6) for time in times[place - 1:])
            assert f"place {place} of" in explored_layout(given, CARDS).figure.text


@pytest.mark.parametrize("seed", range(3))
def test_what_each_broken_rule_offers_obeys_it(seed):
    for given in some_settings(seed):
        card = CARDS[given.card]
        own = evaluate(layout_of(given, card.cluster), card.model, card.cluster)
        answer = layout_answer({**vars(given), "turn": 1}, CARDS)
        assert len([remark for remark in answer["remarks"] if not isinstance(remark, str)]) == len(own.problems)
        for problem, (words, take, label) in zip(own.problems, answer["remarks"], strict=False):
            then = read_layout_setting(CARDS, **{**vars(given), **json.loads(take)})
            left = evaluate(layout_of(then, card.cluster), card.model, card.cluster, advice=False)
            assert problem.code not in [other.code for other in left.problems]
            assert words == f"{problem.text}." and label.endswith(str(left.layout))


def test_known_layouts_of_the_cards():
    assert explored("c", 2, 4, 1, 1, 2).summary == (
        "Card c, tp2 pp4 dp1, b 1, v 2: place 1 of 11, 1.000 times the fastest; step 8.077 s; memory 65.99 GB of 72.00 GB")
    assert "2.263 times the fastest" in explored("c", 8, 1, 1, 1, 1).summary
    assert "place 1 of" in explored("a", 1, 1, 8, 1, 1).summary and all(
        "place 1 of 15, 1.000 times" in explored("b", 8, 1, 1, size, 1).summary for size in (1, 2, 4))
    none = explored("c", 1, 8, 1, 1, 1)
    assert none.lines[-1].startswith("none") and none.lines[-1].endswith("<- this layout")
    assert "in no place, it does not fit" in none.figure.text
    broken = explored("a", 2, 8, 1, 8, 4)
    said = " ".join(words for words, _ in broken.remarks)
    for words in ("16, but the cluster has 8 GPUs", "25 attention heads", "pp x chunks = 8 x 4 = 32",
                  "1 micro-batches on pp = 8"):
        assert words in said
    assert {take.changes["dealt"] for _, take in broken.remarks} == {False}


def test_more_chunks_are_ranked_once_the_slider_is_there():
    assert "v 4" not in "".join(explored("b", 4, 2, 1, 1, 2).lines)
    found = explored("b", 4, 2, 1, 1, 4)
    assert any("v 4" in line and line.endswith("<- this layout") for line in found.lines)


@pytest.mark.parametrize("layout", [Layout(2, 2, 2, 1), Layout(4, 1, 2, 1), Layout(1, 8, 1, 1), Layout(2, 4, 3, 1)])
def test_the_coordinates_of_a_rank(layout):
    for rank in range(layout.gpus):
        place = layout.coordinates(rank)
        assert rank == place["tp"] + layout.tp * (place["dp"] + layout.dp * place["pp"])
        for axis in AXES:
            (group,) = [group for group in layout.groups(axis) if rank in group]
            others = [layout.coordinates(other) for other in group]
            assert sorted(other[axis] for other in others) == list(range(getattr(layout, axis)))
            assert all(other[name] == place[name] for other in others for name in AXES if name != axis)


def test_the_picked_rank_and_all_that_it_talks_to_are_marked():
    lines = explored("c", 2, 2, 2, 1, 1, rank=5).figure.text.splitlines()
    marked = {line.split(":")[0].strip(): line[line.index("("):] for line in lines if line.endswith((" group)", "(picked)"))}
    assert marked == {"rank 5": "(picked)", "rank 4": "(TP group)", "rank 1": "(PP group)", "rank 7": "(DP group)"}
    assert "Rank 5: node 1, stage 1 of 2, TP neighbour 1 of 2, replica 0 of 2." in lines
    assert ("It talks to, by group: TP rank 4 (inside a node); PP rank 1 (across nodes); DP rank 7 (inside a node)."
            in lines)
    assert "Rank 7 is none of this layout: its ranks are 0 to 3." in explored("c", 2, 2, 1, 1, 1, rank=7).figure.text


def test_ranks_that_are_too_many_or_too_few_for_the_cluster():
    few, many = explored("c", 2, 1, 1, 1, 1).figure.text, explored("c", 8, 8, 1, 1, 1).figure.text
    assert few.count("no rank") == 6 and "without a GPU" not in few
    assert many.count("  rank ") == 8 and "56 ranks of 64 without a GPU" in many


def test_dealt_out_the_ranks_change_their_nodes_and_with_them_the_links():
    plain, dealt = explored("c", 2, 4, 1, 1, 2), explored("c", 2, 4, 1, 1, 2, dealt=True)
    assert "TP rank 1 (inside a node)" in plain.figure.text and "TP rank 1 (across nodes)" in dealt.figure.text
    assert evaluate(layout_of(setting("c", 2, 4, 1, 1, 2, dealt=True), CARDS["c"].cluster), CARDS["c"].model,
                    CARDS["c"].cluster).links == {"tp": "across nodes", "pp": "inside a node", "dp": None}
    assert "place 1 of" in plain.summary and "place 8 of 12" in dealt.summary
    assert any(line.endswith("<- this layout") and "dealt out" in line for line in dealt.lines)
    (only,) = explored("b", 8, 1, 1, 4, 1, dealt=True).remarks
    assert only == ("One node: there is nobody to deal the ranks out to.", None)


def test_a_click_and_a_button_say_what_changes():
    answer = layout_answer({**vars(setting("c", 2, 4, 1, 1, 2)), "turn": 1}, CARDS)
    assert "data-take=\"{&quot;rank&quot;: 5}\"" in answer["picture"]
    assert answer["numbers"].count("<button") == 8 and answer["numbers"].count("aria-current='true'") == 1
    assert answer["grid"] == ""
    assert "<- this layout" in layout_answer({**vars(setting("c", 2, 4, 1, 1, 2, grid=True)), "turn": 1}, CARDS)["grid"]


@pytest.mark.parametrize("wanted", [{}, {"turn": 3}, {"card": "z"}, {"tp": 0}, {"tp": 2.5}, {"pp": True}, {"dp": None},
                                    {"micro_batch_size": -1}, {"chunks": 10**9}, {"rank": 64}, {"rank": "x"}, {"more": 1},
                                    {"card": []}])
def test_nothing_that_a_page_could_send_raises(wanted):
    whole = {**vars(setting("c", 2, 2, 2, 1, 1)), **wanted} if wanted and "turn" not in wanted else wanted
    answer = layout_answer(whole, CARDS)
    assert answer["picture"] == "" and answer["remarks"]


@pytest.mark.parametrize(("given", "words"), [
    ({"tp": 0}, "tp = 0: a whole number from 1 to 64 is needed"), ({"pp": -2}, "pp = -2"), ({"dp": 2.0}, "dp = 2.0"),
    ({"chunks": "x"}, "chunks = 'x'"), ({"micro_batch_size": 10**6}, "from 1 to 4096"), ({"card": "d"}, "'a', 'b', 'c'"),
    ({"cards": ()}, "cards = ()"), ({"cards": ["a"]}, "a list of one or more Cards"), ({"card": None}, "card = None"),
    ({"card": []}, "card = []"),
    ({"cards": [CARDS["a"], CARDS["a"]]}, "'a', 'a': each needs a name of its own"),
    ({"cards": Card("wide", CARDS["a"].model, Cluster(16, 8, 80, 300, 25, 312, 0.5))}, "has 128 GPUs: at most 64 can be drawn"),
])
def test_what_cannot_be_explored_is_one_sentence(given, words, monkeypatch):
    said = nb.explore_layouts(**given)
    assert repr(said).startswith("Nothing to explore: ") and words in repr(said)
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    assert repr(nb.explore_layouts(**given)) == repr(said)


def test_an_illegal_layout_to_begin_with_is_shown_and_its_slider_has_it():
    made = nb.explore_layouts("a", tp=3)
    values = {key: [value for value, _ in pairs] for key, _, _, _, pairs in made.sliders}
    assert values["tp"] == [1, 2, 3, 4, 8] and values["dp"] == list(SIZES)
    assert made.shown["remarks"][0][0].startswith("tp x pp x dp = 3 x 2 x 2 = 12")
    made.close()


def test_a_card_of_your_own():
    mine = Card(7, Model(32, 4096, 32, sequence=4096, vocabulary=32000, global_batch=64),
                Cluster(4, 8, 80, 450, 50, 989, 0.4))
    made = nb.explore_layouts("7", numpy.int64(2), 2, 8, cards=mine)
    best = search(mine.model, mine.cluster)
    assert repr(made).count("\nnode ") == 4 and repr(made).count("  rank ") == 32 and f"of {len(best)}" in repr(made)
    assert str(best[0].layout) in repr(made) and f"{best[0].step_seconds:.3f} s" in repr(made)
    made.close()


def test_a_card_on_which_nothing_fits():
    small = Card("small", CARDS["b"].model, Cluster(1, 2, 8, 300, None, 312, 0.5))
    made = nb.explore_layouts("small", 2, 1, 1, cards=[small])
    assert "of 0 that fit" in repr(made) and "the fastest" not in made.shown["picture"] and made.shown["remarks"]
    made.close()


def test_explorers_do_not_share_what_they_show_and_follow_what_is_wanted():
    one, two = nb.explore_layouts(), nb.explore_layouts()
    before = two.shown
    one.wanted = {**one.wanted, "pp": 4, "dp": 1, "turn": 1}
    assert one.shown["turn"] == 1 and one.shown != before == two.shown
    assert "place 5 of 11" in one.shown["summary"]
    one.close()
    two.close()


def test_while_graded_or_validated_there_is_a_picture_and_no_widget(monkeypatch):
    before = len(living)
    for name in ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING"):
        monkeypatch.setenv(name, "1")
        bundle = nb.explore_layouts("c", 2, 4, 1)._repr_mimebundle_()
        assert "<svg" in bundle["text/html"] and "<button" not in bundle["text/html"] and NEEDS_KERNEL in bundle["text/html"]
        assert "8.368 s" in bundle["text/plain"] and "rank 7: stage 3" in bundle["text/plain"]
        monkeypatch.delenv(name)
    assert len(living) == before


def test_the_page_is_that_of_the_other_explorer_and_fetches_nothing():
    assert "http" not in str(LayoutExplorer._esm) + str(LayoutExplorer._css)
    code = "import sys, course.widgets.layout_explorer; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False False", "")
