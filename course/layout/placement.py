"""A layout: how many GPUs each kind of parallelism gets, and which rank sits in which node."""

from collections.abc import Iterator
from dataclasses import dataclass

from course.layout.cluster import ACROSS, INSIDE
from course.layout.model import Model, whole_above_zero

AXES = ("tp", "pp", "dp")


@dataclass(frozen=True)
class Layout:
    """tp x pp x dp GPUs, each pipeline stage cut into `chunks`, micro-batches of `micro_batch_size` samples.

    Ranks count TP first, then DP, then PP, as Megatron-core's parallel_state does: rank = i + tp (j + dp k) is TP
    neighbour i of replica j of stage k. `nodes` lists the ranks of each node; None fills the nodes with ranks in order.

    >>> Layout(2, 2, 2, 1).groups("tp"), Layout(2, 2, 2, 1).groups("pp")
    ([(0, 1), (2, 3), (4, 5), (6, 7)], [(0, 4), (1, 5), (2, 6), (3, 7)])
    """

    tp: int
    pp: int
    dp: int
    micro_batch_size: int
    chunks: int = 1
    nodes: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self):
        whole_above_zero(self)
        if self.nodes is not None:
            try:
                object.__setattr__(self, "nodes", tuple(map(tuple, self.nodes)))
            except TypeError:
                raise ValueError(f"nodes = {self.nodes!r}: it lists the ranks of each node, such as [[0, 1], [2, 3]]") from None
            wrong = next((rank for ranks in self.nodes for rank in ranks if type(rank) is not int or rank < 0), None)
            if wrong is not None:
                raise ValueError(f"nodes names rank {wrong!r}: ranks are whole numbers from 0 on")

    def __str__(self):
        chunks = f", v {self.chunks}" if self.chunks > 1 else ""
        return f"tp{self.tp} pp{self.pp} dp{self.dp}, b {self.micro_batch_size}{chunks}"

    @property
    def gpus(self) -> int:
        """tp x pp x dp."""
        return self.tp * self.pp * self.dp

    def micro_batches(self, model: Model) -> int:
        """Micro-batches of a step, global batch / (micro-batch size x dp), rounded down where it is not whole."""
        return model.global_batch // (self.micro_batch_size * self.dp)

    def coordinates(self, rank: int) -> dict[str, int]:
        """Axis -> the place of a rank along it: which TP neighbour, which stage, which replica it is."""
        return {"tp": rank % self.tp, "pp": self.stage_of(rank), "dp": rank // self.tp % self.dp}

    def groups(self, axis: str) -> list[tuple[int, ...]]:
        """The ranks that talk to each other along an axis: all of a TP or DP group, all stages of a pipeline."""
        step, size = {"tp": (1, self.tp), "dp": (self.tp, self.dp), "pp": (self.tp * self.dp, self.pp)}[axis]
        return [tuple(range(first, first + step * size, step)) for first in range(self.gpus)
                if first // step % size == 0]

    def node_of(self, gpus_per_node: int) -> dict[int, int]:
        """Rank -> its node."""
        if self.nodes is None:
            return {rank: rank // gpus_per_node for rank in range(self.gpus)}
        return {rank: node for node, ranks in enumerate(self.nodes) for rank in ranks}

    def by_node(self, gpus_per_node: int) -> list[list[int]]:
        """The ranks of each node that has some."""
        home = self.node_of(gpus_per_node)
        return [[rank for rank in sorted(home) if home[rank] == node] for node in sorted(set(home.values()))]

    def stage_of(self, rank: int) -> int:
        """The stage of the pipeline, with chunks the place in it, that a rank belongs to."""
        return rank // (self.tp * self.dp)

    def link(self, axis: str, gpus_per_node: int) -> str | None:
        """The slowest kind of link that an axis uses, INSIDE or ACROSS; None where it has one GPU and sends nothing."""
        if getattr(self, axis) == 1:
            return None
        if self.nodes is None:
            return INSIDE if self._inside_in_order(axis, gpus_per_node) else ACROSS
        home = self.node_of(gpus_per_node)
        return INSIDE if all(len({home[rank] for rank in group}) == 1 for group in self.groups(axis)) else ACROSS

    def _inside_in_order(self, axis, gpus_per_node):
        """Whether no block of ranks that hold a group crosses the border of a node: without listing the ranks."""
        block = {"tp": self.tp, "dp": self.tp * self.dp, "pp": self.gpus}[axis]
        return self.gpus <= gpus_per_node or gpus_per_node % block == 0

    def crossing_groups(self, axis: str, gpus_per_node: int) -> Iterator[tuple[int, ...]]:
        """The groups of an axis that lie in more than one node."""
        home = self.node_of(gpus_per_node)
        return (group for group in self.groups(axis) if len({home[rank] for rank in group}) > 1)
