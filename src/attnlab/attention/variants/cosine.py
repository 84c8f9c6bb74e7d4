"""Cosine attention: only directions count (QKNorm, Henry et al. 2020, arXiv:2010.04245)."""

import math
from typing import Unpack

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.contract import CAPABILITIES
from attnlab.attention.functional import pairwise_similarities
from attnlab.attention.softmax_core import Given, Keys, MultiHeadAttention, Queries, Weights

SHARPNESS = 10.0
"""Where it begins: a key in the query's direction counts e^10 times one at right angles."""


@ATTENTION.register("cosine")
class Cosine(MultiHeadAttention):
    """Each token looks at the tokens whose keys have the direction of its query, however long."""

    supports = frozenset(CAPABILITIES)

    def __init__(self, d_model: int, n_heads: int, max_len: int, **given: Unpack[Given]) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.log_sharpness = nn.Parameter(torch.full((n_heads,), math.log(SHARPNESS)))

    def score(self, q: Queries, k: Keys) -> Weights:
        """Multiply the cosines by a factor that each head learns."""
        cosines = pairwise_similarities(F.normalize(q, dim=-1), F.normalize(k, dim=-1))
        return cosines * self.log_sharpness.exp()[:, None, None]
