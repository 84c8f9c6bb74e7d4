"""Sliding-window attention (Beltagy et al. 2020, arXiv:2004.05150): only the nearest tokens.

The row is cut into chunks as long as the window. A query then finds all its keys in its own chunk
and the one before (and after, if it may look ahead), so that the cost is linear in the length.
"""

from typing import Annotated, Unpack

import torch
import torch.nn.functional as F
from annotated_types import Ge
from jaxtyping import Float
from torch import Tensor

from attnlab.attention import ATTENTION
from attnlab.attention.context import Context
from attnlab.attention.contract import CAPABILITIES
from attnlab.attention.functional import (
    attn_scaled,
    attn_softmax,
    compute_outputs,
    pairwise_similarities,
)
from attnlab.attention.softmax_core import (
    Given,
    Keys,
    MultiHeadAttention,
    Queries,
    Weights,
    masked_softmax,
    null_key_bias,
)


@ATTENTION.register("sliding_window")
class SlidingWindow(MultiHeadAttention):
    """Each token looks at itself and the ``window`` − 1 nearest tokens on each side it may see."""

    supports = frozenset(CAPABILITIES)

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        window: Annotated[int, Ge(2)] = 64,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.null_directions = null_key_bias(self.positions)
        self.window = window

    def kept_per_pair(self, n_tokens: int) -> int:
        """Longer rows are cut into chunks."""
        return self.n_heads if n_tokens <= self.window else 0

    def mix(
        self, q: Queries, k: Keys, v: Keys, context: Context, *, need_weights: bool
    ) -> tuple[Queries, Weights | None]:
        """Attend within the window, in chunks unless all pairs are wanted or needed."""
        q = attn_scaled(q, q.shape[-1], 1)
        alone = context.cache is None and context.prefix is None
        if alone and not need_weights and q.shape[2] > self.window:
            return self._in_chunks(q, k, v, context), None
        bias = context.bias(q, k, window=self.window)
        weights = masked_softmax(pairwise_similarities(q, k), bias)
        return compute_outputs(self.dropout(weights), v), weights

    def _in_chunks(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        v: Float[Tensor, "B H T K"],
        context: Context,
    ) -> Float[Tensor, "B H T K"]:
        n_tokens, causal = q.shape[2], context.mask.causal
        q = self._chunks(q)  # (B, H, N, C, K)
        k, v = (_with_neighbours(self._chunks(x), ahead=not causal) for x in (k, v))
        bias, allowed = self._bias(n_tokens, context, q.device)
        scores = pairwise_similarities(q, k) + torch.where(
            allowed, bias.to(q.dtype), torch.finfo(q.dtype).min
        )
        y = compute_outputs(self.dropout(attn_softmax(scores)), v)
        fully_masked = ~allowed.any(-1, keepdim=True)
        return y.masked_fill(fully_masked, 0.0).flatten(2, 3)[:, :, :n_tokens]

    def _bias(self, n_tokens: int, context: Context, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return the positions' bias (H, 1, C, S) and who sees whom (b, 1, N, C, S)."""
        mask, ahead = context.mask, not context.mask.causal
        query = torch.arange(self.window, device=device)
        key = torch.arange(-self.window, (1 + ahead) * self.window, device=device)
        far = query[:, None] - key
        near = (far.abs() < self.window) if ahead else (far >= 0) & (far < self.window)
        real = torch.ones(1, n_tokens, dtype=torch.bool, device=device)
        real = real if mask.padding is None else mask.padding
        allowed = near & self._neighbouring(real, ahead=ahead).transpose(-2, -1)
        if mask.segments is not None:
            own = self._chunks(mask.segments[:, None, :, None])
            others = self._neighbouring(mask.segments, ahead=ahead)
            allowed = allowed & (own == others.transpose(-2, -1))
        given = None if context.positions is None else context.positions.bias(far)
        return torch.zeros((), device=device) if given is None else given[:, None], allowed

    def _neighbouring(self, per_token: Tensor, *, ahead: bool) -> Tensor:
        """Return what the keys of each chunk have, (b, 1, N, S, 1)."""
        return _with_neighbours(self._chunks(per_token[:, None, :, None]), ahead=ahead)

    def _chunks(self, x: Tensor) -> Tensor:
        """Cut the tokens, filled up with zeros, into chunks."""
        filled = F.pad(x, (0, 0, 0, -x.shape[2] % self.window))
        return filled.view(*x.shape[:2], -1, self.window, x.shape[-1])


def _with_neighbours(chunks: Tensor, *, ahead: bool) -> Tensor:
    """Put the chunk before, and if wanted the one after, next to every chunk."""
    wide = F.pad(chunks, (0, 0, 0, 0, 1, 1))
    n_chunks = chunks.shape[2]
    return torch.cat([wide[:, :, i : i + n_chunks] for i in range(2 + ahead)], dim=3)
