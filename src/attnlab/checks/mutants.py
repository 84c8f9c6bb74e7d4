"""Attention with one bug each, to test the checks themselves.

A mutant has one step of the exercise written as a student would get it wrong. ``functions_with``
gives all functions of the exercise with that step among them, ``class_with`` a class of them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnlab.attention import functional
from attnlab.attention.contract import AttentionMask, AttentionOutput
from attnlab.checks.mistakes import attention_with
from attnlab.checks.steps import FUNCTIONS

Steps = Mapping[str, Callable[..., Any]]


class Mutant(NamedTuple):
    """A bug: the steps that have it, under the names of the right ones, or the mask too late."""

    name: str
    steps: Steps = MappingProxyType({})
    masks_late: bool = False


def projections_without_a_bias(n_embd: int) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
    """Forget the bias of the values."""
    query, key, _ = functional.init_qkv_proj(n_embd)
    return query, key, nn.Linear(n_embd, n_embd, bias=False)


NO_BUG = Mutant("no bug")
MUTANTS = (
    Mutant("missing scale", {"attn_scaled": lambda A, n_embd, n_heads: A}),
    Mutant("softmax over the wrong axis", {"attn_softmax": lambda A: A.softmax(dim=-2)}),
    Mutant(
        "view without transpose",
        {"split_heads": lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], -1)},
    ),
    Mutant("mask after softmax", masks_late=True),
    Mutant(
        "mask transposed", {"make_causal_mask": lambda n_tok: functional.make_causal_mask(n_tok).T}
    ),
    Mutant("value bias left out", {"init_qkv_proj": projections_without_a_bias}),
    Mutant(
        "heads merged in the wrong order",
        {"merge_heads": lambda x: x.permute(0, 2, 3, 1).flatten(2)},
    ),
)


def functions_with(mutant: Mutant) -> dict[str, Callable[..., Any]]:
    """Return the functions of the exercise; those made of others have their bugs as well."""
    step: dict[str, Callable[..., Any]] = {name: getattr(functional, name) for name in FUNCTIONS}
    step |= mutant.steps

    def split_heads_qkv(Q: Tensor, K: Tensor, V: Tensor, n_heads: int) -> tuple[Tensor, ...]:
        return tuple(step["split_heads"](x, n_heads) for x in (Q, K, V))

    attention = attention_with(mutant.steps, mask_late=mutant.masks_late)
    return step | {"split_heads_qkv": split_heads_qkv, "self_attention": attention}


def class_with(mutant: Mutant) -> type[nn.Module]:
    """Return a class whose layers are made of the functions with the bug."""
    step = functions_with(mutant)
    transposed = "make_causal_mask" in mutant.steps

    class MyAttention(nn.Module):
        """Scaled dot-product attention with several heads, as a student would put it together."""

        supports = frozenset({"causal", "bidirectional", "weights"})
        null_directions = ("key.bias",)  # it shifts all scores of a row alike

        def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:  # noqa: ARG002
            super().__init__()
            self.n_heads = n_heads
            self.query, self.key, self.value = step["init_qkv_proj"](d_model)
            self.proj = nn.Linear(d_model, d_model)

        def forward(
            self, x: Tensor, *, mask: AttentionMask, need_weights: bool = False
        ) -> AttentionOutput:
            """Compare queries with keys, hide what may not be seen, mix the values."""
            n_tok, n_embd = x.shape[1:]
            rows = self.query(x), self.key(x), self.value(x)
            q, k, v = step["split_heads_qkv"](*rows, self.n_heads)
            scores = step["attn_scaled"](step["pairwise_similarities"](q, k), n_embd, self.n_heads)
            allowed = mask.dense(n_tok, n_tok, x.device)
            allowed = allowed.transpose(-2, -1) if transposed else allowed
            if not mutant.masks_late:
                scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
            weights = step["attn_softmax"](scores).masked_fill(~allowed, 0.0)
            y = step["merge_heads"](step["compute_outputs"](weights, v))
            return AttentionOutput(self.proj(y), weights if need_weights else None)

    return MyAttention
