"""What is trained: the sizes of a GPT-like transformer, its parameters and its arithmetic.

Letters as in the papers: L layers, h hidden, a heads, s sequence, V vocabulary, B global batch. Narayanan: Narayanan et al.
2021, Megatron-LM (SC21). Korthikanti: Korthikanti et al. 2022, Reducing Activation Recomputation.
"""

from dataclasses import dataclass, fields

RECOMPUTE = ("none", "selective", "full")


def whole_above_zero(sizes) -> None:
    """ValueError for the first field of a frozen dataclass that must be a whole number above 0 and is none."""
    for field in fields(sizes):
        value = getattr(sizes, field.name)
        if field.type is int and (type(value) is not int or value < 1):
            raise ValueError(f"{field.name} = {value!r}: it must be a whole number above 0")


def known_recompute(recompute: str) -> str:
    """The word itself; ValueError where it names no kind of recomputation."""
    if recompute not in RECOMPUTE:
        raise ValueError(f"recompute = {recompute!r}: it is one of {', '.join(map(repr, RECOMPUTE))}")
    return recompute


@dataclass(frozen=True)
class Model:
    """A GPT-like transformer and the samples of one step; 4h wide feed-forward layers, input and output embedding tied."""

    layers: int
    hidden: int
    heads: int
    sequence: int
    vocabulary: int
    global_batch: int

    def __post_init__(self):
        whole_above_zero(self)

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer, 12 h^2 + 13 h (Narayanan 5.1, eq. 2)."""
        return 12 * self.hidden**2 + 13 * self.hidden

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the token and the position embedding, (V + s) h (Narayanan 5.1, eq. 2)."""
        return (self.vocabulary + self.sequence) * self.hidden

    @property
    def parameters(self) -> int:
        """All of them, 12 L h^2 (1 + 13/(12h) + (V+s)/(12 L h)) (Narayanan 5.1, eq. 2).

        >>> Model(96, 12288, 96, 2048, 51200, 1536).parameters
        174615822336
        """
        return self.layers * self.layer_parameters + self.embedding_parameters

    def layer_flops(self, recompute: str = "none") -> int:
        """Floating-point operations of one layer for one sample, forward and backward, in a step.

        A forward takes 24 s h^2 + 4 s^2 h, a backward twice that (Narayanan 5.1, appendix). "full" computes the forward once
        more; "selective" only the s^2 part of it (Korthikanti 5 and appendix A).
        """
        s, h = self.sequence, self.hidden
        dense, square = 24 * s * h**2, 4 * s**2 * h
        again = {"none": 0, "selective": square, "full": dense + square}[known_recompute(recompute)]
        return 3 * (dense + square) + again

    @property
    def head_flops(self) -> int:
        """Floating-point operations of the output head for one sample, forward and backward, 6 s h V (Narayanan 5.1)."""
        return 6 * self.sequence * self.hidden * self.vocabulary

    def flops(self, recompute: str = "none") -> int:
        """Floating-point operations of one step, over all GPUs.

        "none": 72 B s L h^2 (1 + s/(6h) + V/(12 L h)) (Korthikanti, appendix A), what the model needs, for MFU. "full":
        96 B s L h^2 (1 + s/(6h) + V/(16 L h)) (Narayanan 5.1, eq. 3). "selective" is the first and 4 B s^2 h L more.
        """
        return self.global_batch * (self.layers * self.layer_flops(recompute) + self.head_flops)
