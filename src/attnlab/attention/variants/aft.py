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
from attnlab.attention.context import distance
from attnlab.attention.contract import AttentionMask, AttentionOutput, Prefix, check_length
from attnlab.attention.functional import init_qkv_proj
from attnlab.attention.linear_core import quotient
from attnlab.dropout import Dropout

CHUNK = 128
"""Rows that share one reference for their exponents."""
LARGEST_RISE = 60.0
"""e^60, a chunk of them, and their products with values stay below float32's largest number."""


@ATTENTION.register("aft")
class AttentionFree(nn.Module):
    """Each token takes a running mean of the values, weighed by key and position, and gates it."""

    supports = frozenset({"causal", "bidirectional", "cache"})
    null_directions = ("key.bias",)  # a factor of all weights, which the quotient loses

    def __init__(
        self,
        d_model: int,
        n_heads: int,
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
        self.dropout = Dropout(dropout)
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
        first = n_keys - n_queries
        allowed = mask.dense(n_queries, n_keys, k.device)[:, 0]
        bias = self._bias(n_queries, n_keys, like=k).masked_fill(~allowed, -torch.inf)  # (b, T, S)
        if mask.segments is not None:
            return _mean_row_by_row(k, v, bias)
        shares = (bias - _finite(bias.detach().amax(-1, keepdim=True))).exp()
        running = k.detach().logcumsumexp(1)
        chunks = _chunks(running[:, first:]) if mask.causal else [slice(0, n_queries)]
        means = []
        for rows in chunks:
            last = first + rows.stop if mask.causal else n_keys
            reference = running[:, first + rows.start if mask.causal else -1, None]
            e = (k[:, :last] - _finite(reference)).exp()
            share = shares[:, rows, :last]
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
    for rows in _chunks(running):
        old, reference = reference, _finite(running[:, rows.start, None])
        shrink = (old - reference).clamp(max=0.0).exp()
        e = (k[:, rows] - reference).exp()
        above = above[:, -1:] * shrink + (e * v[:, rows]).cumsum(1)
        below = below[:, -1:] * shrink + e.cumsum(1)
        means.append(quotient(above, below))
    return torch.cat(means, dim=1)


def _chunks(running: Float[Tensor, "B T D"]) -> list[slice]:
    """Cut the rows so that e^key over what the first row of a chunk sees stays a number.

    A causal row may not feel the future, not even in the rounding of a maximum over it. So a chunk
    takes its reference from what its first row sees, and ends where the sum has outgrown that.
    """
    chunks, start, n_rows = [], 0, running.shape[1]
    while start < n_rows:
        rise = running[:, start : start + CHUNK] - running[:, start, None]
        too_far = (rise.nan_to_num(0.0) > LARGEST_RISE).flatten(2).any(-1).any(0).nonzero()
        length = int(too_far[0]) if len(too_far) else CHUNK
        chunks.append(slice(start, min(start + length, n_rows)))
        start += length
    return chunks


def _mean_row_by_row(
    k: Float[Tensor, "B S D"], v: Float[Tensor, "B S D"], bias: Float[Tensor, "B T S"]
) -> Float[Tensor, "B T D"]:
    """Do it for each row by itself; segments have no sum in common to compare with."""
    means = []
    for row in bias.unbind(1):
        scores = k + row[..., None]
        e = (scores - _finite(scores.detach().amax(1, keepdim=True))).exp()
        means.append(quotient((e * v).sum(1), e.sum(1)))
    return torch.stack(means, dim=1)


def _finite(x: Tensor) -> Tensor:
    """Take 0 as the reference where everything so far is hidden."""
    return torch.where(x.isinf(), 0.0, x)
