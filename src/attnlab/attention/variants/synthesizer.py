"""Dense Synthesizer attention (Tay et al. 2020, arXiv:2005.00743), causal where the mask is.

Row t of the scores is ReLU(x_t A + b₁) B + b₂, one number for each position: it needs no keys, but
knows nothing of what stands at those positions. Each head has a B of its own; ``shared`` gives all
heads one, as the knowledge course does. The cost stays quadratic: B is as wide as rows are long.
"""

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
from attnlab.attention.functional import split_heads
from attnlab.attention.softmax_core import Context, masked_softmax, mix, project_values
from attnlab.dropout import Dropout


@ATTENTION.register("synthesizer")
class Synthesizer(nn.Module):
    """Each token writes its own row of scores without looking at the others."""

    supports = frozenset({"causal", "bidirectional", "cache", "alibi", "weights"})

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        dropout: float = 0.0,
        positions: Positions | None = None,
        shared: bool = False,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads, self.max_len = n_heads, max_len
        self.w1 = nn.Linear(d_model, d_model)
        own = () if shared else (n_heads,)
        self.w2 = nn.Parameter(torch.empty(*own, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(max_len) if shared else torch.zeros(*own, 1, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout, self.positions = Dropout(dropout), positions
        nn.init.uniform_(self.w2, -0.001, 0.001)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: AttentionMask,
        cache: Cache | None = None,
        prefix: Prefix | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Mix the values by the softmax of the rows that the tokens wrote."""
        context = Context(mask, cache, prefix, self.positions)
        v = project_values(x, context, by=self.value, n_heads=self.n_heads, max_len=self.max_len)
        n_keys = v.shape[2]
        hidden = split_heads(self.w1(x).relu(), self.n_heads)
        scores = hidden @ self.w2[..., :n_keys] + self.b2[..., :n_keys]
        weights = masked_softmax(scores, context.bias(hidden, v))
        return mix(weights, v, dropout=self.dropout, proj=self.proj, need_weights=need_weights)
