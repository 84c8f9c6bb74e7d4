"""Random Synthesizer attention (Tay et al. 2020, arXiv:2005.00743, §3.2).

The scores are parameters: they are learned, begin at random, and are the same for every text.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import (
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
    check_heads,
)
from attnlab.attention.softmax_core import Context, masked_softmax, mix, project_values
from attnlab.dropout import Dropout


@ATTENTION.register("random_synthesizer")
class RandomSynthesizer(nn.Module):
    """Each position looks at the same positions, whatever stands there."""

    supports = frozenset({"causal", "bidirectional", "cache", "alibi", "weights"})

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads, self.max_len = n_heads, max_len
        self.scores = nn.Parameter(torch.randn(n_heads, max_len, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout, self.positions = Dropout(dropout), positions

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Mix the values by the softmax of the learned scores."""
        context = Context(mask, cache, prefix, self.positions)
        v = project_values(x, context, by=self.value, n_heads=self.n_heads, max_len=self.max_len)
        n_keys = v.shape[2]
        first = n_keys - x.shape[1]
        scores = self.scores[:, first:n_keys, :n_keys].expand(len(x), -1, -1, -1)
        weights = masked_softmax(scores, context.bias(v[:, :, first:], v))
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
