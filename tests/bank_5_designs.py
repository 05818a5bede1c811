"""Right and wrong layouts for the three cards of notebook 5."""

from tests.bank import Case

ONE, TWO = "[list(range(8))]", "[[0, 1, 2, 3], [4, 5, 6, 7]]"


def design(card, points, *codes, tp=1, pp=1, dp=1, b=1, v=1, nodes=None):
    nodes = nodes or (TWO if card == "c" else ONE)
    source = f"design_{card} = dict(tp={tp}, pp={pp}, dp={dp}, micro_batch_size={b}, chunks={v}, nodes={nodes})"
    return Case(f"ex5-design-{card}", source, points, codes)


def text(card, source, points, *codes):
    return Case(f"ex5-design-{card}", f"design_{card} = {source}", points, codes)


RIGHT_DESIGNS = [
    design("a", 2, "design-right", dp=8),
    design("a", 2, "design-right", dp="'8'", tp="1.0", nodes="(tuple(range(8)),)"),
    design("a", 2, "design-right", "ranks-from-one", dp=8, nodes="[range(1, 9)]"),
    text("a", "{'DP': 8, 'TP': 1, 'PP': 1, 'micro-batch-size': 1, 'chunks': 1, 'nodes': [0, 1, 2, 3, 4, 5, 6, 7]}", 2),
    text("a", "{'dp': 8, 'tp': 1, 'pp': 1, 'micro_batch_size': 1}", 2, "chunks-taken", "nodes-taken"),
    text("a", "dict(tp=1, pp=1, dp=__import__('numpy').int64(8), micro_batch_size=1, chunks=1, nodes=__import__('numpy')"
              ".arange(8).reshape(1, 8))", 2),
    text("a", "__import__('course.layout').layout.Layout(1, 1, 8, 1)", 2, "nodes-taken"),
    design("b", 3, "design-right", tp=8),
    design("b", 3, "design-right", tp=8, b=2),
    design("b", 3, "design-right", tp=8, b=4),
    design("b", 3, "design-right", tp=4, pp=2, v=2),
    design("b", 3, "design-right", tp=4, pp=2, v=2, nodes="{0: [7, 6, 5, 4, 3, 2, 1, 0]}"),
    text("b", "__import__('course.layout').layout.Layout(4, 2, 1, 1, 2, [range(8)])", 3),
    design("c", 3, "design-right", tp=2, pp=4, v=2),
    design("c", 3, "design-right", tp=4, pp=2, v=2),
    design("c", 3, "design-right", tp=2, pp=4),
    design("c", 3, "design-right", tp=4, pp=2),
    design("c", 3, "design-right", tp=4, pp=2, b=2),
    design("c", 3, "design-right", tp=4, pp=2, b=2, v=2),
    design("c", 3, "design-right", tp=4, pp=2, v=2, nodes="[[4, 5, 6, 7], [0, 1, 2, 3]]"),
    design("c", 3, "design-right", tp=2, pp=4, v=2, nodes="[[0, 1, 6, 7], [2, 3, 4, 5]]"),
    design("c", 3, "design-right", "ranks-from-one", tp=4, pp=2, v=2, nodes="[[1, 2, 3, 4], [5, 6, 7, 8]]"),
    design("c", 3, "design-right", tp=2, pp=4, v=2, nodes="{'node 0': (0, 1, 2, 3), 'node 1': (4, 5, 6, 7)}"),
]
WRONG_DESIGNS = [
    text("a", "...", 0, "unanswered"),
    text("a", "dict(tp=..., pp=..., dp=..., micro_batch_size=..., chunks=..., nodes=...)", 0, "unanswered"),
    text("a", "None", 0, "unanswered"),
    text("a", "'tp1 pp1 dp8'", 0, "not-a-dict"),
    text("a", "(1, 1, 8, 1, 1)", 0, "not-a-dict"),
    text("a", "lambda: 8", 0, "refused"),
    text("a", "dict(tp=1, pp=1, dp=8)", 0, "missing-key"),
    text("a", "dict(tp=1, pp=..., dp=8, micro_batch_size=1)", 0, "missing-key"),
    design("a", 0, "not-a-size", tp=0, dp=8),
    design("a", 0, "not-a-size", tp="'one'", dp=8),
    design("a", 0, "not-a-size", dp=8, b=0.5),
    design("a", 0, "not-a-size", dp="True"),
    design("a", 0, "not-a-size", dp=-8, tp=-1),
    design("a", 0, "not-a-size", dp=10**30),
    design("a", 0, "rule-product", dp=4),
    design("a", 0, "rule-product", dp=9),
    design("a", 0, "rule-product", tp=10**6, pp=10**6),
    design("a", 0, "rule-heads", tp=2, dp=4),
    design("a", 0, "rule-heads", tp=8),
    design("a", 0, "rule-batch", dp=8, b=2),
    design("a", 0, "rule-chunked", dp=8, v=2),
    design("a", 0, "rule-chunked", pp=8, b=2, v=2),
    design("a", 0, "too-many-chunks", pp=2, dp=4, v=3),
    design("a", 0, "rule-nodes", dp=8, nodes="[[0, 1, 2, 3], [4, 5, 6, 7]]"),
    design("a", 0, "rule-nodes", dp=8, nodes="[[0, 1, 2]]"),
    design("a", 0, "not-nodes", dp=8, nodes="'all'"),
    design("a", 0, "not-nodes", dp=8, nodes="[['rank 0']]"),
    design("a", 0, "not-nodes", dp=8, nodes="[[0, 1, 2, 3], 4]"),
    design("a", 0, "not-nodes", dp=8, nodes="[[0.5]]"),
    design("a", 1.5, "slow-pp-first", pp=2, dp=4, v=2),
    design("a", 1.5, "slow-pp-first", pp=4, dp=2, v=2),
    design("a", 1.5, "slow-pp-first", pp=8, v=2),
    design("a", 1.5, "slow-without-chunks", pp=2, dp=4),
    design("a", 1.25, "slow-large-micro-batches", pp=2, dp=4, b=2),
    design("a", 1, "slow-large-micro-batches", pp=8, b=8),
    text("a", "dict(tp=1, pp=1, dp=8, micro_batch_size=1, chunks=1, nodes=[list(range(8))], zero=3)", 2, "unknown-key"),
    text("b", "...", 0, "unanswered"),
    design("b", 0, "rule-product", tp=8, dp=2),
    design("b", 0, "rule-heads", tp=3, pp=3),
    design("b", 0, "rule-batch", tp=8, b=3),
    design("b", 0, "rule-chunked", pp=8, v=2),
    design("b", 0, "rule-chunked", tp=8, v=2),
    design("b", 1, "rule-memory", tp=4, dp=2),
    design("b", 1, "rule-memory", tp=2, pp=2, dp=2),
    design("b", 1, "rule-memory", pp=2, dp=4),
    design("b", 0, "rule-batch", dp=8),
    design("b", 2.25, "slow-pp-first", tp=2, pp=4, v=2),
    design("b", 2.25, "slow-without-chunks", tp=4, pp=2),
    design("b", 2.25, "slow-large-micro-batches", tp=4, pp=2, b=2, v=2),
    design("b", 1.875, "slow-pp-first", pp=8),
    design("b", 1.5, "slow-large-micro-batches", tp=2, pp=4, b=4),
    text("c", "...", 0, "unanswered"),
    design("c", 1.875, "tp-across", "slow-tp", tp=8),
    design("c", 1.875, "tp-across", "slow-tp", tp=4, pp=2, v=2, nodes="[[0, 2, 4, 6], [1, 3, 5, 7]]"),
    design("c", 2.25, "tp-across", "slow-tp", tp=2, pp=4, v=2, nodes="[[0, 2, 4, 6], [1, 3, 5, 7]]"),
    design("c", 1, "rule-memory", pp=8),
    design("c", 1, "rule-memory", pp=8, v=2),
    design("c", 1, "rule-memory", tp=4, dp=2),
    design("c", 2.25, "slow-large-micro-batches", tp=4, pp=2, b=4),
    design("c", 0, "rule-nodes", tp=4, pp=2, nodes=ONE),
    design("c", 0, "rule-nodes", tp=4, pp=2, nodes="[[0, 1, 2, 3, 4], [5, 6, 7]]"),
    design("c", 0, "rule-nodes", tp=4, pp=2, nodes="[[0, 1, 2, 3], [3, 5, 6, 7]]"),
    design("c", 0, "rule-product", tp=4, pp=4),
    design("c", 0, "rule-layers", "rule-product", "rule-heads", tp=3, pp=5),
    design("c", 0, "too-many-chunks", tp=4, pp=2, v=4),
]
