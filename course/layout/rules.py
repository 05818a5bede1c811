"""What a layout must obey, in the order in which it is asked: a function a rule, which says what is broken, or None."""

from itertools import pairwise

from course.layout.cluster import Cluster
from course.layout.memory import activation_bytes, state_bytes
from course.layout.model import Model
from course.layout.placement import Layout


def product(layout: Layout, model: Model, cluster: Cluster) -> str | None:
    """Every GPU has one place: tp x pp x dp is their number."""
    if layout.gpus == cluster.gpus:
        return None
    return (f"tp x pp x dp = {layout.tp} x {layout.pp} x {layout.dp} = {layout.gpus}, but the cluster has {cluster.gpus} GPUs: "
            "the product must be their number")


def heads(layout: Layout, model: Model, cluster: Cluster) -> str | None:
    """Each TP rank gets as many attention heads."""
    if model.heads % layout.tp == 0:
        return None
    return f"{model.heads} attention heads cannot be shared out evenly among tp = {layout.tp} GPUs: tp must divide {model.heads}"


def layers(layout: Layout, model: Model, cluster: Cluster) -> str | None:
    """Each chunk of each stage gets as many layers."""
    if model.layers % (layout.pp * layout.chunks) == 0:
        return None
    parts = f"pp x chunks = {layout.pp} x {layout.chunks} = {layout.pp * layout.chunks}"
    return f"{model.layers} layers cannot be cut into {parts} equal parts: it must divide {model.layers}"


def batch(layout: Layout, model: Model, cluster: Cluster) -> str | None:
    """The global batch is a whole number of micro-batches on each replica."""
    each = layout.micro_batch_size * layout.dp
    if model.global_batch % each == 0:
        return None
    return (f"The global batch of {model.global_batch} is no multiple of micro_batch_size x dp = {layout.micro_batch_size} x "
            f"{layout.dp} = {each}")


def chunked(layout: Layout, model: Model, cluster: Cluster) -> str | None:
    """Chunks need several stages, and Megatron wants micro-batches in groups of pp (Narayanan et al. 2021, section 2.2.2)."""
    m = layout.micro_batches(model)
    if layout.chunks == 1 or (layout.pp > 1 and m % layout.pp == 0):
        return None
    if layout.pp == 1:
        return f"chunks = {layout.chunks} with pp = 1: there is no pipeline to interleave, so chunks must be 1"
    return (f"chunks = {layout.chunks} with {m} micro-batches on pp = {layout.pp} stages: interleaved, the micro-batches must be "
            f"a multiple of {layout.pp}")


def nodes(layout: Layout, model: Model, cluster: Cluster) -> str | None:
    """Each rank sits in one node, and no node has more than its GPUs."""
    if layout.nodes is None:
        return None
    if len(layout.nodes) > cluster.nodes:
        return f"nodes lists {len(layout.nodes)} nodes; the cluster has {cluster.nodes}"
    full = next((place for place, ranks in enumerate(layout.nodes) if len(ranks) > cluster.gpus_per_node), None)
    if full is not None:
        return f"Node {full} is given {len(layout.nodes[full])} ranks; it has {cluster.gpus_per_node} GPUs"
    placed = sorted(rank for ranks in layout.nodes for rank in ranks)
    if len(placed) == layout.gpus and placed == list(range(layout.gpus)):
        return None
    twice = next((one for one, other in pairwise(placed) if one == other), None)
    if twice is not None:
        return f"Rank {twice} has more than one place in nodes"
    missing = next((rank for rank in range(layout.gpus) if rank not in placed), None)
    if missing is not None:
        return f"Rank {missing} has no place in nodes: the ranks are 0 to {layout.gpus - 1}"
    return f"nodes names rank {placed[-1]}: the ranks are 0 to {layout.gpus - 1}"


SHAPE = (product, heads, layers, batch, chunked, nodes)


def memory(layout: Layout, model: Model, cluster: Cluster, state: float, activations: float) -> str | None:
    """Parameters, optimizer and activations of the fullest GPU fit; asked only of a layout of legal shape."""
    needed, room = state + activations, cluster.usable_bytes
    if needed <= room:
        return None
    return (f"The fullest GPU needs {state / 1e9:.1f} GB for parameters and optimizer and {activations / 1e9:.1f} GB for "
            f"activations, {needed / 1e9:.1f} GB; usable are {room / 1e9:g} of {cluster.memory_gb:g} GB")


def fits(layout: Layout, model: Model, cluster: Cluster, recompute="selective", sequence_parallel=True,
         distributed_optimizer=False) -> bool:
    """Whether a layout of legal shape fits the memory."""
    return memory(layout, model, cluster, state_bytes(layout, model, distributed_optimizer),
                  activation_bytes(layout, model, recompute, sequence_parallel)) is None
