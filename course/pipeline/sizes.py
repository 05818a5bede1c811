"""How large the model and its micro-batches are; no torch here, so that the caller can say it."""

from dataclasses import dataclass, replace

VOCABULARY = 256  # bytes are the tokens
LEAST_LAYERS = 8


@dataclass(frozen=True)
class Sizes:
    """The transformer's sizes. `layers` None: the smallest multiple of the stages that is at least 8."""

    hidden: int = 64
    heads: int = 4
    sequence: int = 32
    micro_batch_size: int = 4
    layers: int | None = None

    def for_stages(self, stages: int) -> "Sizes":
        """The same with `layers` filled in. ValueError where the sizes do not fit each other or the stages.

        >>> Sizes().for_stages(4).layers, Sizes().for_stages(3).layers
        (8, 9)
        """
        for name in ("hidden", "heads", "sequence", "micro_batch_size"):
            need_whole(name, getattr(self, name))
        if self.hidden % self.heads:
            raise ValueError(f"hidden = {self.hidden}: a multiple of heads = {self.heads} is needed")
        layers = self.layers
        if layers is None:
            layers = -(-LEAST_LAYERS // stages) * stages
        need_whole("layers", layers)
        if layers % stages:
            raise ValueError(f"layers = {layers}: a multiple of the {stages} stages is needed, such as "
                             f"{-(-layers // stages) * stages}")
        return replace(self, layers=layers)

    @property
    def boundary(self) -> tuple[int, int, int]:
        """The shape of what crosses a stage boundary, forward and backward alike."""
        return self.micro_batch_size, self.sequence, self.hidden


def need_whole(name: str, value, least: int = 1, most: int | None = None, why: str = ""):
    """ValueError when a value is not a whole number from `least` to `most`: names it, the value and the rule."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} = {value!r}: a whole number of at least {least} is needed")
    if value < least:
        raise ValueError(f"{name} = {value}: at least {least} is needed")
    if most is not None and value > most:
        raise ValueError(f"{name} = {value}: at most {most} can be run here{why}; take fewer")
