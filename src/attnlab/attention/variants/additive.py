"""Additive attention (Bahdanau et al. 2014, arXiv:1409.0473); it holds T × S × d_model numbers."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, AttentionOutput, Positions, Prefix
from attnlab.attention.softmax_core import Context, masked_softmax, mix, project, projections
from attnlab.dropout import Dropout


@ATTENTION.register("additive")
class Additive(nn.Module):
    """Each token asks a small network about every pair: a nod from w·tanh(q + k)."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "alibi", "weights"})

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
        self.query, self.key, self.value, self.proj = projections(d_model, n_heads)
        self.n_heads, self.dropout, self.positions = n_heads, Dropout(dropout), positions
        self.judge = nn.Parameter(torch.randn(n_heads, d_model // n_heads))

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Let each head's vector judge tanh(q + k), and mix the values by the softmax of that."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        hidden = torch.tanh(q[:, :, :, None] + k[:, :, None])  # (B, H, T, S, K)
        scores = torch.einsum("bhtsk,hk->bhts", hidden, self.judge)
        weights = masked_softmax(scores, context.bias(q, k))
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
