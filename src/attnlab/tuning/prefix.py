"""Prefix tuning (Li & Liang 2021, arXiv:2101.00190): learned keys and values in every layer.

Every token sees them, whatever the mask; they have no positions. The vectors are learned directly,
without the network that the paper makes them with during training. T5 has them in every attention:
of its encoder, of its decoder, and from the one to the other.
"""

from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor, nn

from attnlab.attention.contract import Prefix
from attnlab.attention.functional import split_heads
from attnlab.tuning import TUNING
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Trainable


class LearnedPrefix(nn.Module):
    """The keys and values of one layer, each (P, D), or as wide as all heads are."""

    def __init__(self, shape: tuple[int, int], like: Tensor, *, n_heads: int, std: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.keys, self.values = (nn.Parameter(std * torch.randn(shape).to(like)) for _ in range(2))

    def forward(self) -> Prefix:
        """Split them into heads."""
        keys, values = (split_heads(x[None], self.n_heads) for x in (self.keys, self.values))
        return Prefix(keys, values)


@TUNING.register("prefix")
def prefix(
    parts: ModelParts,
    *,
    length: Annotated[int, Interval(ge=1, le=10_000)] = 16,
    initial_std: Annotated[float, Interval(gt=0, le=1e3)] = 0.02,
) -> Trainable:
    """Train ``length`` keys and as many values in every layer."""
    parts.need_prefix_support("prefix", "it has no keys and values that others could join.")
    table = parts.model.get_submodule(parts.table).weight
    assert isinstance(table, Tensor)
    names, width = [], parts.width("h")
    for place in parts.prefixed:
        shape = (length, parts.sizes[width])
        learned = LearnedPrefix(shape, table, n_heads=parts.n_heads, std=initial_std)
        parts.model.get_submodule(place).prefix = learned
        names += [f"{place}.prefix.keys", f"{place}.prefix.values"]
    parts.read_prefixes()
    return Trainable(frozenset(names), Count(f"2·L·P·{width}"), {"P": length})
