"""The time of a step: compute, bubble, and what each axis sends. What a model of costs may assume is in one place.

Narayanan et al. 2021: sections 2.2 (the bubble), 3.2 and 3.3 (volumes); alpha-beta costs without the alpha: bytes over speed.
"""

from dataclasses import dataclass

from course.layout.cluster import ACROSS, Cluster
from course.layout.model import Model
from course.layout.placement import Layout
from course.layout.volumes import dp_bytes, tensor_bytes, tp_bytes

PARTS = ("compute", "bubble", "tp", "pp", "dp")


@dataclass(frozen=True)
class Assumptions:
    """What people model in different ways; the defaults are the course's.

    gradient_bytes: of a gradient in memory and in DP's all-reduce; tp_volume: 8, or 10 where activations are stored sharded;
    head_on_last: the output head makes the last stage slower, instead of spread over all; p2p_sharded: TP ranks send a share
    each; p2p_hidden, dp_hidden: this traffic overlaps with compute; link_shared: a node's GPUs share one link to the others.
    """

    gradient_bytes: int = 4
    tp_volume: int = 8
    head_on_last: bool = False
    p2p_sharded: bool = False
    p2p_hidden: bool = False
    dp_hidden: bool = False
    link_shared: bool = False


OURS = Assumptions()


def step_parts(layout: Layout, model: Model, cluster: Cluster, recompute: str = "selective",
               distributed_optimizer: bool = False, assumptions: Assumptions = OURS) -> dict[str, float]:
    """Seconds of a step by what they are spent on; their sum is (m + (p-1)/v)(compute + TP + p2p) + DP (Narayanan 2.2).

    compute, TP and p2p are one micro-batch's on one stage; p2p is 2 v tensors, one after the other, whatever p is.
    """
    p, v, m = layout.pp, layout.chunks, layout.micro_batches(model)
    compute = _compute(layout, model, cluster, recompute, assumptions)
    tp = tp_bytes(layout, model, assumptions.tp_volume) / m * _seconds_per_byte("tp", layout, cluster, assumptions)
    tensor = tensor_bytes(layout, model) / (layout.tp if assumptions.p2p_sharded else 1)
    p2p = 0.0 if assumptions.p2p_hidden else 2 * v * tensor * _seconds_per_byte("pp", layout, cluster, assumptions)
    sent = dp_bytes(layout, model, assumptions.gradient_bytes, distributed_optimizer)
    dp = 0.0 if assumptions.dp_hidden else sent * _seconds_per_byte("dp", layout, cluster, assumptions)
    return {"compute": m * compute, "bubble": (p - 1) / v * (compute + tp + p2p), "tp": m * tp, "pp": m * p2p, "dp": dp}


def _compute(layout, model, cluster, recompute, assumptions):
    """Seconds of forward and backward of one micro-batch on the slowest stage."""
    head = model.head_flops if assumptions.head_on_last else model.head_flops / layout.pp
    each = model.layers / layout.pp * model.layer_flops(recompute) + head
    return layout.micro_batch_size * each / layout.tp / cluster.flops_per_second


def _seconds_per_byte(axis, layout, cluster, assumptions):
    """1 over the speed of the slowest link of an axis, which governs its ring; 0 where nothing is sent."""
    link = layout.link(axis, cluster.gpus_per_node)
    if link is None:
        return 0.0
    sharing = cluster.gpus_per_node if link == ACROSS and assumptions.link_shared else 1
    return sharing / cluster.bytes_per_second(link)
