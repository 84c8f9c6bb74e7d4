"""Shared by variants whose score is a product of features, φ(q)·φ(k): sums instead of pairs.

Such attention is φ(q) Σ φ(k) vᵀ over φ(q) Σ φ(k), and the sums do not depend on the query, so that
the cost is linear in the length. A 1 is appended to every value; its sum is the denominator.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attnlab.attention.context import Context
from attnlab.attention.contract import Prefix
from attnlab.attention.functional import merge_heads
from attnlab.attention.softmax_core import MultiHeadAttention

CHUNK = 64
"""Tokens that are compared pair by pair; those before them enter as one sum."""


class FeatureAttention(MultiHeadAttention):
    """A variant of this kind says in ``key_features`` what φ is.

    There are no weights to drop: dropout acts on the outputs.
    """

    def attend(
        self, x: Float[Tensor, "B T D"], context: Context, *, need_weights: bool
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B H T S"] | None]:
        """Mix the values by sums of features."""
        q, k, v = self.project(x)
        q, k = context.turn(q, k)
        if context.prefix is not None:
            keys, values = context.prefix
            context = context._replace(prefix=Prefix(self.key_features(keys), values))
        q, k = self.query_features(q), self.key_features(k)
        y, weights = attend_by_sums(q, k, v, context, need_weights=need_weights)
        return self.dropout(merge_heads(y)), weights

    def kept_per_pair(self, n_tokens: int) -> int:  # noqa: ARG002 - never any
        """There are sums of features instead."""
        return 0

    def key_features(self, k: Float[Tensor, "b H S K"]) -> Float[Tensor, "b H S M"]:
        """Return φ of the keys: positive numbers."""
        raise NotImplementedError(f"{type(self).__name__} has no features")

    def query_features(self, q: Float[Tensor, "B H T K"]) -> Float[Tensor, "B H T M"]:
        """Return φ of the queries, the same as the keys' unless they may differ by a factor."""
        return self.key_features(q)


def attend_by_sums(
    q: Float[Tensor, "B H T M"],
    k: Float[Tensor, "B H T M"],
    v: Float[Tensor, "B H T K"],
    context: Context,
    *,
    need_weights: bool,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T S"] | None]:
    """Mix the values in linear time; queries and keys, also those of a prefix, are features.

    Weights, which show where the queries looked, cost a pass in T × S.
    """
    mask, cache, prefix, _ = context
    assert cache is None or mask.causal, "a cache is for text that is written on"
    assert cache is None or mask.segments is None, "a cache has one sum, not one for all segments"
    if mask.padding is not None:  # without features, no sum counts it
        k = k.masked_fill(~mask.padding[:, None, -k.shape[2] :, None], 0.0)
    weights = _weights(q, k, context) if need_weights else None
    v = F.pad(v, (0, 1), value=1.0)
    before = None if cache is None else cache.sums
    if before is None and prefix is not None:
        before = prefix.keys.transpose(-2, -1) @ F.pad(prefix.values, (0, 1), value=1.0)
        before = before.expand(len(q), -1, -1, -1)
    if mask.segments is not None:
        sums = _products(q, k, context) @ v
        sums = sums if before is None else sums + q @ before
    elif mask.causal:
        sums, after = causal_sums(q, k, v, before)
        if cache is not None:
            cache.replace(after, q.shape[2])
    else:
        all_of_it = k.transpose(-2, -1) @ v
        sums = q @ (all_of_it if before is None else all_of_it + before)
    return quotient(sums[..., :-1], sums[..., -1:]), weights


def causal_sums(
    q: Float[Tensor, "B H T M"],
    k: Float[Tensor, "B H T M"],
    v: Float[Tensor, "B H T K"],
    before: Float[Tensor, "B H M K"] | None,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H M K"]]:
    """Return φ(q_t) Σ_{s ≤ t} φ(k_s) v_s for every token, and the sum over all of them."""
    n_tokens = q.shape[2]
    q, k, v = (_in_chunks(x) for x in (q, k, v))  # (B, H, N, C, ·)
    sums = k.transpose(-2, -1) @ v  # (B, H, N, M, K)
    first = torch.zeros_like(sums[:, :, :1]) if before is None else before[:, :, None]
    up_to = torch.cat([first, sums], dim=2).cumsum(dim=2)  # (B, H, N + 1, M, K)
    inside = (q @ k.transpose(-2, -1)).tril() @ v
    return (inside + q @ up_to[:, :, :-1]).flatten(2, 3)[:, :, :n_tokens], up_to[:, :, -1]


def quotient(above: Float[Tensor, "*B N"], below: Float[Tensor, "*B n"]) -> Float[Tensor, "*B N"]:
    """Divide; a token that sees nothing has 0 below, and gets 0."""
    return above / torch.where(below == 0, 1.0, below)


def _weights(
    q: Float[Tensor, "B H T M"], k: Float[Tensor, "B H T M"], context: Context
) -> Float[Tensor, "B H T S"]:
    started = context.cache is not None and context.cache.n_tokens > 0
    assert not started, "the sums in a cache do not show where they came from"
    products = _products(q, k, context)
    if context.prefix is not None:
        products = torch.cat([q @ context.prefix.keys.transpose(-2, -1), products], dim=-1)
    return quotient(products, products.sum(-1, keepdim=True))


def _products(
    q: Float[Tensor, "B H T M"], k: Float[Tensor, "B H S M"], context: Context
) -> Float[Tensor, "B H T S"]:
    """Return φ(q)·φ(k) where a query may look, and 0 elsewhere: the same in quadratic time."""
    allowed = context.mask.dense(q.shape[2], k.shape[2], q.device)
    return (q @ k.transpose(-2, -1)).masked_fill(~allowed, 0.0)


def _in_chunks(x: Tensor) -> Tensor:
    """Cut the tokens into chunks; zeros fill up the last and add nothing to any sum."""
    filled = F.pad(x, (0, 0, 0, -x.shape[2] % CHUNK))
    return filled.view(*x.shape[:2], -1, CHUNK, x.shape[-1])
