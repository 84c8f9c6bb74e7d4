"""Linear attention (Katharopoulos et al. 2020, arXiv:2006.16236): no softmax, sums instead.

There are no weights to drop: dropout acts on the outputs.
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, AttentionOutput, Prefix
from attnlab.attention.functional import merge_heads, split_heads_qkv
from attnlab.attention.linear_core import attend_by_sums
from attnlab.attention.softmax_core import Context, projections
from attnlab.dropout import Dropout


@ATTENTION.register("linear")
class Linear(nn.Module):
    """Each token meets the tokens before as one sum of their features, elu(x) + 1."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "weights"})

    def __init__(self, d_model: int, n_heads: int, max_len: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.query, self.key, self.value, self.proj = projections(d_model, n_heads)
        self.n_heads, self.dropout = n_heads, Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Mix the values by sums of features."""
        q, k, v = split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_heads)
        q, k, context = _features(q), _features(k), Context(mask, cache, prefix)
        y, weights = attend_by_sums(
            q, k, v, context, features_of_keys=_features, need_weights=need_weights
        )
        return AttentionOutput(self.proj(self.dropout(merge_heads(y))), weights)


def _features(x: Float[Tensor, "B H T K"]) -> Float[Tensor, "B H T K"]:
    return F.elu(x) + 1
