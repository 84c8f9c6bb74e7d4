"""What the variants share that give every pair of tokens a score.

Most of them go the same way, and what is their own is in the middle: ``project``, scores,
``masked_softmax`` with the context's ``bias``, ``mix``.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.attention.contract import (
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
    check_heads,
    check_length,
)
from attnlab.attention.functional import (
    attn_softmax,
    compute_outputs,
    init_qkv_proj,
    merge_heads,
    split_heads,
    split_heads_qkv,
)


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

    def bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H S K"],
        *,
        window: int | None = None,
    ) -> "Bias":
        """Work out who sees whom; ``window`` keeps to keys that are nearer than so many tokens."""
        mask, n_prefix = self.mask, self.n_prefix
        n_queries, n_keys = q.shape[2], k.shape[2] - n_prefix
        added = torch.zeros((), dtype=q.dtype, device=q.device)
        if self.positions is not None:
            given = self.positions.bias(distance(n_queries, n_keys, q.device, n_prefix=n_prefix))
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


class Bias(NamedTuple):
    """What a mask and the positions do to scores, and which queries see nothing at all."""

    added: Float[Tensor, "b h T S"] | None = None
    """0 where a query may look, the lowest finite number where not, and the positions' bias."""
    fully_masked: Bool[Tensor, "b 1 T 1"] | None = None
    """None if every query sees something, as it does without padding and segments."""


def projections(d_model: int, n_heads: int) -> tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear]:
    """Make W_Q, W_K, W_V and the projection of what the heads found, each with a bias."""
    check_heads(d_model, n_heads)
    return (*init_qkv_proj(d_model), nn.Linear(d_model, d_model))


def project(
    x: Float[Tensor, "B T D"],
    context: Context,
    *,
    by: tuple[nn.Module, nn.Module, nn.Module],
    n_heads: int,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H S K"], Float[Tensor, "B H S K"]]:
    """Begin: make queries of the tokens, and keys and values of all that they may look at."""
    query, key, value = by
    return apply_context(*split_heads_qkv(query(x), key(x), value(x), n_heads), context)


def mix(
    weights: Float[Tensor, "B H T S"],
    v: Float[Tensor, "B H S K"],
    *,
    dropout: nn.Dropout,
    proj: nn.Module,
    need_weights: bool,
) -> AttentionOutput:
    """End: mix the values by the weights, and project what the heads found."""
    y = compute_outputs(dropout(weights), v)
    return AttentionOutput(proj(merge_heads(y)), weights if need_weights else None)


def project_values(
    x: Float[Tensor, "B T D"],
    context: Context,
    *,
    by: nn.Module,
    n_heads: int,
    max_len: int,
) -> Float[Tensor, "B H S K"]:
    """Begin where scores do not come from queries and keys: make values of all there is to see."""
    assert context.prefix is None, "a prefix has no column in the rows of scores"
    v = split_heads(by(x), n_heads)
    *_, v = apply_context(v, v, v, context)
    check_length(v.shape[2], max_len, "the rows of scores")
    return v


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
