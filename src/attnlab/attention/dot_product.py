"""Scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.contract import AttentionMask, AttentionOutput
from attnlab.attention.functional import (
    attn_scaled,
    attn_softmax,
    compute_outputs,
    merge_heads,
    pairwise_similarities,
    split_heads_qkv,
)


@ATTENTION.register("dot_product")
class DotProduct(nn.Module):
    """Each token looks at the tokens whose keys point where its query points."""

    supports = frozenset({"causal", "bidirectional", "weights"})
    breaks: frozenset[str] = frozenset()
    null_directions = ("key.bias",)  # it shifts all scores of a row alike; softmax does not see it

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,  # noqa: ARG002 - every variant is built alike
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        assert d_model % n_heads == 0, f"{d_model} does not divide into {n_heads} heads"
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "B T D"], *, mask: AttentionMask, need_weights: bool = False
    ) -> AttentionOutput:
        """Mix the values by the softmax of the scaled scores."""
        n_tokens = x.shape[1]
        q, k, v = split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_heads)
        allowed = mask.dense(n_tokens, n_tokens, x.device)
        scores = attn_scaled(pairwise_similarities(q, k), x.shape[-1], self.n_heads)
        # The lowest finite number, not -inf: the softmax of a token that sees nothing is then a
        # number, and zeroing the masked weights leaves it with nothing.
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = attn_softmax(scores).masked_fill(~allowed, 0.0)
        out = self.proj(merge_heads(compute_outputs(self.dropout(weights), v)))
        return AttentionOutput(out, weights if need_weights else None)
