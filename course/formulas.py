"""The closed forms, each with its source: p ranks, m micro-batches, v chunks a rank, F the same on every stage, no latency.

Huang: Huang et al. 2019, GPipe. Narayanan: Narayanan et al. 2021, Megatron-LM (SC21). Korthikanti: Korthikanti et al. 2022,
Reducing Activation Recomputation in Large Transformer Models.
"""

from dataclasses import dataclass
from fractions import Fraction


def bubble_fraction(p: int, m: int, v: int = 1) -> Fraction:
    """Idle over total time, (p-1)/(v m + p-1): GPipe and 1F1B with v=1, interleaved 1F1B above (Huang 2.3; Narayanan 2.2).

    >>> bubble_fraction(4, 8), bubble_fraction(4, 8, v=2)
    (Fraction(3, 11), Fraction(3, 19))
    """
    return Fraction(p - 1, v * m + p - 1)


def bubble_over_ideal(p: int, m: int, v: int = 1) -> Fraction:
    """Idle over ideal time, (p-1)/(v m), the Megatron paper's definition (Narayanan 2.2)."""
    return Fraction(p - 1, v * m)


def to_fraction_of_total(over_ideal):
    """Idle over total from idle over ideal: x/(1+x)."""
    return over_ideal / (1 + over_ideal)


def total_slots(p: int, m: int, forward=1, backward=1, v: int = 1):
    """The length of a step, (v m + p-1)(F+B), F and B of one chunk: GPipe and 1F1B with v=1 (Huang 2.3), interleaved above.

    >>> total_slots(4, 4), total_slots(4, 4, backward=2), total_slots(4, 8, v=2)
    (14, 21, 38)
    """
    return (v * m + p - 1) * (forward + backward)


def busy_slots(m: int, forward=1, backward=1):
    """How long each stage works in a step, m(F+B), in the unit of F and B."""
    return m * (forward + backward)


def idle_slots(p: int, forward=1, backward=1):
    """How long each stage is idle in a step, (p-1)(F+B), whatever m is."""
    return (p - 1) * (forward + backward)


def warm_up_forwards(p: int, m: int, stage: int) -> int:
    """Forwards that a stage runs before its first F/B pair in 1F1B, min(p-1-stage, m) (Narayanan 2.2.1)."""
    return min(p - 1 - stage, m)


def peak_in_flight(schedule: str, p: int, m: int, stage: int) -> int:
    """Micro-batches whose activations a stage holds at the worst moment: GPipe m, 1F1B min(m, p-stage) (Narayanan 2.2.1)."""
    return {"gpipe": m, "1f1b": min(m, p - stage)}[schedule]


def peak_chunks(p: int, m: int, v: int, rank: int) -> int:
    """Chunks that a rank holds at the worst moment of Megatron's interleaved order: its warm-up and one (Narayanan 2.2).

    >>> [peak_chunks(4, 8, 2, rank) for rank in range(4)]
    [11, 9, 7, 5]
    """
    return min(v * m, 2 * (p - 1 - rank) + (v - 1) * p + 1) if v > 1 else min(m, p - rank)


def layers_of_chunk(layers: int, p: int, v: int, rank: int, chunk: int) -> range:
    """The layers, from 0, of virtual stage s = chunk p + rank: s k to (s+1) k - 1 with k = L/(p v) (Narayanan 2.2.2).

    >>> list(layers_of_chunk(8, 2, 2, rank=0, chunk=1))
    [4, 5]
    """
    if layers % (p * v):
        raise ValueError(f"layers = {layers}: a multiple of p v = {p * v} is needed, so that all chunks are equal")
    size, stage = layers // (p * v), chunk * p + rank
    return range(stage * size, (stage + 1) * size)


def chunks_of_flag(layers: int, p: int, layers_per_virtual_stage: int, overlapped_p2p: bool = True) -> int | None:
    """v of Megatron's --num-layers-per-virtual-pipeline-stage, None where that is one chunk: then it does not interleave.

    ValueError for what Megatron refuses, by the rules of its `validate_args` (megatron/training/arguments.py).

    >>> chunks_of_flag(48, 4, 3), chunks_of_flag(48, 4, 12)
    (4, None)
    """
    flag = f"--num-layers-per-virtual-pipeline-stage {layers_per_virtual_stage}"
    if layers % p:
        raise ValueError(f"--num-layers {layers} is no multiple of --pipeline-model-parallel-size {p}")
    if layers // p % layers_per_virtual_stage:
        raise ValueError(f"the {layers // p} layers of a rank are no multiple of {flag}")
    v = layers // p // layers_per_virtual_stage
    if v > 1 and p < (2 if overlapped_p2p else 3):
        raise ValueError(f"{flag} interleaves, and --pipeline-model-parallel-size {p} is too small for it")
    return v if v > 1 else None


def leanest_chunks(p: int, m: int, v: int, rank: int) -> int:
    """Chunks that a rank holds at the worst moment with a warm-up of (p-rank-1) + (v-1) p: the step is as short.

    On rank 0 that is the memory of 1F1B, p stages; later ranks hold more.

    >>> [leanest_chunks(4, 8, 2, rank) for rank in range(4)]
    [8, 7, 6, 5]
    """
    return min(v * m, v * p - rank)


def activation_factor(p: int, v: int) -> Fraction:
    """Rank 0's activations in Megatron's order over 1F1B's, 1 + (p-1)/(p v) for v > 1 and m >= 2p (Korthikanti 4.2.3).

    >>> activation_factor(4, 2)
    Fraction(11, 8)
    """
    if v < 2:
        raise ValueError(f"v = {v}: with one chunk the order is 1F1B's own; at least 2 are needed")
    return 1 + Fraction(p - 1, p * v)


def boundary_messages(p: int, m: int, v: int = 1) -> int:
    """Messages of a step, both directions: each of the p v - 1 boundaries carries m forward and m back (Narayanan 2.2.2).

    >>> boundary_messages(4, 8), boundary_messages(4, 8, 2)
    (48, 112)
    """
    return 2 * m * (p * v - 1)


def head_in_layers(hidden: int, vocabulary: int) -> Fraction:
    """The output head's work in layers: its 2 b s h V operations over a layer's 24 b s h^2, so V/(12 h) (Narayanan, appendix).

    The attention's own s-dependent part of a layer, s/(6 h) more, is left out. Parameters are in the same ratio.

    >>> float(head_in_layers(1024, 49152))
    4.0
    """
    return Fraction(vocabulary, 12 * hidden)


def micro_batches_needed(p: int, fraction) -> int:
    """The smallest m with (p-1)/(m+p-1) <= fraction.

    >>> micro_batches_needed(4, Fraction(1, 10)), micro_batches_needed(8, Fraction(1, 10)), micro_batches_needed(1, 0.1)
    (27, 63, 1)
    """
    fraction = Fraction(fraction).limit_denominator(10**9)
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction = {float(fraction):g}: a bubble fraction is above 0 and at most 1")
    return max(1, -((1 - p) * (1 - fraction) // fraction))


@dataclass(frozen=True)
class PPConfig:
    """One pipeline configuration; global batch = micro-batches x micro-batch size x dp."""

    pp: int
    micro_batches: int
    micro_batch_size: int
    dp: int = 1
    tp: int = 1

    def global_batch(self) -> int:
        """Samples in one step, over all replicas.

        >>> PPConfig(4, 32, 1).global_batch()
        32
        """
        return self.micro_batches * self.micro_batch_size * self.dp

    def bubble(self) -> Fraction:
        """Idle over total time of GPipe or 1F1B at this size."""
        return bubble_fraction(self.pp, self.micro_batches)
