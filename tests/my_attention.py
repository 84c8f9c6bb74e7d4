"""An attention class as a student would write it, in plain PyTorch: an example to start from."""

import math

import torch
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, AttentionOutput, Prefix


class MyAttention(nn.Module):
    """Scaled dot-product attention with several heads."""

    supports = frozenset({"causal", "bidirectional", "weights"})
    null_directions = ("key.bias",)  # it shifts all scores of a row alike; softmax does not see it

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:  # noqa: ARG002
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Tensor,
        *,
        mask: AttentionMask,
        cache: Cache | None = None,  # noqa: ARG002 - it is not among what it supports
        prefix: Prefix | None = None,  # noqa: ARG002
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Compare queries with keys, hide what may not be seen, mix the values."""
        B, T, D = x.shape
        q, k, v = (self.split(projection(x)) for projection in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(D // self.n_heads)
        allowed = mask.dense(T, T, x.device)
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        weights = weights.masked_fill(~allowed, 0.0)  # for a token that sees nothing
        y = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return AttentionOutput(self.proj(y), weights if need_weights else None)

    def split(self, x: Tensor) -> Tensor:
        """Give every head its part of each token."""
        B, T, _ = x.shape
        return x.view(B, T, self.n_heads, -1).transpose(1, 2)
