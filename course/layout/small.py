"""The model on which a layout runs for real: small, and in fp32, so that its gradients can be compared with one process's."""

from course.layout.model import Model
from course.layout.placement import Layout
from course.pipeline.sizes import VOCABULARY, Sizes

ELEMENT = 4  # bytes of an element of an activation in fp32
HEADS, HIDDEN, SEQUENCE = 8, 64, 32
LAYERS, MORE_LAYERS = 8, 16


def small_model(layout: Layout, global_batch: int) -> Model:
    """8 layers, 16 where the layout has as many chunks in all; 8 heads."""
    layers = MORE_LAYERS if layout.pp * layout.chunks == MORE_LAYERS else LAYERS
    return Model(layers, HIDDEN, HEADS, SEQUENCE, VOCABULARY, global_batch)


def sizes_of(layout: Layout, model: Model) -> Sizes:
    """The same, as the pipeline wants it."""
    return Sizes(model.hidden, model.heads, model.sequence, layout.micro_batch_size, model.layers)


def parameters_beyond(layout: Layout, model: Model) -> float:
    """Parameters on one GPU of the first stage beyond those of `memory.stage_parameters`.

    That shares out all over TP and ties the output head to the embedding. Here each TP rank has the whole embedding, the whole
    head, and of each layer two layer norms and the two biases that are added behind an all-reduce, 6h; the head is a matrix of
    its own, behind a layer norm, on the last stage.
    """
    copied = 6 * model.hidden * model.layers / layout.pp + model.embedding_parameters
    head = (model.hidden + 1) * model.vocabulary + 2 * model.hidden if layout.pp == 1 else 0
    return copied * (layout.tp - 1) / layout.tp + head
