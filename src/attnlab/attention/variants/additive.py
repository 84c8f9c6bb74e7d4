"""Additive attention (Bahdanau et al. 2014, arXiv:1409.0473); it holds T × S × d_model numbers."""

from typing import Unpack

import torch
from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.softmax_core import Given, Keys, MultiHeadAttention, Queries, Weights


@ATTENTION.register("additive")
class Additive(MultiHeadAttention):
    """Each token asks a small network about every pair: the score is w·tanh(q + k)."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "alibi", "weights"})

    def __init__(self, d_model: int, n_heads: int, max_len: int, **given: Unpack[Given]) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.judge = nn.Parameter(torch.randn(n_heads, d_model // n_heads))

    def kept_per_pair(self, n_tokens: int) -> int:
        """Besides the weights, what the small network gives: a whole width for every pair."""
        return super().kept_per_pair(n_tokens) + self.judge.numel()

    def score(self, q: Queries, k: Keys) -> Weights:
        """Let each head's vector judge tanh(q + k)."""
        # Heads come as a view of the tokens; a sum in that order would be copied by every product.
        q, k = q.contiguous(), k.contiguous()
        hidden = torch.tanh(q[:, :, :, None] + k[:, :, None])  # (B, H, T, S, K)
        return (hidden @ self.judge[:, None, :, None]).squeeze(-1)
