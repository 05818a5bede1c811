"""What lies in the memory of the fullest GPU, one of the first stage: parameters and optimizer, and activations."""

from course.formulas import peak_chunks
from course.layout.model import Model, known_recompute
from course.layout.placement import Layout

STATE = 18  # bf16 weight 2, fp32 gradient 4, fp32 weight 4, Adam's two moments 4 + 4


def stage_parameters(layout: Layout, model: Model) -> float:
    """Parameters on one GPU of the first stage: its layers and the embedding, shared out over TP (Narayanan et al. 2021, 5.1)."""
    return (model.layers / layout.pp * model.layer_parameters + model.embedding_parameters) / layout.tp


def state_bytes(layout: Layout, model: Model, distributed_optimizer: bool = False, gradient: int = 4) -> float:
    """Bytes of weights, gradients and optimizer: 18 a parameter in mixed precision with fp32 gradients.

    2 + gradient + 12 (Rajbhandari et al. 2020, ZeRO, section 3.1, with fp32 gradients as in Megatron); the distributed
    optimizer spreads the 12 over the d replicas: 6 + 12/d (ZeRO's first stage, section 5.1).
    """
    each = 2 + gradient + 12 / (layout.dp if distributed_optimizer else 1)
    return each * stage_parameters(layout, model)


def layer_activation_bytes(layout: Layout, model: Model, recompute: str = "selective", sequence_parallel: bool = True) -> float:
    """Bytes that one layer stores for one micro-batch on one GPU (Korthikanti et al. 2022, table 2).

    Without recomputation s b h (34 + 5 a s/h), of which TP shares out 24 and the last term, TP with sequence parallelism all;
    selective recomputation does without the last term; full recomputation keeps the layer's input only, 2 s b h.
    """
    s, h, t = model.sequence, model.hidden, layout.tp
    if known_recompute(recompute) == "full":
        return 2 * s * layout.micro_batch_size * h
    squared = 5 * model.heads * s / h if recompute == "none" else 0
    each = (34 + squared) / t if sequence_parallel else 10 + (24 + squared) / t
    return s * layout.micro_batch_size * h * each


def activation_bytes(layout: Layout, model: Model, recompute: str = "selective", sequence_parallel: bool = True) -> float:
    """Bytes of stored activations on one GPU of the first stage at the worst moment (Korthikanti et al. 2022, section 4.2.3).

    A chunk has L/(p v) layers: with m >= p and v = 1 that is L layers' worth of one micro-batch, whatever p is; interleaved, with
    m large enough, 1 + (p-1)/(p v) times as much.
    """
    held = peak_chunks(layout.pp, layout.micro_batches(model), layout.chunks, rank=0)
    each = layer_activation_bytes(layout, model, recompute, sequence_parallel)
    return each * model.layers / (layout.pp * layout.chunks) * held
