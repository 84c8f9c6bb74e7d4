"""Attention Free Transformer (Zhai et al. 2021, arXiv:2105.14103).

Every coordinate is a head of its own: y_t = σ(q_t) · Σ_s e^{k_s + w_ts} v_s / Σ_s e^{k_s + w_ts},
where w_ts is a learned bias of two positions, a product of two narrow matrices as in the paper.
``full`` learns all w, ``local`` those of positions nearer than ``window`` (the rest is 0), and
``simple`` has none, which needs only running sums and costs as much as the row is long.
"""

from typing import Annotated, Literal

import torch
from annotated_types import Ge
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import (
    AttentionMask,
    AttentionOutput,
    Prefix,
    check_length,
)
from attnlab.attention.functional import init_qkv_proj
from attnlab.attention.pairs import distance
from attnlab.attention.sums import quotient

CHUNK = 128
"""Rows that share one reference for their exponents."""
LARGEST_EXPONENT = 80.0
"""e^80 and a chunk of them stay below float32's largest number."""


@ATTENTION.register("aft")
class AttentionFree(nn.Module):
    """Each token takes a running mean of the values, weighed by key and position, and gates it."""

    supports = frozenset({"causal", "bidirectional", "cache"})
    null_directions = ("key.bias",)  # a factor of all weights, which the quotient loses

    def __init__(
        self,
        d_model: int,
        n_heads: int,  # noqa: ARG002 - every variant is built alike
        max_len: int,
        *,
        dropout: float = 0.0,
        form: Literal["full", "local", "simple"] = "full",
        window: Annotated[int, Ge(1)] = 32,
        rank: Annotated[int, Ge(1)] = 128,
    ) -> None:
        super().__init__()
        self.form, self.window, self.max_len = form, window, max_len
        self.query, self.key, self.value = init_qkv_proj(d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        if form != "simple":
            self.left = nn.Parameter(torch.randn(max_len, rank) / rank)
            self.right = nn.Parameter(torch.randn(max_len, rank))

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Gate the weighed mean of the values."""
        assert prefix is None, "aft does not support a prefix"
        assert not need_weights, "aft has no weights of heads to show"
        k, v = self.key(x), self.value(x)
        if cache is not None:
            k, v = cache.extend(k, v)
        if mask.padding is not None:
            k = k.masked_fill(~mask.padding[..., None], -torch.inf)
        if self.form == "simple" and mask.causal and mask.segments is None and cache is None:
            mean = running_mean(k, v)
        else:
            mean = self._mean(k, v, mask, n_queries=x.shape[1])
        return AttentionOutput(self.proj(self.dropout(self.query(x).sigmoid() * mean)))

    def _mean(
        self,
        k: Float[Tensor, "B S D"],
        v: Float[Tensor, "B S D"],
        mask: AttentionMask,
        *,
        n_queries: int,
    ) -> Float[Tensor, "B T D"]:
        """Weigh every pair of positions, a chunk of rows at a time."""
        n_keys = k.shape[1]
        allowed = mask.dense(n_queries, n_keys, k.device)[:, 0]
        bias = self._bias(n_queries, n_keys, like=k).masked_fill(~allowed, -torch.inf)  # (b, T, S)
        shares = (bias - _finite(bias.detach().amax(-1, keepdim=True))).exp()
        # A causal row may not feel the future, not even in the rounding of a maximum over it: each
        # chunk of rows takes its reference from what its first row sees.
        size = CHUNK if mask.causal else n_queries
        first = n_keys - n_queries
        running = k.detach().logcumsumexp(1)
        means = []
        for start in range(0, n_queries, size):
            last = first + min(start + size, n_queries) if mask.causal else n_keys
            seen = first + start if mask.causal else -1
            e = _exponentials(k[:, :last], running[:, seen, None])
            share = shares[:, start : start + size, :last]
            means.append(quotient(share @ (e * v[:, :last]), share @ e))
        return torch.cat(means, dim=1)

    def _bias(self, n_queries: int, n_keys: int, *, like: Tensor) -> Float[Tensor, "T S"]:
        """Return w for the last queries; nothing for ``simple``."""
        if self.form == "simple":
            return like.new_zeros(n_queries, n_keys)
        check_length(n_keys, self.max_len, "the biases of positions")
        bias = self.left[n_keys - n_queries : n_keys] @ self.right[:n_keys].T
        if self.form == "full":
            return bias
        near = distance(n_queries, n_keys, like.device).abs() < self.window
        return bias.masked_fill(~near, 0.0)


def running_mean(k: Float[Tensor, "B T D"], v: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
    """Return Σ_{s ≤ t} e^{k_s} v_s / Σ_{s ≤ t} e^{k_s}, carrying the sums from chunk to chunk."""
    running = k.detach().logcumsumexp(1)
    reference = _finite(running[:, :1])
    above, below = torch.zeros_like(reference), torch.zeros_like(reference)
    means = []
    for start in range(0, k.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        old, reference = reference, _finite(running[:, start, None])
        shrink = (old - reference).clamp(max=0.0).exp()
        e = _exponentials(k[:, part], reference)
        above = above[:, -1:] * shrink + (e * v[:, part]).cumsum(1)
        below = below[:, -1:] * shrink + e.cumsum(1)
        means.append(quotient(above, below))
    return torch.cat(means, dim=1)


def _exponentials(k: Tensor, reference: Tensor) -> Tensor:
    """Return e^k over e^reference; only a key e^80 times as heavy as all before it is cut."""
    return (k - _finite(reference)).clamp(max=LARGEST_EXPONENT).exp()


def _finite(x: Tensor) -> Tensor:
    """Take 0 as the reference where everything so far is hidden."""
    return torch.where(x.isinf(), 0.0, x)
