"""What the variants share that give every pair of tokens a score."""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Positions, Prefix
from attnlab.attention.functional import attn_softmax, compute_outputs


class Context(NamedTuple):
    """All that a layer looks at besides its own tokens."""

    mask: AttentionMask
    cache: Cache | None = None
    prefix: Prefix | None = None
    positions: Positions | None = None

    @property
    def n_prefix(self) -> int:
        """How many keys stand before the tokens."""
        return 0 if self.prefix is None else self.prefix.keys.shape[2]


class Bias(NamedTuple):
    """What a mask and the positions do to scores, and which queries see nothing at all."""

    added: Float[Tensor, "b h T S"] | None = None
    """0 where a query may look, the lowest finite number where not, and the positions' bias."""
    fully_masked: Bool[Tensor, "b 1 T 1"] | None = None
    """None if every query sees something, as it does without padding and segments."""


def attend(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H T K"],
    v: Float[Tensor, "B H T K"],
    *,
    score: Callable[[Tensor, Tensor], Tensor],
    context: Context,
    dropout: nn.Dropout,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T S"]]:
    """Score every query with every key, share out the attention, mix the values."""
    q, k, v = apply_context(q, k, v, context)
    weights = masked_softmax(score(q, k), bias_of(q, k, context))
    return compute_outputs(dropout(weights), v), weights


def apply_context(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H N K"],
    v: Float[Tensor, "B H N K"],
    context: Context,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H S K"], Float[Tensor, "B H S K"]]:
    """Put queries and keys at their positions, and what was seen before in front of the keys."""
    _, cache, prefix, positions = context
    if positions is not None:
        start = 0 if cache is None else cache.n_tokens
        q, k = positions.turn(q, start), positions.turn(k, start)
    if cache is not None:
        k, v = cache.extend(k, v)
    if prefix is not None:
        k, v = (
            torch.cat([before.expand(len(new), -1, -1, -1), new], dim=2)
            for before, new in ((prefix.keys, k), (prefix.values, v))
        )
    return q, k, v


def bias_of(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H S K"],
    context: Context,
    *,
    window: int | None = None,
) -> Bias:
    """Work out who sees whom; ``window`` keeps to keys that are nearer than so many tokens."""
    mask, n_prefix = context.mask, context.n_prefix
    n_queries, n_keys = q.shape[2], k.shape[2] - n_prefix
    added = torch.zeros((), dtype=q.dtype, device=q.device)
    if context.positions is not None:
        given = context.positions.bias(distance(n_queries, n_keys, q.device, n_prefix=n_prefix))
        added = added if given is None else given[None].to(q.dtype)
    incomplete = mask.padding is not None or mask.segments is not None
    if not incomplete and window is None and (not mask.causal or n_queries == 1):
        return Bias(added if added.dim() else None)
    allowed = mask.dense(n_queries, n_keys, q.device, n_prefix=n_prefix)
    if window is not None:
        near = distance(n_queries, n_keys, q.device, n_prefix=n_prefix).abs() < window
        allowed = allowed & near
    fully_masked = ~allowed.any(-1, keepdim=True) if incomplete else None
    return Bias(
        torch.where(allowed, added, torch.finfo(q.dtype).min),
        fully_masked if fully_masked is not None and fully_masked.any() else None,
    )


def masked_softmax(scores: Float[Tensor, "B H T S"], bias: Bias) -> Float[Tensor, "B H T S"]:
    """Share out one unit of attention a query; a query that sees nothing gives none.

    The lowest finite number hides a key as −∞ does, and keeps such a query's weights numbers.
    """
    if bias.added is not None:
        scores = scores + bias.added
    weights = attn_softmax(scores)
    return weights if bias.fully_masked is None else weights.masked_fill(bias.fully_masked, 0.0)


def distance(
    n_queries: int, n_keys: int, device: torch.device, *, n_prefix: int = 0
) -> Int[Tensor, "T S"]:
    """Return how many tokens back each key lies; 0 for those of a prefix, which lie nowhere."""
    key = torch.arange(n_keys, device=device)
    return F.pad(key[n_keys - n_queries :, None] - key, (n_prefix, 0))


def null_key_bias(positions: Positions | None, name: str = "key.bias") -> tuple[str, ...]:
    """Name the keys' bias if it is null: it shifts all scores of a row alike, as softmax ignores.

    Rotary positions turn it by another angle at every key, and then it counts.
    """
    return () if positions is not None and positions.needs == "rotary" else (name,)
