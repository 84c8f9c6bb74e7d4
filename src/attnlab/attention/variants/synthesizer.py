"""Dense Synthesizer attention (Tay et al. 2020, arXiv:2005.00743), causal where the mask is.

Row t of the scores is ReLU(x_t A + b₁) B + b₂, one number for each position: it needs no keys, but
knows nothing of the tokens at those positions. Each head has a B of its own; ``shared`` gives all
heads one, as the knowledge course does. The cost stays quadratic: B is as wide as rows are long.
"""

from typing import Unpack

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.context import Context
from attnlab.attention.contract import check_length
from attnlab.attention.functional import compute_outputs, merge_heads, split_heads
from attnlab.attention.softmax_core import AttentionLayer, Given, masked_softmax


class SynthesizerLayer(AttentionLayer):
    """Attention whose scores come without queries and keys, as rows of ``max_len`` numbers."""

    supports = frozenset({"causal", "bidirectional", "cache", "alibi", "weights"})

    def attend(
        self, x: Float[Tensor, "B T D"], context: Context, *, need_weights: bool
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B H T S"] | None]:
        """Mix the values by the softmax of the written scores."""
        assert context.prefix is None, "a prefix has no column in the rows of scores"
        v = split_heads(self.value(x), self.n_heads)
        if context.cache is not None:
            [v] = context.cache.extend(v)
        n_keys = v.shape[2]
        check_length(n_keys, self.max_len, "the rows of scores")
        bias = context.bias(v[:, :, n_keys - x.shape[1] :], v)
        weights = masked_softmax(self.synthesize(x, n_keys), bias)
        return merge_heads(compute_outputs(self.dropout(weights), v)), weights

    def synthesize(self, x: Float[Tensor, "B T D"], n_keys: int) -> Float[Tensor, "B H T S"]:
        """Return the scores of the last tokens for all keys."""
        raise NotImplementedError


@ATTENTION.register("synthesizer")
class Synthesizer(SynthesizerLayer):
    """Each token writes its own row of scores without looking at the others."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_len: int,
        *,
        shared: bool = False,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.w1 = nn.Linear(d_model, d_model)
        own = () if shared else (n_heads,)
        self.w2 = nn.Parameter(torch.empty(*own, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(max_len) if shared else torch.zeros(*own, 1, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)
        nn.init.uniform_(self.w2, -0.001, 0.001)

    def synthesize(self, x: Float[Tensor, "B T D"], n_keys: int) -> Float[Tensor, "B H T S"]:
        """Let each token write its row."""
        hidden = split_heads(self.w1(x).relu(), self.n_heads)
        scores: Tensor = hidden @ self.w2[..., :n_keys] + self.b2[..., :n_keys]
        return scores
