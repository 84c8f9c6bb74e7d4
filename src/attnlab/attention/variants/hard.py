"""Hard attention: all weight on the key with the largest score.

The choice does not change when a score changes a little, so queries and keys get no gradient and
only the values learn. ``straight_through`` (Bengio et al. 2013, arXiv:1308.3432) makes the same
hard choice and learns as if it had been the softmax.
"""

from typing import Unpack

import torch.nn.functional as F

from attnlab.attention import ATTENTION
from attnlab.attention.context import Context
from attnlab.attention.contract import CAPABILITIES
from attnlab.attention.functional import attn_scaled, pairwise_similarities
from attnlab.attention.softmax_core import (
    Given,
    Keys,
    MultiHeadAttention,
    Queries,
    Weights,
    masked_softmax,
    null_key_bias,
)
from attnlab.attention.watching import note_scores


@ATTENTION.register("hard")
class Hard(MultiHeadAttention):
    """Each token takes the value of one token: the best match, the first of equals."""

    supports = frozenset(CAPABILITIES)
    null_directions: tuple[str, ...] = ("query.weight", "query.bias", "key.weight", "key.bias")

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        straight_through: bool = False,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        if straight_through:
            self.null_directions = null_key_bias(self.positions)
        self.straight_through = straight_through

    def weights(self, q: Queries, k: Keys, context: Context) -> Weights:
        """Give the whole weight to the best key that may be seen."""
        bias = context.bias(q, k)
        scores = attn_scaled(pairwise_similarities(q, k), q.shape[-1], 1)
        note_scores(scores, bias)
        seen = scores if bias.added is None else scores + bias.added
        weights = F.one_hot(seen.argmax(dim=-1), k.shape[2]).to(scores.dtype)
        if bias.fully_masked is not None:
            weights = weights.masked_fill(bias.fully_masked, 0.0)
        if self.straight_through:
            soft = masked_softmax(scores, bias)
            weights = weights + (soft - soft.detach())
        return weights
