"""What a layout must obey, where its ranks sit, and that the search finds what trying everything finds."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.layout import Cluster, Layout, Model, evaluate, search
from course.layout.cards import CARDS
from course.layout.cost import PARTS
from course.layout.memory import activation_bytes
from course.schedules import interleaved_1f1b, one_f_one_b
from course.simulation import simulate

CLUSTER = Cluster(2, 4, 80, 300, 25, 312, 0.5)
MODEL = Model(24, 2048, 16, 2048, 51200, 48)
SMALL_SIZES = st.sampled_from([1, 2, 3, 4, 6, 8])


def codes(layout, model=MODEL, cluster=CLUSTER):
    return [problem.code for problem in evaluate(layout, model, cluster).problems]


@pytest.mark.parametrize(("layout", "broken", "words"), [
    (Layout(2, 2, 1, 1), ["product"], "tp x pp x dp = 2 x 2 x 1 = 4, but the cluster has 8 GPUs"),
    (Layout(8, 1, 1, 5), ["batch"], "48 is no multiple of micro_batch_size x dp = 5 x 1 = 5"),
    (Layout(1, 8, 1, 1, 2), ["layers"], "24 layers cannot be cut into pp x chunks = 8 x 2 = 16 equal parts"),
    (Layout(8, 1, 1, 1, 2), ["chunked"], "chunks = 2 with pp = 1"),
    (Layout(2, 4, 1, 8, 2), ["chunked"], "chunks = 2 with 6 micro-batches on pp = 4 stages"),
    (Layout(8, 1, 1, 1, 1, [[0, 1, 2, 3], [4, 5, 6]]), ["nodes"], "Rank 7 has no place"),
    (Layout(8, 1, 1, 1, 1, [[0, 1, 2, 3], [4, 5, 6, 6]]), ["nodes"], "Rank 6 has more than one place"),
    (Layout(8, 1, 1, 1, 1, [[0, 1, 2, 3, 4], [5, 6, 7]]), ["nodes"], "Node 0 is given 5 ranks; it has 4 GPUs"),
    (Layout(8, 1, 1, 1, 1, [[0, 1, 2], [3, 4, 5], [6, 7]]), ["nodes"], "nodes lists 3 nodes; the cluster has 2"),
    (Layout(4, 1, 1, 1, 1, [[0, 1, 2], [3, 9]]), ["product", "nodes"], "nodes names rank 9"),
    (Layout(3, 5, 1, 7), ["product", "heads", "layers", "batch"], "16 attention heads cannot be shared out evenly among tp = 3"),
])
def test_each_broken_rule_is_named_with_its_numbers(layout, broken, words):
    found = evaluate(layout, MODEL, CLUSTER)
    assert [problem.code for problem in found.problems] == broken
    assert any(words in problem.text for problem in found.problems)
    assert (found.state_bytes, found.step_seconds, found.parts) == (None, None, {})


@pytest.mark.parametrize("layout", [Layout(2, 2, 1, 1), Layout(3, 5, 1, 7), Layout(1, 8, 1, 1, 2), Layout(2, 4, 1, 8, 2),
                                    Layout(8, 1, 1, 1, 1, [[0], [1]])])
def test_the_nearest_layout_obeys_the_rule_and_those_before_it(layout):
    order = ["product", "heads", "layers", "batch", "chunked", "nodes", "memory"]
    for problem in evaluate(layout, MODEL, CLUSTER).problems:
        still = codes(problem.nearest)
        assert all(order.index(code) > order.index(problem.code) for code in still), (problem, still)


def test_the_nearest_layout_changes_the_least():
    (problem,) = evaluate(Layout(8, 1, 1, 1, 2), MODEL, CLUSTER).problems
    assert problem.nearest == Layout(8, 1, 1, 1) and "the nearest layout that obeys this: tp8 pp1 dp1" in str(problem)
    (problem,) = evaluate(Layout(1, 8, 1, 1), CARDS["c"].model, CARDS["c"].cluster).problems
    assert problem.code == "memory" and problem.nearest == Layout(2, 4, 1, 1)


def test_where_no_layout_obeys_there_is_none():
    tiny = Cluster(1, 8, 1, 300, None, 312, 0.5)
    (problem,) = evaluate(Layout(8, 1, 1, 1), MODEL, tiny).problems
    assert problem.code == "memory" and problem.nearest is None and "nearest" not in str(problem)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Layout(0, 1, 1, 1), "tp = 0"), (lambda: Layout(1, 2.0, 1, 1), "pp = 2.0"),
    (lambda: Layout(1, 1, True, 1), "dp = True"),
    (lambda: Layout(1, 1, 1, 1, 1, [["0"]]), "rank '0'"), (lambda: Model(0, 1, 1, 1, 1, 1), "layers = 0"),
    (lambda: Cluster(2, 4, 80, 300, None, 312, 0.5), "inter_gb_per_s = None"),
    (lambda: Cluster(2, 4, 80, 300, 25, 312, 0), "efficiency = 0"), (lambda: Cluster(2.5, 4, 80, 300, 25, 312, 1), "nodes = 2.5"),
    (lambda: MODEL.flops("some"), "recompute = 'some'"),
    (lambda: evaluate(Layout(8, 1, 1, 1), MODEL, CLUSTER, recompute="all"), "recompute = 'all'"),
])
def test_a_size_that_is_none_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_layout_of_absurd_size_is_answered_at_once():
    found = evaluate(Layout(10**9, 10**9, 1, 10**9, 1, [[0, 10**12]]), MODEL, CLUSTER)
    assert [problem.code for problem in found.problems] == ["product", "heads", "layers", "batch", "nodes"]


@given(SMALL_SIZES, SMALL_SIZES, SMALL_SIZES, SMALL_SIZES)
def test_links_in_order_are_those_of_the_listed_ranks(tp, pp, dp, gpus_per_node):
    plain = Layout(tp, pp, dp, 1)
    count = -(-plain.gpus // gpus_per_node)
    nodes = [range(node * gpus_per_node, min((node + 1) * gpus_per_node, plain.gpus)) for node in range(count)]
    listed = Layout(tp, pp, dp, 1, 1, nodes)
    for axis in ("tp", "pp", "dp"):
        assert plain.link(axis, gpus_per_node) == listed.link(axis, gpus_per_node), axis


@given(SMALL_SIZES, SMALL_SIZES, SMALL_SIZES)
def test_every_rank_is_in_one_group_of_each_axis(tp, pp, dp):
    layout = Layout(tp, pp, dp, 1)
    for axis, size in (("tp", tp), ("pp", pp), ("dp", dp)):
        groups = layout.groups(axis)
        assert sorted(itertools.chain(*groups)) == list(range(layout.gpus)) and {len(group) for group in groups} == {size}
        assert list(layout.crossing_groups(axis, layout.gpus)) == []


def test_where_ranks_sit_decides_the_links():
    inside, across = "inside a node", "across nodes"
    order = evaluate(Layout(2, 4, 1, 1), MODEL, CLUSTER)
    assert order.links == {"tp": inside, "pp": across, "dp": None}
    apart = evaluate(Layout(2, 4, 1, 1, 1, [[0, 2, 4, 6], [1, 3, 5, 7]]), MODEL, CLUSTER)
    assert apart.links == {"tp": across, "pp": inside, "dp": None} and apart.step_seconds > order.step_seconds
    assert list(apart.layout.crossing_groups("tp", 4)) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert apart.sent_by_link == {inside: apart.sent["pp"], across: apart.sent["tp"]}


def test_the_parts_add_up():
    found = evaluate(Layout(2, 2, 2, 2, 2), MODEL, CLUSTER)
    assert tuple(found.parts) == PARTS and found.step_seconds == sum(found.parts.values())
    m, p, v = found.micro_batches, 2, 2
    each = sum(found.parts[name] for name in ("compute", "tp", "pp")) / m
    assert found.step_seconds == pytest.approx((m + (p - 1) / v) * each + found.parts["dp"])
    assert found.memory_bytes == found.state_bytes + found.activation_bytes


@pytest.mark.parametrize("p", [2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2, 5])
def test_activations_are_what_the_schedules_hold(p, groups):
    m = p * groups
    model = Model(12, 1024, 16, 2048, 51200, m)
    one = activation_bytes(Layout(1, 1, 1, 1), model) / 12  # of one layer
    assert activation_bytes(Layout(1, p, 1, 1), model) == 12 / p * one * simulate(one_f_one_b(p, m)).peak_activations[0]
    for v in (v for v in (2, 3) if 12 % (p * v) == 0):
        held = simulate(interleaved_1f1b(p, m, v)).peak_activations[0]
        assert activation_bytes(Layout(1, p, 1, 1, v), model) == 12 / (p * v) * one * held


def everything(model, cluster, max_chunks):
    """The brute force: every field up to its largest useful value, each layout judged by `evaluate`."""
    gpus = cluster.gpus
    for tp, pp, dp in itertools.product(range(1, gpus + 1), repeat=3):
        if tp * pp * dp == gpus:
            for size, chunks in itertools.product(range(1, model.global_batch + 1), range(1, max_chunks + 1)):
                found = evaluate(Layout(tp, pp, dp, size, chunks), model, cluster)
                if not found.problems:
                    yield found


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_the_search_finds_what_trying_everything_finds(card):
    found = search(card.model, card.cluster, max_chunks=3)
    assert {one.layout: one for one in found} == {one.layout: one for one in everything(card.model, card.cluster, 3)}
    times = [one.step_seconds for one in found]
    assert times == sorted(times) and times


@settings(max_examples=25)
@given(st.sampled_from([1, 2, 3]), st.sampled_from([2, 4]), st.sampled_from([4, 6, 8]), st.sampled_from([2, 3, 4]),
       st.sampled_from([2, 6, 8]), st.booleans())
def test_the_same_on_any_cluster(nodes, gpus_per_node, layers, heads, batch, distributed):
    model = Model(layers, 1024, heads, 512, 1000, batch)
    cluster = Cluster(nodes, gpus_per_node, 0.5, 300, 25, 312, 0.5)
    found = {one.layout: one for one in search(model, cluster, distributed_optimizer=distributed)}
    tried = {one.layout: evaluate(one.layout, model, cluster, distributed_optimizer=distributed) for one in found.values()}
    assert found == tried
    assert all(not rest.problems or rest.layout not in found for rest in everything(model, cluster, 1))


def test_more_memory_never_takes_a_layout_away():
    small, large = (search(MODEL, Cluster(2, 4, memory, 300, 25, 312, 0.5)) for memory in (16, 80))
    assert {one.layout for one in small} < {one.layout for one in large}


def test_the_distributed_optimizer_needs_less():
    one, two = (evaluate(Layout(1, 1, 8, 1), MODEL, CLUSTER, distributed_optimizer=choice) for choice in (False, True))
    assert one.state_bytes / two.state_bytes == pytest.approx(18 / (6 + 12 / 8)) and two.sent["dp"] < one.sent["dp"]
