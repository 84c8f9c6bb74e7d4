"""The frame of the variants that turn scores into weights with a softmax.

Signatures and steps are written here once, so that a variant's file holds only what is its own:

- a score for each query and key: derive from ``MultiHeadAttention`` and write ``score``;
- other weights: override ``weights``; another way to mix the values: override ``mix``;
- other projections: derive from ``AttentionLayer`` and make them in the constructor.

None of this is required: any ``torch.nn.Module`` that keeps the contract is a variant.
"""

from typing import TypedDict, Unpack

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.attention.context import Bias, Context
from attnlab.attention.contract import (
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
    check_heads,
)
from attnlab.attention.functional import (
    attn_softmax,
    compute_outputs,
    init_qkv_proj,
    merge_heads,
    split_heads_qkv,
)
from attnlab.attention.watching import note_scores
from attnlab.dropout import Dropout

Queries = Float[Tensor, "B H T K"]
Keys = Float[Tensor, "B H S K"]
"""Of the values, too."""
Weights = Float[Tensor, "B H T S"]
"""Of the scores, too: one row per query, one column per key."""


class Given(TypedDict, total=False):
    """What the model gives to its attention; a variant with options of its own passes it on."""

    dropout: float
    positions: Positions | None


class AttentionLayer(nn.Module):
    """The constructor and ``forward`` of the contract; a subclass makes the projections."""

    query: nn.Module
    key: nn.Module
    value: nn.Module
    proj: nn.Module

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads, self.max_len = n_heads, max_len
        self.dropout, self.positions = Dropout(dropout), positions

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Let every head attend, and project what the heads found."""
        context = Context(mask, cache, prefix, self.positions)
        y, weights = self.attend(x, context, need_weights=need_weights)
        return AttentionOutput(self.proj(y), weights if need_weights else None)

    def attend(
        self, x: Float[Tensor, "B T D"], context: Context, *, need_weights: bool
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B H T S"] | None]:
        """Return the heads' outputs side by side, and the weights if they are at hand."""
        q, k, v = self.project(x)
        q, k = context.turn(q, k)
        k, v = context.extend(k, v)
        y, weights = self.mix(q, k, v, context, need_weights=need_weights)
        return merge_heads(y), weights

    def kept_per_pair(self, n_tokens: int) -> int:  # noqa: ARG002 - some go by the length
        """Count the numbers that training keeps per pair of tokens, for rows so long."""
        return self.n_heads

    def project(
        self, x: Float[Tensor, "B T D"]
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        """Make queries, keys and values of the tokens."""
        return split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_heads)

    def mix(
        self,
        q: Queries,
        k: Keys,
        v: Keys,
        context: Context,
        *,
        need_weights: bool,  # noqa: ARG002 - some save work without them
    ) -> tuple[Queries, Weights | None]:
        """Mix the values by their weights."""
        weights = self.weights(q, k, context)
        return compute_outputs(self.dropout(weights), v), weights

    def weights(self, q: Queries, k: Keys, context: Context) -> Weights:
        """Return how much each query takes from each key."""
        return masked_softmax(self.score(q, k), context.bias(q, k))

    def score(self, q: Queries, k: Keys) -> Weights:
        """Return how well each query matches each key."""
        raise NotImplementedError(f"{type(self).__name__} has no score")


class MultiHeadAttention(AttentionLayer):
    """The same with the usual four projections W_Q, W_K, W_V and W_O, each with a bias."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    proj: nn.Linear

    def __init__(self, d_model: int, n_heads: int, max_len: int, **given: Unpack[Given]) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.query, self.key, self.value = init_qkv_proj(d_model)
        self.proj = nn.Linear(d_model, d_model)


def masked_softmax(scores: Float[Tensor, "B H T S"], bias: Bias) -> Float[Tensor, "B H T S"]:
    """Give each query weights that sum to 1, or weights of 0 if it sees nothing.

    The lowest finite number hides a key as −∞ does, and keeps such a query's weights finite.
    """
    note_scores(scores, bias)
    if bias.added is not None:
        scores = scores + bias.added
    # torch's softmax over few numbers takes twice to four times as long in bfloat16
    wide = scores.float() if scores.dtype == torch.bfloat16 else scores
    weights = attn_softmax(wide).to(scores.dtype)
    return weights if bias.fully_masked is None else weights.masked_fill(bias.fully_masked, 0.0)


def null_key_bias(positions: Positions | None, name: str = "key.bias") -> tuple[str, ...]:
    """Name the keys' bias if it is null: it shifts all scores of a row alike, as softmax ignores.

    Rotary positions turn it by another angle at every key, and then it counts.
    """
    return () if positions is not None and positions.needs == "rotary" else (name,)
