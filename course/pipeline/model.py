"""A small decoder-only transformer, cut into stages: the embedding is on the first, the head on the last."""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from course.pipeline.sizes import VOCABULARY, Sizes
from course.words import a_type


class Embedding(nn.Module):
    """Bytes and their positions to vectors."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, sizes.hidden)
        self.position = nn.Parameter(torch.randn(sizes.sequence, sizes.hidden) * 0.02)

    def forward(self, tokens):
        """(batch, sequence) whole numbers -> (batch, sequence, hidden)."""
        return self.token(tokens) + self.position


class Block(nn.Module):
    """One layer: causal self-attention and a feed-forward network, each behind a layer norm."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        hidden = sizes.hidden
        self.heads = sizes.heads
        self.before_attention, self.before_network = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query_key_value, self.output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        """(batch, sequence, hidden) -> the same shape."""
        x = x + self.output(self._attend(self.query_key_value(self.before_attention(x))))
        return x + self.down(functional.gelu(self.up(self.before_network(x))))

    def _attend(self, mixed):
        batch, sequence, _ = mixed.shape
        query, key, value = (part.view(batch, sequence, self.heads, -1).transpose(1, 2)
                             for part in mixed.chunk(3, dim=-1))
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return seen.transpose(1, 2).reshape(batch, sequence, -1)


def _head(sizes):
    return nn.Sequential(nn.LayerNorm(sizes.hidden), nn.Linear(sizes.hidden, VOCABULARY))


def build_stage(sizes: Sizes, stages: int, stage: int, seed: int, build: Callable | None = None) -> nn.Module:
    """One stage of the model, or what `build` makes. Each part has a seed of its own, so a rank builds only what it holds."""
    if build:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed * 1_000_003 + stage)
            return _module(build(sizes, stages, stage), stage)
    share = sizes.layers // stages
    makers = dict.fromkeys(range(stage * share, (stage + 1) * share), Block)
    if stage == 0:
        makers = {-1: Embedding} | makers
    if stage == stages - 1:
        makers |= {sizes.layers: _head}
    parts = []
    for place, make in makers.items():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed * 1_000_003 + place + 1)
            parts.append(make(sizes))
    return nn.Sequential(*parts)


def _module(made, stage):
    if not isinstance(made, nn.Module):
        raise TypeError(f"build() gave {a_type(made)} for stage {stage}: a torch.nn.Module is needed")
    return made


def loss_of(logits: torch.Tensor, targets: torch.Tensor, micro_batches: int) -> torch.Tensor:
    """Cross-entropy of one micro-batch, scaled so that the sum over the micro-batches is the step's mean."""
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten()) / micro_batches
