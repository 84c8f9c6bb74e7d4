"""Shared by variants whose score is a product of features, φ(q)·φ(k): sums instead of pairs.

Such attention is φ(q) Σ φ(k) vᵀ over φ(q) Σ φ(k), and the sums do not depend on the query, so that
a row costs as much as it is long. A 1 is put behind every value; its sum is the denominator.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attnlab.attention.cache import has_rows
from attnlab.attention.context import Context
from attnlab.attention.functional import merge_heads
from attnlab.attention.softmax_core import MultiHeadAttention

CHUNK = 64
"""Tokens that are compared pair by pair; what lies before them is met as one sum."""


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
        y, weights = attend_by_sums(
            self.query_features(q),
            self.key_features(k),
            v,
            context,
            features_of_keys=self.key_features,
            need_weights=need_weights,
        )
        return self.dropout(merge_heads(y)), weights

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
    features_of_keys: Callable[[Tensor], Tensor],
    need_weights: bool,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T S"] | None]:
    """Mix the values, in time linear in the tokens; ``q`` and ``k`` are features already.

    Weights, for those who ask where the queries looked, cost a pass in T × S.
    """
    mask, cache = context.mask, context.cache
    assert cache is None or mask.causal, "a cache is for text that is written on"
    assert cache is None or mask.segments is None, "a cache has one sum, not one for all segments"
    k, v = _hide_padding(k, context), _with_one(v)
    weights = _weights_of(q, k, context, features_of_keys) if need_weights else None
    before = None if cache is None else cache.sums
    if before is None and context.prefix is not None:
        keys = features_of_keys(context.prefix.keys)
        before = keys.transpose(-2, -1) @ _with_one(context.prefix.values)
        before = before.expand(len(q), -1, -1, -1)
    if mask.segments is not None:
        sums = compare_pairs(q, k, context) @ v
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


def compare_pairs(
    q: Float[Tensor, "B H T M"], k: Float[Tensor, "B H S M"], context: Context
) -> Float[Tensor, "B H T S"]:
    """Return φ(q)·φ(k) where a query may look, and 0 elsewhere: the same in quadratic time."""
    allowed = context.mask.dense(q.shape[2], k.shape[2], q.device)
    return (q @ k.transpose(-2, -1)).masked_fill(~allowed, 0.0)


def _weights_of(
    q: Tensor, k: Tensor, context: Context, features_of_keys: Callable[[Tensor], Tensor]
) -> Float[Tensor, "B H T S"]:
    assert not has_rows(context.cache), "the sums of a cache do not tell where they came from"
    products = compare_pairs(q, k, context)
    if context.prefix is not None:
        before = q @ features_of_keys(context.prefix.keys).transpose(-2, -1)
        products = torch.cat([before, products], dim=-1)
    return quotient(products, products.sum(-1, keepdim=True))


def quotient(above: Float[Tensor, "*B N"], below: Float[Tensor, "*B n"]) -> Float[Tensor, "*B N"]:
    """Divide; who sees nothing has 0 below, and takes 0 home."""
    return above / torch.where(below == 0, 1.0, below)


def _hide_padding(k: Tensor, context: Context) -> Tensor:
    """Give padding no features, so that no sum counts it."""
    padding = context.mask.padding
    if padding is None:
        return k
    return k.masked_fill(~padding[:, None, -k.shape[2] :, None], 0.0)


def _with_one(v: Tensor) -> Tensor:
    return F.pad(v, (0, 1), value=1.0)


def _in_chunks(x: Tensor) -> Tensor:
    """Cut the tokens into chunks; zeros fill up the last and add nothing to any sum."""
    filled = F.pad(x, (0, 0, 0, -x.shape[2] % CHUNK))
    return filled.view(*x.shape[:2], -1, CHUNK, x.shape[-1])
