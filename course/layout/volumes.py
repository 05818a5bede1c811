"""The bytes that the busiest GPU sends in a step on each axis; a send counts once, at its sender.

b micro-batch size, m micro-batches, t, p, d the sizes of TP, PP and DP, v chunks. An element of an activation has 2 bytes,
where it is not said otherwise.
"""

from course.layout.memory import stage_parameters
from course.layout.model import Model
from course.layout.placement import Layout

ELEMENT = 2  # bytes of an element in bf16 or fp16
GRADIENT = 4  # bytes of a gradient, accumulated in fp32
TP_VOLUME = 8  # of b s h (t-1)/t: 4 all-reduces, each 2 (t-1)/t in a ring


def ring_bytes(size: float, ranks: int) -> float:
    """What each of n ranks sends in a ring all-reduce, 2 (n-1)/n of its data: n-1 parts to add up, n-1 sums to hand out.

    Patarasuk and Yuan 2009, Bandwidth optimal all-reduce algorithms for clusters of workstations, section 3.
    """
    return 2 * size * (ranks - 1) / ranks


def tensor_bytes(layout: Layout, model: Model, element: int = ELEMENT) -> int:
    """The activation of one micro-batch at a boundary of layers, b s h elements (Narayanan et al. 2021, section 3.2)."""
    return layout.micro_batch_size * model.sequence * model.hidden * element


def tp_bytes(layout: Layout, model: Model, volume: int = TP_VOLUME, element: int = ELEMENT) -> float:
    """8 b s h (t-1)/t elements a layer and micro-batch: 2 all-reduces forward, 2 backward (Narayanan et al. 2021, section 3.2).

    With sequence parallelism each is a reduce-scatter and an all-gather of the same volume (Korthikanti et al. 2022, section
    4.2.2); where activations are stored sharded one more all-gather a pair makes it 10.
    """
    each = volume * tensor_bytes(layout, model, element) * (layout.tp - 1) / layout.tp
    return each * model.layers / layout.pp * layout.micro_batches(model)


def pp_tensors(layout: Layout) -> int:
    """Tensors of b s h that the busiest rank sends for each micro-batch: 2 v in the middle, 2 v - 1 where all are ends.

    Each chunk sends one activation on and one gradient back, but the last chunk has nobody after it, the first nobody before
    it (Narayanan et al. 2021, section 2.2.2).
    """
    return 0 if layout.pp == 1 else 2 * layout.chunks - (layout.pp == 2)


def pp_bytes(layout: Layout, model: Model, element: int = ELEMENT) -> int:
    """What a rank between two others sends in a step, whole on each TP rank (Narayanan et al. 2021, sections 2.2.2 and 3.2)."""
    return pp_tensors(layout) * tensor_bytes(layout, model, element) * layout.micro_batches(model)


def dp_bytes(layout: Layout, model: Model, gradient: int = GRADIENT, distributed_optimizer: bool = False) -> float:
    """Once a step, 2 (d-1)/d of the gradients of the first stage, the largest (Narayanan et al. 2021, section 3.3.1).

    With the distributed optimizer the second half of the ring carries updated parameters instead, 2 bytes each (Rajbhandari et
    al. 2020, ZeRO, section 7).
    """
    each = gradient + (ELEMENT if distributed_optimizer else gradient)
    return each * stage_parameters(layout, model) * (layout.dp - 1) / layout.dp
