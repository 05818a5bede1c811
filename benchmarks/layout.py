"""The search for layouts: every feasible layout of a model on up to 1024 GPUs. Target: 1024 GPUs under 1 s.

Peer: brute force, which judges every combination of the five sizes by the same rules and the same cost model.
"""

import argparse
import itertools
import time

from benchmarks.table import best, heading, middle, show
from course.layout import Cluster, Layout, Model, evaluate, search
from course.layout.nearest import divisors

MODEL = Model(96, 12288, 96, sequence=2048, vocabulary=51200, global_batch=1536)
CHUNKS = 4


def cluster_of(gpus: int) -> Cluster:
    """Nodes of 8 GPUs with 80 GB."""
    return Cluster(gpus // 8, 8, 80, 300, 25, 312, 0.5)


def brute_force(model: Model, cluster: Cluster, max_chunks: int) -> list:
    """The same answer without leaving anything out: all factors of the GPUs, all sizes up to the global batch, all chunks."""
    found = []
    for tp, pp in itertools.product(divisors(cluster.gpus), repeat=2):
        if cluster.gpus % (tp * pp) == 0:
            for size, chunks in itertools.product(range(1, model.global_batch + 1), range(1, max_chunks + 1)):
                one = evaluate(Layout(tp, pp, cluster.gpus // (tp * pp), size, chunks), model, cluster, advice=False)
                if not one.problems:
                    found.append(one)
    return sorted(found, key=lambda one: (one.step_seconds, one.layout.chunks, one.layout.pp, one.layout.tp))


def clocked(work, repeats):
    """Seconds of each of some repeats, and the last result."""
    found, result = [], None
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        found.append(time.perf_counter() - begin)
    return found, result


def row_of(gpus: int, repeats: int, with_peer: bool):
    """One size: how many layouts are feasible, seconds of the search, and of the brute force where it can be waited for."""
    ours, found = clocked(lambda: search(MODEL, cluster_of(gpus), max_chunks=CHUNKS), repeats)
    row = [gpus, f"{len(found):,}", f"{middle(ours):.4f}", f"{best(ours):.4f}"]
    if not with_peer:
        return [*row, "-", "-", "-"]
    peer, tried = clocked(lambda: brute_force(MODEL, cluster_of(gpus), CHUNKS), 1)
    same = "yes" if {one.layout for one in tried} == {one.layout for one in found} else "no"
    return [*row, f"{middle(peer):.3f}", f"{middle(ours) / middle(peer):.5f}", same]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--gpus", type=int, nargs="*", default=[64, 256, 1024])
    parser.add_argument("--no-peer", action="store_true", help="leave the brute force out")
    options = parser.parse_args()
    heading(f"layouts of 175 billion parameters, chunks up to {CHUNKS}, {options.repeats} repeats, medians in seconds")
    show(["GPUs", "feasible", "search", "p10", "brute force", "ratio", "same layouts"],
         [row_of(gpus, options.repeats, not options.no_peer) for gpus in options.gpus])


if __name__ == "__main__":
    main()
