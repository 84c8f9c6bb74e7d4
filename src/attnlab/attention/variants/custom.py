"""Attention with a score of your own: any function of two vectors.

    def my_score(q, k):                # two vectors of the width of a head
        return -(q - k).abs().sum()    # a number; larger means: look there

``--set model.attention.options.score=my_file.py:my_score`` uses it for every pair of tokens. What
the function makes of two vectors is then held for all pairs at once, so it is slower and takes more
memory than the example, which torch computes in one call.
"""

from collections.abc import Callable
from typing import Unpack

import torch
from jaxtyping import Float
from torch import Tensor

from attnlab.attention import ATTENTION
from attnlab.attention.softmax_core import Given, Keys, MultiHeadAttention, Queries, Weights
from attnlab.errors import UserError
from attnlab.registry import load_part, telling_the_line


@ATTENTION.register("custom")
class Custom(MultiHeadAttention):
    """Each token looks where a function of its query and the key says so."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "alibi", "weights"})

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        score: str | None = None,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.function = negative_distance if score is None else _load(score, d_model // n_heads)

    def score(self, q: Queries, k: Keys) -> Weights:
        """Call the function for every pair, all at once; of the example, torch has its own."""
        if self.function is negative_distance:
            exact = torch.promote_types(q.dtype, torch.float32)  # it knows no half precision
            return -torch.cdist(q.to(exact), k.to(exact), p=1).to(q.dtype)
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
