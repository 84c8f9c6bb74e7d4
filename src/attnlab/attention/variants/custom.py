"""Attention with a score of your own: any function of two vectors.

    def my_score(q, k):                # two vectors of the width of a head
        return -(q - k).abs().sum()    # a number; larger means: look there

``--set model.attention.options.score=my_file.py:my_score`` uses it for every pair of tokens.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import (
    AttentionMask,
    AttentionOutput,
    Positions,
    Prefix,
    check_heads,
)
from attnlab.attention.functional import init_qkv_proj, merge_heads, split_heads_qkv
from attnlab.attention.softmax_core import Context, attend
from attnlab.dropout import Dropout
from attnlab.errors import UserError
from attnlab.registry import load_part, telling_the_line


@ATTENTION.register("custom")
class Custom(nn.Module):
    """Each token looks where a function of its query and the key says so."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "alibi", "weights"})

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,  # noqa: ARG002 - every variant is built alike
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
        score: str | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.query, self.key, self.value = init_qkv_proj(d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)
        self.positions = positions
        self.function = negative_distance if score is None else _load(score, d_model // n_heads)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Mix the values by the softmax of the scores."""
        q, k, v = split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_heads)
        context = Context(mask, cache, prefix, self.positions)
        y, weights = attend(q, k, v, score=self.score, context=context, dropout=self.dropout)
        return AttentionOutput(self.proj(merge_heads(y)), weights if need_weights else None)

    def score(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H S K"]
    ) -> Float[Tensor, "B H T S"]:
        """Call the function for every pair, all at once."""
        every_key = torch.vmap(self.function, in_dims=(None, 0))
        every_pair = torch.vmap(every_key, in_dims=(0, None))
        scores: Tensor = torch.vmap(torch.vmap(every_pair))(q, k)
        return scores


def _load(reference: str, width: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Load a user's function and try it on two vectors."""
    function: Callable[[Tensor, Tensor], Tensor] = load_part(reference, "score")
    q, k = torch.ones(2, 2, width)
    with telling_the_line(reference):
        given = torch.vmap(function)(q, k)
    if given.shape != (2,):
        raise UserError(f"score {reference!r} must return one number for two vectors.")
    return function


def negative_distance(q: Float[Tensor, " K"], k: Float[Tensor, " K"]) -> Float[Tensor, ""]:
    """Sum the differences of the coordinates: the example to start from."""
    return -(q - k).abs().sum()
