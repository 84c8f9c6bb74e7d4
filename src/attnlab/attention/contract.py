"""What every attention variant takes and gives."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class AttentionMask:
    """Who may look at whom. The dense T × S form is made on request only."""

    causal: bool = False
    padding: Bool[Tensor, "B S"] | None = None
    """True where a key is a real token."""
    segments: Int[Tensor, "B T"] | None = None
    """Tokens of different segments do not see each other."""

    def dense(self, n_queries: int, n_keys: int, device: torch.device) -> Bool[Tensor, "b 1 T S"]:
        """Return True where a query may look at a key; the last query stands at the last key."""
        allowed = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device)
        if self.causal:
            allowed = allowed.tril(n_keys - n_queries)
        allowed = allowed[None, None]
        if self.padding is not None:
            allowed = allowed & self.padding[:, None, None, :]
        if self.segments is not None:
            queries = self.segments[:, -n_queries:]
            allowed = allowed & (queries[:, None, :, None] == self.segments[:, None, None, :])
        return allowed


class AttentionOutput(NamedTuple):
    """What the tokens take home, and if asked for, where they looked."""

    out: Float[Tensor, "B T D"]
    weights: Float[Tensor, "B H T S"] | None = None
