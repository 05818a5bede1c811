"""The three cards: the table of expected values, and how far the verdicts hold."""

import itertools
from dataclasses import replace

import pytest

from course.layout import Assumptions, Layout, evaluate, search
from course.layout.cards import CARDS, MAX_CHUNKS, WITHIN

NAMES = tuple(CARDS)


def ranked(name, max_chunks=MAX_CHUNKS, cluster=None, **options):
    """(tp, pp, dp) -> the seconds of its best step, fastest first."""
    card, found = CARDS[name], {}
    for one in search(card.model, cluster or card.cluster, max_chunks=max_chunks, **options):
        found.setdefault((one.layout.tp, one.layout.pp, one.layout.dp), one.step_seconds)
    return found


def with_full_marks(times):
    return {shape for shape, seconds in times.items() if seconds <= WITHIN * min(times.values())}


BASE = {name: ranked(name) for name in NAMES}
FULL = {"a": {(1, 1, 8)}, "b": {(8, 1, 1), (4, 2, 1)}, "c": {(2, 4, 1), (4, 2, 1)}}


@pytest.mark.parametrize(("name", "shape", "seconds"), [
    ("a", (1, 1, 8), 1.055), ("a", (1, 2, 4), 1.22 * 1.055), ("a", (1, 4, 2), 1.34 * 1.055), ("a", (1, 8, 1), 1.39 * 1.055),
    ("b", (8, 1, 1), 1.045), ("b", (4, 2, 1), 1.057 * 1.045), ("b", (2, 4, 1), 1.25 * 1.045), ("b", (1, 8, 1), 2.46 * 1.045),
    ("c", (2, 4, 1), 8.08), ("c", (4, 2, 1), 8.10), ("c", (8, 1, 1), 2.26 * 8.08),
])
def test_the_expected_step_times(name, shape, seconds):
    assert BASE[name][shape] == pytest.approx(seconds, rel=0.01)


def test_nothing_else_is_feasible():
    assert {name: set(times) for name, times in BASE.items()} == {
        "a": {(1, 1, 8), (1, 2, 4), (1, 4, 2), (1, 8, 1)}, "b": {(8, 1, 1), (4, 2, 1), (2, 4, 1), (1, 8, 1)},
        "c": {(2, 4, 1), (4, 2, 1), (8, 1, 1)}}


def test_the_expected_memory():
    model, cluster = CARDS["a"].model, CARDS["a"].cluster
    found = evaluate(Layout(1, 1, 8, 1), model, cluster)
    assert found.state_bytes / 1e9 == pytest.approx(28.2, rel=0.01)
    assert found.activation_bytes / 1e9 == pytest.approx(21.4, rel=0.01)
    too_full = evaluate(Layout(1, 8, 1, 1), CARDS["c"].model, CARDS["c"].cluster)
    assert [problem.code for problem in too_full.problems] == ["memory"]
    assert too_full.memory_bytes / 1e9 == pytest.approx(75.4, rel=0.01)


@pytest.mark.parametrize("name", ["b", "c"])
def test_no_replica_of_the_large_model_fits(name):
    card = CARDS[name]
    for tp, pp, dp in ((4, 1, 2), (2, 2, 2), (1, 4, 2), (2, 1, 4), (1, 2, 4), (1, 1, 8)):
        if card.model.global_batch % dp == 0:
            assert [p.code for p in evaluate(Layout(tp, pp, dp, 1), card.model, card.cluster).problems] == ["memory"]


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_25_heads_rule_out_tp_on_card_a(tp):
    card = CARDS["a"]
    assert [p.code for p in evaluate(Layout(tp, 1, 8 // tp, 1), card.model, card.cluster).problems] == ["heads"]


def test_full_marks():
    assert {name: with_full_marks(times) for name, times in BASE.items()} == FULL


VARIANTS = [Assumptions(*values) for values in itertools.product((4, 2), (8, 10), *[(False, True)] * 5)]


@pytest.mark.parametrize("name", NAMES)
def test_the_verdicts_survive_256_variants_of_the_cost_model(name):
    """In each the best layout stays within 10% of the best, and what has no full marks stays without."""
    best = min(BASE[name], key=BASE[name].get)
    tried = 0
    for assumptions, max_chunks in itertools.product(VARIANTS, (1, 2)):
        times = ranked(name, max_chunks, assumptions=assumptions)
        assert times[best] <= WITHIN * min(times.values()), assumptions
        assert with_full_marks(times) <= FULL[name], assumptions
        tried += 1
    assert tried == 256


@pytest.mark.parametrize("name", NAMES)
def test_the_verdicts_survive_20_percent_on_efficiency_and_bandwidths(name):
    cluster, best = CARDS[name].cluster, min(BASE[name], key=BASE[name].get)
    for efficiency, inside, across in itertools.product((0.8, 1, 1.2), repeat=3):
        changed = replace(cluster, efficiency=efficiency * cluster.efficiency, intra_gb_per_s=inside * cluster.intra_gb_per_s,
                          inter_gb_per_s=cluster.inter_gb_per_s and across * cluster.inter_gb_per_s)
        times = ranked(name, cluster=changed)
        assert times[best] <= WITHIN * min(times.values()) and with_full_marks(times) <= FULL[name], changed


def test_what_would_change_each_verdict():
    """What the free text asks: a shorter sequence on a, more chunks on b, and a hierarchical all-reduce on c."""
    a, b, c = CARDS.values()
    assert search(replace(a.model, sequence=1024), a.cluster)[0].layout.pp == 8
    more = search(b.model, b.cluster, max_chunks=24)
    assert more[0].step_seconds < BASE["b"][8, 1, 1]
    ring = evaluate(Layout(8, 1, 1, 1), c.model, c.cluster)
    # inside each node a reduce-scatter and an all-gather, 3/4 each; between the two nodes half of each quarter, twice
    volume = ring.sent["tp"] / (7 / 8)
    hierarchical = volume * (3 / 4 / 300e9 + 1 / 4 * 1 / 2 / 25e9)
    assert (ring.parts["compute"] + hierarchical) / BASE["c"][2, 4, 1] == pytest.approx(1.2, abs=0.05)
