"""Real text that is there without a network: the help topics that CPython ships, bytes as tokens."""

import random
from functools import cache
from pydoc_data.topics import topics

import torch

from course.pipeline.sizes import Sizes


@cache
def text() -> bytes:
    """The English help texts of the Python language, one after the other: about half a megabyte."""
    return "\n".join(topics[name] for name in sorted(topics)).encode()


def micro_batch(sizes: Sizes, seed: int, step: int, number: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens and the bytes that follow them, both (micro_batch_size, sequence): the same in every process."""
    source = text()
    draw = random.Random(f"{seed}/{step}/{number}")
    starts = [draw.randrange(len(source) - sizes.sequence) for _ in range(sizes.micro_batch_size)]
    rows = torch.tensor([list(source[start:start + sizes.sequence + 1]) for start in starts])
    return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
