"""What every attention variant takes and returns.

A variant is a module built as ``Variant(d_model, n_heads, max_len, *, dropout=0.0, ...)``. It is
called as ``forward(x, *, mask, cache=None, prefix=None, need_weights=False)`` and returns an
``AttentionOutput``. Its class declares ``supports``, a subset of ``CAPABILITIES``, and where they
apply ``breaks``, the promises it breaks, and ``null_directions``, the parameters whose gradient is
zero whatever the data. A variant that supports rotary or ALiBi also takes ``positions``.

Any ``torch.nn.Module`` may be one. ``softmax_core.py`` has a frame that keeps all of this, so that
a variant with a score of its own need only write that.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.errors import UserError

CAPABILITIES = ("causal", "bidirectional", "cache", "prefix", "rotary", "alibi", "weights")
MOST_HEADS = 1024
"""That a message looks for."""


@dataclass(frozen=True)
class AttentionMask:
    """Who may look at whom. The dense T × S form is made only on request."""

    causal: bool = False
    padding: Bool[Tensor, "B S"] | None = None
    """True where a key is a real token; keys of a cache count, those of a prefix do not."""
    segments: Int[Tensor, "B S"] | None = None
    """Tokens of different segments do not see each other."""

    def dense(
        self, n_queries: int, n_keys: int, device: torch.device, *, n_prefix: int = 0
    ) -> Bool[Tensor, "b 1 T S"]:
        """Return True where a query may look at a key; the last query is at the last key.

        The keys of a prefix come first and are seen by everybody.
        """
        allowed = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device)
        if self.causal:
            allowed = allowed.tril(n_keys - n_queries)
        allowed = allowed[None, None]
        if self.padding is not None:
            allowed = allowed & self.padding[:, None, None, :]
        if self.segments is not None:
            queries = self.segments[:, n_keys - n_queries :]
            allowed = allowed & (queries[:, None, :, None] == self.segments[:, None, None, :])
        return F.pad(allowed, (n_prefix, 0), value=True)


class Prefix(NamedTuple):
    """Keys and values in front of every row, such as those that prefix tuning learns."""

    keys: Float[Tensor, "b H P K"]
    values: Float[Tensor, "b H P K"]


class AttentionOutput(NamedTuple):
    """A new vector for every token, and on request where each head looked."""

    out: Float[Tensor, "B T D"]
    weights: Float[Tensor, "B H T S"] | None = None


class Positions(nn.Module):
    """How a model knows the order of tokens; each scheme does one of these three things.

    ``start`` is the position of the first token, which is not 0 after a cache.
    """

    needs: str | None = None
    """What an attention must support to work with it; nothing if it only adds to x."""

    def add(self, x: Float[Tensor, "B T D"], start: int = 0) -> Float[Tensor, "B T D"]:  # noqa: ARG002
        """Add to the tokens' vectors, once, before the first layer."""
        return x

    def turn(self, x: Float[Tensor, "B H T K"], start: int = 0) -> Float[Tensor, "B H T K"]:  # noqa: ARG002
        """Turn queries or keys, in every layer."""
        return x

    def bias(self, distance: Int[Tensor, "T S"]) -> Float[Tensor, "H T S"] | None:  # noqa: ARG002
        """Return what is added to the scores; ``distance`` is how far back a key is."""
        return None


def check_heads(d_model: int, n_heads: int) -> None:
    """Refuse a width that cannot be divided among the heads."""
    if n_heads < 1 or d_model % n_heads:
        fitting = [n for n in range(1, min(d_model, MOST_HEADS) + 1) if d_model % n == 0]
        raise UserError(
            f"d_model = {d_model} does not divide into n_heads = {n_heads} heads."
            f" Numbers of heads that do: {', '.join(str(n) for n in fitting[:8])}."
        )


def check_length(n_tokens: int, max_len: int, what: str) -> None:
    """Refuse a sequence that is longer than what was built for it."""
    if n_tokens > max_len:
        raise UserError(
            f"a sequence of {n_tokens} tokens is longer than max_len = {max_len}, where {what} end."
            " Shorten it or build the model with a larger max_len."
        )
