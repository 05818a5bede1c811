"""What trains it: nodes of GPUs, the memory of each, and two kinds of links."""

from dataclasses import dataclass
from numbers import Real

from course.layout.model import whole_above_zero

INSIDE, ACROSS = "inside a node", "across nodes"
SHARES = ("efficiency", "usable")


@dataclass(frozen=True)
class Cluster:
    """`nodes` nodes of `gpus_per_node` GPUs. GB are 10^9 bytes, `usable` the share of a GPU's memory that training may fill.

    `efficiency` is the share of the peak that arithmetic reaches, the same for every layout. Link speeds are those of one GPU
    in one direction; `inter_gb_per_s` is None where there is one node.
    """

    nodes: int
    gpus_per_node: int
    memory_gb: float
    intra_gb_per_s: float
    inter_gb_per_s: float | None
    peak_tflops: float
    efficiency: float
    usable: float = 0.9

    def __post_init__(self):
        whole_above_zero(self)
        for name in ("memory_gb", "intra_gb_per_s", "inter_gb_per_s", "peak_tflops", "efficiency", "usable"):
            value = getattr(self, name)
            if value is None and name == "inter_gb_per_s" and self.nodes == 1:
                continue
            most = 1 if name in SHARES else float("inf")
            if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value <= most:
                raise ValueError(f"{name} = {value!r}: it is a number above 0{' and at most 1' * (name in SHARES)}")

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return self.nodes * self.gpus_per_node

    @property
    def usable_bytes(self) -> float:
        """The bytes of one GPU that training may fill."""
        return self.memory_gb * 1e9 * self.usable

    @property
    def flops_per_second(self) -> float:
        """What one GPU really computes in a second."""
        return self.peak_tflops * 1e12 * self.efficiency

    def bytes_per_second(self, link: str) -> float:
        """The speed of a link, INSIDE or ACROSS."""
        return 1e9 * {INSIDE: self.intra_gb_per_s, ACROSS: self.inter_gb_per_s}[link]
