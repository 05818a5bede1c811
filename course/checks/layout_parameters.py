"""Notebook 5: wrong ideas about the parameters that lie on a GPU of the first stage."""

from course.checks.byte_counts import Idea

EVEN_SHARE = {"parameters": lambda z: z.model.parameters / (z.t * z.p)}


def wrong_parameters(what: str) -> tuple[Idea, ...]:
    """For a question with the piece `parameters`; `what` is counted for each of them: gradients, or parameters."""
    return (
        Idea("whole-model", f"these are the {what} of the whole model. A GPU has its stage's, and TP's share of those.",
             {"parameters": lambda z: z.model.parameters}),
        Idea("forgot-tp", f"these are the {what} of a whole stage. TP shares each layer out over t GPUs.",
             {"parameters": lambda z: z.layer_parameters + z.model.embedding_parameters}),
        Idea("forgot-pp", f"these are the {what} of all layers. PP leaves a GPU the layers of its stage.",
             {"parameters": lambda z: z.model.parameters / z.t}),
        Idea("without-embedding", f"these are the {what} of the stage's layers. The first stage has the embedding as well.",
             {"parameters": lambda z: z.layer_parameters / z.t}),
        Idea("embedding-whole", "the embedding is shared out over TP as well.",
             {"parameters": lambda z: z.layer_parameters / z.t + z.model.embedding_parameters}),
    )
