"""The usual mistakes in each step of attention, and what they do.

A function that gives the same numbers as one of these has made that mistake, and the check says so.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import Tensor

from attnlab.attention.functional import (
    apply_causal_mask,
    apply_naive_causal_mask,
    attn_scaled,
    attn_softmax,
    compute_outputs,
    make_causal_mask,
    merge_heads,
    pairwise_similarities,
    split_heads,
)


class Mistake(NamedTuple):
    """A wrong way to compute a step, and its effect in words."""

    effect: str
    compute: Callable[..., Any]


MISTAKES: dict[str, list[Mistake]] = {
    "pairwise_similarities": [
        Mistake(
            "rows and columns are exchanged: a row holds one key with all queries, so softmax"
            " shares out the wrong way",
            lambda Q, K: K @ Q.transpose(-2, -1),
        ),
    ],
    "attn_scaled": [
        Mistake(
            "the scores are not scaled: the wider a head, the further they spread, until softmax"
            " puts nearly all weight on one key and its gradient vanishes",
            lambda A, n_embd, n_heads: A,
        ),
        Mistake(
            "the scores are divided by √n_embd, but a head is only n_embd / n_heads wide: with"
            " several heads the weights come out too flat",
            lambda A, n_embd, n_heads: A / math.sqrt(n_embd),
        ),
        Mistake(
            "the scores are divided by the width of a head instead of its square root: the weights"
            " come out too flat",
            lambda A, n_embd, n_heads: A / (n_embd / n_heads),
        ),
        Mistake(
            "the scores are multiplied by the scale instead of divided: softmax saturates",
            lambda A, n_embd, n_heads: A * math.sqrt(n_embd / n_heads),
        ),
    ],
    "attn_softmax": [
        Mistake(
            "the softmax runs over the queries: every column sums to 1 instead of every row, so a"
            " token's weights do not sum to 1 and depend on the tokens after it",
            lambda A: A.softmax(-2),
        ),
        Mistake(
            "the softmax runs over axis 1, counted from the front: with several heads these are the"
            " heads, so that a token's weights do not sum to 1; count from the end",
            lambda A: A.softmax(1),
        ),
    ],
    "compute_outputs": [
        Mistake(
            "the weights are transposed: a token is given to those who look at it instead of"
            " taking from those it looks at",
            lambda A, V: A.transpose(-2, -1) @ V,
        ),
    ],
    "make_causal_mask": [
        Mistake(
            "the mask is transposed: a token sees itself and those after it, the very answer it is"
            " to predict, and nothing before",
            lambda n_tok: make_causal_mask(n_tok).T,
        ),
        Mistake(
            "a token may not see itself: the first sees nothing and becomes NaN",
            lambda n_tok: make_causal_mask(n_tok).tril(-1),
        ),
        Mistake("ones and zeros are exchanged", lambda n_tok: ~make_causal_mask(n_tok)),
        Mistake("the mask hides nothing", lambda n_tok: make_causal_mask(n_tok) | True),
    ],
    "apply_causal_mask": [
        Mistake(
            "hidden scores become 0, which softmax turns into a weight of e⁰: the future is seen",
            lambda mask, A: A.masked_fill(~mask.bool(), 0.0),
        ),
        Mistake(
            "the scores that may be seen are hidden, and those of the future are not",
            lambda mask, A: A.masked_fill(mask.bool(), -math.inf),
        ),
        Mistake("the mask is not applied: the future is seen", lambda mask, A: A),
    ],
    "apply_naive_causal_mask": [
        Mistake("the mask is not applied", lambda mask, A: A),
    ],
    "split_heads": [
        Mistake(
            "view without transpose: a head holds some of the tokens instead of a part of each, so"
            " tokens mix and, with a causal mask, the future is seen",
            lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], -1),
        ),
        Mistake(
            "a head takes every n-th number of a token instead of a piece of it: with the weights"
            " of another implementation the heads come out mixed",
            lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2),
        ),
    ],
    "merge_heads": [
        Mistake(
            "the heads are merged in the wrong order: their numbers are interleaved instead of side"
            " by side, so the output projection reads other numbers than it should",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        Mistake(
            "reshape without transpose: the numbers of different tokens are mixed",
            lambda x: x.reshape(x.shape[0], x.shape[2], -1),
        ),
    ],
}

MISTAKES["split_heads_qkv"] = [
    Mistake(
        mistake.effect,
        lambda Q, K, V, n_heads, split=mistake.compute: tuple(split(x, n_heads) for x in (Q, K, V)),
    )
    for mistake in MISTAKES["split_heads"]
]

STEPS: dict[str, Callable[..., Tensor]] = {
    "split_heads": split_heads,
    "pairwise_similarities": pairwise_similarities,
    "attn_scaled": attn_scaled,
    "make_causal_mask": make_causal_mask,
    "apply_causal_mask": apply_causal_mask,
    "attn_softmax": attn_softmax,
    "compute_outputs": compute_outputs,
    "merge_heads": merge_heads,
}


def attention_with(
    replaced: Mapping[str, Callable[..., Any]], *, mask_late: bool = False
) -> Callable[..., Tensor]:
    """Return self-attention with some steps replaced, or with its mask after the softmax."""
    step = {**STEPS, **replaced}

    def attention(Q: Tensor, K: Tensor, V: Tensor, n_heads: int, causal: bool) -> Tensor:
        n_tok, n_embd = Q.shape[-2:]
        if n_heads > 1:
            Q, K, V = (step["split_heads"](x, n_heads) for x in (Q, K, V))
        scores = step["attn_scaled"](step["pairwise_similarities"](Q, K), n_embd, n_heads)
        mask = step["make_causal_mask"](n_tok)
        if causal and not mask_late:
            scores = step["apply_causal_mask"](mask, scores)
        weights = step["attn_softmax"](scores)
        if causal and mask_late:
            weights = apply_naive_causal_mask(mask, weights)
        y = step["compute_outputs"](weights, V)
        merged: Tensor = step["merge_heads"](y) if n_heads > 1 else y
        return merged

    return attention


RIGHT = attention_with({})
MISTAKES["self_attention"] = [
    Mistake(
        "the mask comes after the softmax: the future still counts in the denominator, so that"
        " outputs change with tokens they must not know, and the weights left do not sum to 1",
        attention_with({}, mask_late=True),
    ),
    Mistake(
        "no mask is applied: the future is seen",
        lambda Q, K, V, n_heads, causal: RIGHT(Q, K, V, n_heads, causal=False),
    ),
    Mistake(
        "the mask is applied even if causal is False",
        lambda Q, K, V, n_heads, causal: RIGHT(Q, K, V, n_heads, causal=True),
    ),
    Mistake(
        "the heads are not split: every head would have weights of its own, here all share one row",
        attention_with({"split_heads": lambda x, n_heads: x, "merge_heads": lambda x: x}),
    ),
    Mistake(
        "keys and values are exchanged: queries are compared with values, and the outputs mix keys",
        lambda Q, K, V, n_heads, causal: RIGHT(Q, V, K, n_heads, causal),
    ),
    Mistake(
        "the outputs mix the keys instead of the values",
        lambda Q, K, V, n_heads, causal: RIGHT(Q, K, K, n_heads, causal),
    ),
    Mistake(
        "queries are compared with queries: the keys are not used",
        lambda Q, K, V, n_heads, causal: RIGHT(Q, Q, V, n_heads, causal),
    ),
    *(
        Mistake(f"{name}: {mistake.effect}", attention_with({name: mistake.compute}))
        for name, mistakes in list(MISTAKES.items())
        if name in STEPS
        for mistake in mistakes
    ),
]
