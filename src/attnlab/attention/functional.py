"""Attention from scratch: the steps of scaled dot-product attention as pure functions.

Names and signatures are those of the course's exercise, one line each without a loop; together they
equal ``torch.nn.functional.multi_head_attention_forward`` without its output projection. A is the
matrix of scores, one row per query and one column per key; with one head there is no head axis.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def init_qkv_proj(n_embd: int) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
    """Make the three projections W_Q, W_K, W_V, each with a bias."""
    return nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)


def self_attention(
    Q: Float[Tensor, "B T D"],
    K: Float[Tensor, "B T D"],
    V: Float[Tensor, "B T D"],
    n_heads: int = 1,
    causal: bool = True,
) -> Float[Tensor, "B T D"]:
    """Put the steps together: heads, scores, mask, softmax, outputs, heads again."""
    n_tok, n_embd = Q.shape[-2:]
    if n_heads > 1:
        Q, K, V = split_heads_qkv(Q, K, V, n_heads)
    scores = attn_scaled(pairwise_similarities(Q, K), n_embd, n_heads)
    if causal:
        scores = apply_causal_mask(make_causal_mask(n_tok).to(scores.device), scores)
    y = compute_outputs(attn_softmax(scores), V)
    return merge_heads(y) if n_heads > 1 else y


def pairwise_similarities(
    Q: Float[Tensor, "*B T K"],
    K: Float[Tensor, "*B S K"],
) -> Float[Tensor, "*B T S"]:
    """Compare every query with every key."""
    return Q @ K.transpose(-2, -1)


def attn_scaled(A: Float[Tensor, "*B T S"], n_embd: int, n_heads: int) -> Float[Tensor, "*B T S"]:
    """Keep the scores' spread at that of one coordinate, whatever the width of a head."""
    return A / math.sqrt(n_embd / n_heads)


def attn_softmax(A: Float[Tensor, "*B T S"]) -> Float[Tensor, "*B T S"]:
    """Give each query weights over the keys that sum to 1."""
    return A.softmax(dim=-1)


def compute_outputs(
    A: Float[Tensor, "*B T S"],
    V: Float[Tensor, "*B S K"],
) -> Float[Tensor, "*B T K"]:
    """Mix the values by their weights."""
    return A @ V


def make_causal_mask(n_tok: int) -> Bool[Tensor, "T T"]:
    """Allow each token itself and those before it."""
    return torch.ones(n_tok, n_tok, dtype=torch.bool).tril()


def apply_causal_mask(
    mask: Bool[Tensor, "T S"],
    A: Float[Tensor, "*B T S"],
) -> Float[Tensor, "*B T S"]:
    """Before the softmax: a score of −∞ gets a weight of 0, and the others sum to 1."""
    return A.masked_fill(~mask, -math.inf)


def apply_naive_causal_mask(
    mask: Bool[Tensor, "T S"],
    A: Float[Tensor, "*B T S"],
) -> Float[Tensor, "*B T S"]:
    """After the softmax, a mistake worth looking at: the future still shows in the denominator."""
    return A.masked_fill(~mask, 0.0)


def split_heads_qkv(
    Q: Float[Tensor, "B T D"],
    K: Float[Tensor, "B T D"],
    V: Float[Tensor, "B T D"],
    n_heads: int,
) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
    """Split all three into heads."""
    return split_heads(Q, n_heads), split_heads(K, n_heads), split_heads(V, n_heads)


def split_heads(x: Float[Tensor, "B T D"], n_heads: int) -> Float[Tensor, "B H T K"]:
    """Give every head its part of the width, and move the heads before the tokens."""
    return x.view(*x.shape[:2], n_heads, x.shape[-1] // n_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T H*K"]:
    """Put the heads side by side again; undoes ``split_heads``."""
    return x.transpose(1, 2).flatten(2)
