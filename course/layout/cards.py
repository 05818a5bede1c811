"""Exercise 5's cards, each a model and a cluster; what is best on them follows from the cost model alone."""

from dataclasses import dataclass

from course.layout.cluster import Cluster
from course.layout.model import Model

MAX_CHUNKS = 2
WITHIN = 1.10  # full marks up to this many times the fastest step


@dataclass(frozen=True)
class Card:
    """A task: lay this model out on this cluster."""

    name: str
    model: Model
    cluster: Cluster


def _cluster(nodes, gpus_per_node, inter_gb_per_s):
    return Cluster(nodes, gpus_per_node, memory_gb=80, intra_gb_per_s=300, inter_gb_per_s=inter_gb_per_s, peak_tflops=312,
                   efficiency=0.5)


CARDS = {card.name: card for card in (
    Card("a", Model(48, 1600, 25, sequence=8192, vocabulary=50304, global_batch=8), _cluster(1, 8, None)),
    Card("b", Model(48, 6144, 64, sequence=2048, vocabulary=51200, global_batch=4), _cluster(1, 8, None)),
    Card("c", Model(48, 6144, 64, sequence=2048, vocabulary=51200, global_batch=32), _cluster(2, 4, 25)),
)}

# The worked example: small enough to count by hand.
PAIR = Card("2 GPUs", Model(24, 2048, 16, sequence=2048, vocabulary=51200, global_batch=8), _cluster(1, 2, None))
