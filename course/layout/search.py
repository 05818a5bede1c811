"""Every feasible layout of a cluster, fastest first."""

from collections.abc import Iterator

from course.layout import rules
from course.layout.cluster import Cluster
from course.layout.cost import OURS, Assumptions
from course.layout.evaluation import Evaluation, measure
from course.layout.model import Model
from course.layout.nearest import divisors
from course.layout.placement import Layout


def shapes(model: Model, cluster: Cluster, max_chunks: int = 2) -> Iterator[Layout]:
    """The layouts that use all GPUs and obey every rule but memory: nothing else is made, so nothing is thrown away."""
    gpus = cluster.gpus
    for tp in (n for n in divisors(gpus) if model.heads % n == 0):
        for pp in (n for n in divisors(gpus // tp) if model.layers % n == 0):
            dp = gpus // (tp * pp)
            if model.global_batch % dp:
                continue
            chunks = [n for n in divisors(model.layers // pp) if n <= max_chunks] if pp > 1 else [1]
            for size in divisors(model.global_batch // dp):
                whole = model.global_batch // (dp * size) % pp == 0
                for count in chunks if whole else [1]:
                    yield Layout(tp, pp, dp, size, count)


def search(model: Model, cluster: Cluster, max_chunks: int = 2, recompute: str = "selective", sequence_parallel: bool = True,
           distributed_optimizer: bool = False, assumptions: Assumptions = OURS) -> list[Evaluation]:
    """All feasible layouts with ranks in order and at most `max_chunks` chunks, fastest first; on a tie the simpler one."""
    found = []
    for layout in shapes(model, cluster, max_chunks):
        numbers = measure(layout, model, cluster, recompute, sequence_parallel, distributed_optimizer, assumptions)
        if not rules.memory(layout, model, cluster, numbers["state_bytes"], numbers["activation_bytes"]):
            found.append(Evaluation(layout, **numbers))
    return sorted(found, key=lambda one: (one.step_seconds, one.layout.chunks, one.layout.pp, one.layout.tp))
