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
from attnlab.attention.contract import AttentionMask, AttentionOutput, Positions, Prefix
from attnlab.attention.softmax_core import Context, masked_softmax, mix, project, projections
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
        max_len: int,
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
        score: str | None = None,
    ) -> None:
        super().__init__()
        self.query, self.key, self.value, self.proj = projections(d_model, n_heads)
        self.n_heads, self.dropout, self.positions = n_heads, Dropout(dropout), positions
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
        """Call the function for every pair, all at once; mix the values by the softmax."""
        context = Context(mask, cache, prefix, self.positions)
        q, k, v = project(x, context, by=(self.query, self.key, self.value), n_heads=self.n_heads)
        every_key = torch.vmap(self.function, in_dims=(None, 0))
        every_pair = torch.vmap(every_key, in_dims=(0, None))
        scores = torch.vmap(torch.vmap(every_pair))(q, k)
        weights = masked_softmax(scores, context.bias(q, k))
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)


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
