"""The two attentions of the knowledge course, under the names that its weight files use.

``vanilla`` compares every token with those before it. ``synthesizer`` (Tay et al. 2020,
arXiv:2005.00743) lets each token write its row of scores, ReLU(x A + b₁) B + b₂, without looking at
the others; B and b₂ are one for all heads, and a row is at most block_size − 1 long. The document's
equation has no causal mask; a language model needs it, and both have it.
"""

from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlab.attention.contract import check_heads, check_length
from attnlab.attention.functional import (
    apply_causal_mask,
    attn_scaled,
    attn_softmax,
    compute_outputs,
    init_qkv_proj,
    make_causal_mask,
    merge_heads,
    pairwise_similarities,
    split_heads,
    split_heads_qkv,
)


class AttentionConfig(Protocol):
    """What an attention is built from."""

    n_embd: int
    n_head: int
    block_size: int
    attn_pdrop: float
    """Share of the attention weights that is dropped in training."""
    resid_pdrop: float
    """Share of the outputs that is dropped in training."""


class CausalSelfAttention(nn.Module):
    """Each token looks at the tokens before it whose keys point where its query points."""

    mask: Tensor

    def __init__(self, config: AttentionConfig) -> None:
        super().__init__()
        check_heads(config.n_embd, config.n_head)
        self.n_head, self.block_size = config.n_head, config.block_size
        self.query, self.key, self.value = init_qkv_proj(config.n_embd)
        self.attn_drop, self.resid_drop = (
            nn.Dropout(config.attn_pdrop),
            nn.Dropout(config.resid_pdrop),
        )
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.register_buffer("mask", causal_mask(config.block_size))

    def forward(
        self, x: Float[Tensor, "B T D"], layer_past: object = None
    ) -> Float[Tensor, "B T D"]:
        """Mix the values by the softmax of the scaled scores; ``layer_past`` is not used."""
        del layer_past
        n_tokens, width = x.shape[1:]
        check_length(n_tokens, self.block_size, "the rows of the mask")
        q, k, v = split_heads_qkv(self.query(x), self.key(x), self.value(x), self.n_head)
        scores = attn_scaled(pairwise_similarities(q, k), width, self.n_head)
        y = mix(scores, v, may_look(self.mask, n_tokens), self.attn_drop)
        out: Tensor = self.resid_drop(self.proj(y))
        return out


class SynthesizerAttention(nn.Module):
    """Each token writes its own row of scores without looking at the others."""

    mask: Tensor

    def __init__(self, config: AttentionConfig) -> None:
        super().__init__()
        check_heads(config.n_embd, config.n_head)
        self.n_head, self.longest = config.n_head, config.block_size - 1
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.empty(config.n_embd // config.n_head, self.longest))
        self.b2 = nn.Parameter(torch.zeros(self.longest))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.attn_drop, self.resid_drop = (
            nn.Dropout(config.attn_pdrop),
            nn.Dropout(config.resid_pdrop),
        )
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.register_buffer("mask", causal_mask(config.block_size))
        nn.init.uniform_(self.w2, -0.001, 0.001)

    def forward(
        self, x: Float[Tensor, "B T D"], layer_past: object = None
    ) -> Float[Tensor, "B T D"]:
        """Mix the values by the softmax of the written rows; ``layer_past`` is not used."""
        del layer_past
        # [part g] Equation 5 with the causal mask. The scores are ReLU(w1(x)) w2 + b2, head by head;
        # of w2 and b2 take the first columns, as many as there are tokens. The rest is as above:
        # hide the future before the softmax, drop out, mix the values, project.
        # TODO: [part g], src/attention.py: write SynthesizerAttention.forward; see its comment.
        # <solution>
        n_tokens = x.shape[1]
        check_length(n_tokens, self.longest, "the rows of scores")
        hidden = split_heads(self.w1(x).relu(), self.n_head)
        scores = hidden @ self.w2[:, :n_tokens] + self.b2[:n_tokens]
        v = split_heads(self.value(x), self.n_head)
        y = mix(scores, v, may_look(self.mask, n_tokens), self.attn_drop)
        out: Tensor = self.resid_drop(self.proj(y))
        return out
        # </solution>


def causal_mask(block_size: int) -> Float[Tensor, "1 1 S S"]:
    """Return the mask as the weight files hold it: 1 where a token may look, else 0."""
    return make_causal_mask(block_size)[None, None].float()


def may_look(mask: Float[Tensor, "1 1 S S"], n_tokens: int) -> Bool[Tensor, "T T"]:
    """Cut the mask to the row that is read."""
    return mask[0, 0, :n_tokens, :n_tokens] == 1


def mix(
    scores: Float[Tensor, "B H T T"],
    v: Float[Tensor, "B H T K"],
    mask: Bool[Tensor, "T T"],
    dropout: nn.Dropout,
) -> Float[Tensor, "B T D"]:
    """Hide the future before the softmax, mix the values, put the heads side by side."""
    weights = attn_softmax(apply_causal_mask(mask, scores))
    return merge_heads(compute_outputs(dropout(weights), v))
