"""Additive attention (Bahdanau et al. 2014, arXiv:1409.0473); it holds T × S × d_model numbers."""

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
from attnlab.attention.functional import init_qkv_proj, merge_heads, split_heads_qkv
from attnlab.attention.softmax_core import Context, attend
from attnlab.dropout import Dropout


@ATTENTION.register("additive")
class Additive(nn.Module):
    """Each token asks a small network about every pair: a nod from w·tanh(q + k)."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "alibi", "weights"})

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,  # noqa: ARG002 - every variant is built alike
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.query, self.key, self.value = init_qkv_proj(d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)
        self.positions = positions
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
        """Mix the values by the softmax of what the network says."""
        q, k, v = split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_heads)
        context = Context(mask, cache, prefix, self.positions)
        y, weights = attend(q, k, v, score=self.score, context=context, dropout=self.dropout)
        return AttentionOutput(self.proj(merge_heads(y)), weights if need_weights else None)

    def score(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H S K"]
    ) -> Float[Tensor, "B H T S"]:
        """Let each head's vector judge tanh(q + k)."""
        hidden = torch.tanh(q[:, :, :, None] + k[:, :, None])  # (B, H, T, S, K)
        return torch.einsum("bhtsk,hk->bhts", hidden, self.judge)
