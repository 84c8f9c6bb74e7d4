"""What an attention layer sees besides its own tokens: mask, cache, prefix and positions."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Positions, Prefix


class Context(NamedTuple):
    """The arguments of ``forward`` besides the tokens, and the layer's positions."""

    mask: AttentionMask
    cache: Cache | None = None
    prefix: Prefix | None = None
    positions: Positions | None = None

    @property
    def n_prefix(self) -> int:
        """How many keys come before the tokens."""
        return 0 if self.prefix is None else self.prefix.keys.shape[2]

    def turn(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H N K"]
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H N K"]]:
        """Put queries and keys at their positions, after the tokens in the cache."""
        if self.positions is None:
            return q, k
        start = 0 if self.cache is None else self.cache.n_tokens
        return self.positions.turn(q, start), self.positions.turn(k, start)

    def extend(
        self, k: Float[Tensor, "B H N K"], v: Float[Tensor, "B H N K"]
    ) -> tuple[Float[Tensor, "B H S K"], Float[Tensor, "B H S K"]]:
        """Put the keys and values of the cache and the prefix in front of the new ones."""
        if self.cache is not None:
            k, v = self.cache.extend(k, v)
        if self.prefix is not None:
            k, v = (
                torch.cat([before.expand(len(new), -1, -1, -1), new], dim=2)
                for before, new in zip(self.prefix, (k, v), strict=True)
            )
        return k, v

    def bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H S K"],
        *,
        window: int | None = None,
    ) -> "Bias":
        """Work out who sees whom; ``window`` hides keys that are at least that many tokens away."""
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
    """What the mask and the positions add to the scores, and which queries see nothing at all."""

    added: Float[Tensor, "b h T S"] | None = None
    """The positions' bias where a query may look, the lowest finite number where it may not."""
    fully_masked: Bool[Tensor, "b 1 T 1"] | None = None
    """None if every query sees something, as it does without padding and segments."""


def distance(
    n_queries: int, n_keys: int, device: torch.device, *, n_prefix: int = 0
) -> Int[Tensor, "T S"]:
    """Return how many tokens back each key is; 0 for those of a prefix, which have no position."""
    key = torch.arange(n_keys, device=device)
    return F.pad(key[n_keys - n_queries :, None] - key, (n_prefix, 0))
