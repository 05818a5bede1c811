"""What notebook 5 shows, and the numbers in its text."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from course.answers import LocalAnswer
from course.checks.layout_practice import COUNTS, judge_count
from course.layout import Cluster, Layout, evaluate, search
from course.layout.cards import CARDS, PAIR
from course.layout.volumes import pp_bytes, tp_bytes
from course.lessons import cards, layouts
from course.predictions import PREDICTIONS
from course.schedules import interleaved_1f1b, one_f_one_b

TEXT = " ".join((Path(__file__).parents[1] / "solutions/pipeline_parallelism/5_tp_pp_dp_design.py").read_text(
    encoding="utf-8").replace("\n#", " ").split())


def design(tp=1, pp=1, dp=1, **more):
    return {"tp": tp, "pp": pp, "dp": dp, "micro_batch_size": 1, **more}


BEST = {"a": design(dp=8), "b": design(tp=8), "c": design(tp=2, pp=4, chunks=2, nodes=[[0, 1, 2, 3], [4, 5, 6, 7]])}


def said(*numbers):
    for number in numbers:
        assert number in TEXT, number


def test_the_worked_example():
    model = PAIR.model
    assert (model.layers, model.global_batch, 4 * model.layers * model.global_batch) == (24, 8, 768)
    said("24 layers, 8 samples", "are 768 all-reduces, so 768 tensors", "8 tensors from each GPU")
    shown = repr(layouts.two_gpus())
    assert "6.44 GB" in shown and "0.067 GB" in shown and "5.27 GB" in shown and " 96" in shown
    assert PREDICTIONS["tp-over-pp"].actual == 96 == tp_bytes(Layout(2, 1, 1, 1), model) / pp_bytes(Layout(1, 2, 1, 1), model)
    times = {name: evaluate(layout, model, PAIR.cluster).step_seconds for name, layout in layouts.TWO_GPUS.items()}
    assert max(times, key=times.get) == PREDICTIONS["longest-of-two"].actual == "pp"


def test_the_practice_counts_are_those_of_the_schedules():
    """Tensors that leave a rank for one micro-batch, counted in the orders that run."""
    def sent(schedule, rank):
        homes, count = schedule.stage_to_rank, 0
        for operation in schedule.ranks[rank]:
            other = operation.stage + (1 if operation.kind == "F" else -1)
            count += 0 <= other < schedule.stages and operation.micro_batch == 0
        assert all(homes[stage] == stage % len(schedule.ranks) for stage in range(schedule.stages))
        return count

    plain, cut = one_f_one_b(4, 8), interleaved_1f1b(4, 8, 2)
    assert COUNTS["middle rank"].right == sent(plain, 1) == sent(plain, 2)
    assert COUNTS["end rank"].right == sent(plain, 0) == sent(plain, 3)
    assert COUNTS["middle rank, 2 chunks"].right == sent(cut, 1) == sent(cut, 2)
    assert COUNTS["end rank, 2 chunks"].right == sent(cut, 0) == sent(cut, 3)
    assert COUNTS["ring of 4"].right == Fraction(2 * 3, 4)


@pytest.mark.parametrize("key", COUNTS)
def test_each_practice_number(key):
    asked = COUNTS[key]
    for value in (asked.right, float(asked.right), str(asked.right)):
        assert judge_count(key, LocalAnswer(value)).codes == ("count-right",)
    for value in asked.wrong:
        assert judge_count(key, LocalAnswer(value)).codes == ("count-slip",)
    assert judge_count(key, LocalAnswer(17)).codes == ("count-wrong",)
    for value, code in ((..., "unanswered"), ("two", "not-a-number"), ([2], "not-a-number"), (float("nan"), "refused"),
                        (lambda: 2, "refused")):
        assert judge_count(key, LocalAnswer(value)).codes == (code,)
    assert "not there yet" in repr(layouts.count(key, 17)) and "right" in repr(layouts.count(key, asked.right))


def test_a_practice_question_that_is_none():
    with pytest.raises(ValueError, match="'ring of 4'"):
        judge_count("ring", LocalAnswer(1))


def library(layout, model):
    return tp_bytes(Layout(layout.tp, layout.pp, layout.dp, layout.micro_batch_size, layout.chunks), CARDS["c"].model)


def test_your_volumes_and_your_memory_show_what_the_functions_say():
    view = repr(layouts.your_volumes(library, lambda *_: "5 GB", lambda *_: 1 / 0, CARDS["c"].model, [Layout(4, 2, 1, 1)]))
    assert "115.96 GB" in view and "5.00 GB" in view and "ZeroDivisionError" in view
    view = repr(layouts.your_memory(lambda *_: 50e9, lambda *_: "20 GiB", CARDS["c"].model, [Layout(4, 2, 1, 1)], 72e9))
    assert "50.00 GB" in view and "21.47 GB" in view and "yes" in view
    assert "no" in repr(layouts.your_memory(lambda *_: 60e9, lambda *_: 13e9, CARDS["c"].model, [Layout(4, 2, 1, 1)], 72e9))
    assert "-" in repr(layouts.your_memory(None, None, CARDS["c"].model, [Layout(4, 2, 1, 1)], 72e9))


def test_deeper_pipelines_hold_less_state_and_as_many_activations():
    lines = [line.split() for line in repr(layouts.deeper()).splitlines()[2:]]
    assert [line[3] for line in lines] == ["3.42"] * 4
    states = [float(line[1]) for line in lines]
    assert states == sorted(states, reverse=True)


def test_where_ranks_sit():
    view = repr(layouts.where_ranks_sit(Layout(2, 2, 2, 1), CARDS["c"].cluster))
    assert "TP groups [0, 1] [2, 3] [4, 5] [6, 7]: inside a node." in view and "PP groups [0, 4]" in view
    assert "PP groups [0, 4] [1, 5] [2, 6] [3, 7]: across nodes." in view
    assert PREDICTIONS["crosses-when-moved"].actual == "tp"
    one = repr(layouts.where_ranks_sit(Layout(1, 1, 1, 1), Cluster(1, 1, 80, 300, None, 312, 0.5)))
    assert "groups" not in one


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_all_its_numbers(name):
    model, cluster, view = CARDS[name].model, CARDS[name].cluster, repr(cards.card(name))
    for number in (model.layers, model.hidden, model.heads, model.sequence, f"{model.vocabulary:,}", model.global_batch,
                   cluster.nodes, cluster.gpus_per_node, "80 GB", 72, 312, "50%", "1 or 2", 300):
        assert re.search(rf"\b{number}", view), number
    assert ("25 GB/s across" in view) == (name == "c")


@pytest.mark.parametrize("name", CARDS)
def test_the_ranking_has_the_learners_own_layout(name):
    card = CARDS[name]
    view = repr(cards.ranking(name, BEST[name]))
    assert view.count("(yours)") == 2 and "10% above the fastest" in view and "Left out" in view
    fastest = search(card.model, card.cluster)[0].step_seconds
    assert f"{fastest:.3f}" in view and "1.000" in view


def test_another_micro_batch_size_is_a_row_of_its_own():
    assert repr(cards.ranking("b", BEST["b"] | {"micro_batch_size": 4})).count("b 4 (yours)") == 2
    moved = BEST["c"] | {"nodes": [[0, 2, 4, 6], [1, 3, 5, 7]]}
    assert "38.65 across" in repr(cards.ranking("c", moved))
    assert "(yours)" not in repr(cards.ranking("c", ...))


@pytest.mark.parametrize(("given", "words"), [
    (..., "not answered yet"), (3, "is a `dict"), ({"tp": 1}, "does not say"), (design(dp=2), "8 GPUs"),
    (design(tp=2, dp=4), "25 attention heads"),
])
def test_a_design_that_cannot_be_looked_at_says_why(given, words):
    view = repr(cards.my_design("a", given))
    assert view.startswith("Nothing to show yet.") and words in view


def test_my_design_shows_traffic_links_and_memory_even_where_it_does_not_fit():
    view = repr(cards.my_design("c", BEST["c"]))
    assert "38.65 GB" in view and "across nodes" in view and "51.88 GB" in view and "32 micro-batches" in view
    assert "54.82 GB" in repr(cards.my_design("c", design(pp=8)))


@pytest.mark.parametrize(("changes", "words"), [
    ({}, "as it is"), ({"sequence": 4096}, "sequence = 4096"), ({"speed": 3}, "`speed` is no number of a card"),
    ({"sequence": 0}, "must be a whole number above 0"), ({"sequence": "x"}, "must be a whole number"),
    ({"memory_gb": "x"}, "cannot work with that"), ({"memory_gb": 1}, "no layout fits"), ({"max_chunks": 0}, "from 1 to 64"),
    ({"max_chunks": None}, "from 1 to 64"), ({"nodes": 2}, "inter_gb_per_s = None"),
    ({"nodes": 2, "gpus_per_node": 4, "inter_gb_per_s": 25}, "across"),
])
def test_the_planner_on_changed_cards(changes, words):
    assert words in repr(cards.planner("a", **changes))


def test_the_numbers_of_the_explanation():
    """The model answer of ex5-explain, number by number."""
    card = CARDS["c"]
    mine, broken = (evaluate(layout, card.model, card.cluster) for layout in (Layout(2, 4, 1, 1, 2), Layout(8, 1, 1, 1)))
    said(f"sends {mine.sent['tp'] / 1e9:.1f} GB for TP over the 300 GB/s links, {mine.parts['tp']:.2f} s",
         f"{mine.sent['pp'] / 1e9:.1f} GB for PP over the 25 GB/s link, {mine.parts['pp']:.2f} s, of a step of "
         f"{mine.step_seconds:.1f} s",
         f"sends {broken.sent['tp'] / 1e9:.1f} GB for TP over the slow link, {broken.parts['tp']:.1f} s, and the step takes "
         f"{broken.step_seconds:.1f} s, {broken.step_seconds / mine.step_seconds:.2f} times as long")
    fast = repr(cards.planner("c", inter_gb_per_s=300))
    assert "1.051" in fast
    said("1.05 times", "only 1.2 times slower", "with 4 chunks", "with sequences of 1024 tokens", "pp 8 becomes the fastest")
    ratio = CARDS["b"].model.parameters / CARDS["a"].model.parameters
    assert round(ratio) == 14
    said("fourteen times as large")


def test_the_predictions_of_the_cards_are_what_the_planner_finds():
    for name in ("a", "b"):
        best = search(CARDS[name].model, CARDS[name].cluster)[0].layout
        assert getattr(best, PREDICTIONS[f"first-tool-{name}"].actual) == 8
    card = CARDS["c"]
    times = evaluate(Layout(8, 1, 1, 1), card.model, card.cluster).step_seconds / search(card.model, card.cluster)[0].step_seconds
    nearest = min({"half": 0.5, "same": 1, "double": 2}.items(), key=lambda item: abs(item[1] - times))[0]
    assert PREDICTIONS["tp-across-c"].actual == nearest


@pytest.mark.parametrize(("shown", "words"), [
    (lambda: layouts.where_ranks_sit(Layout(2, 2, 2, 1, nodes=[[0, 2, 4, 6], [1, 3, 5]]), CARDS["c"].cluster),
     "Rank 7 has no place"),
    (lambda: layouts.where_ranks_sit({"tp": 2}, CARDS["c"].cluster), "where_ranks_sit(layout, cluster)"),
    (lambda: cards.card("d"), "there is no card 'd'; there are a, b, c"),
    (lambda: cards.planner("d"), "there is no card 'd'"), (lambda: cards.ranking(["a"], {}), "there is no card ['a']"),
    (lambda: cards.planner("c", efficiency=2), "efficiency = 2: it is a number above 0 and at most 1"),
    (lambda: cards.planner("c", memory_gb="80 GB"), "memory_gb = '80 GB': it is a number above 0"),
])
def test_what_cannot_be_shown_is_one_line(shown, words):
    assert words in repr(shown()) and "Traceback" not in repr(shown())
