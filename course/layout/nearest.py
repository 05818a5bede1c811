"""The nearest layout that obeys a rule: the fewest factors changed."""

import math
from collections.abc import Iterator

from course.layout import rules
from course.layout.cluster import Cluster
from course.layout.model import Model
from course.layout.placement import Layout


def divisors(number: int) -> list[int]:
    """All of them, ascending.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return small + [number // n for n in reversed(small) if n * n != number]


def nearest(code: str, layout: Layout, model: Model, cluster: Cluster, options: tuple = ()) -> Layout | None:
    """The layout of the whole cluster that obeys the rule of this name and those before it, and changes the least.

    How far two layouts are apart is the sum of the factors, in doublings, between their fields. `options` are those of
    `rules.fits`. None where the cluster has no such layout.
    """
    names = [rule.__name__ for rule in rules.SHAPE]
    asked = rules.SHAPE[:names.index(code) + 1] if code in names else rules.SHAPE
    found = [other for other in _candidates(layout, model, cluster)
             if not any(rule(other, model, cluster) for rule in asked)
             and (code != "memory" or rules.fits(other, model, cluster, *options))]
    return min(found, key=lambda other: _distance(layout, other), default=None)


def _candidates(layout, model, cluster) -> Iterator[Layout]:
    """All of the cluster's GPUs, in every shape; micro-batch sizes and chunks that divide something, and the layout's own."""
    sizes = sorted({*divisors(model.global_batch), layout.micro_batch_size})
    chunks = sorted({1, 2, layout.chunks})
    for tp in divisors(cluster.gpus):
        for pp in divisors(cluster.gpus // tp):
            for size in sizes:
                for count in chunks:
                    yield Layout(tp, pp, cluster.gpus // (tp * pp), size, count)


def _distance(one, other):
    return round(sum(abs(math.log2(getattr(one, name)) - math.log2(getattr(other, name)))
                     for name in ("tp", "pp", "dp", "micro_batch_size", "chunks")), 9)
