"""Attention from scratch equals PyTorch's own, and each usual mistake does not."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.attention import functional
from attnlab.attention.functional import (
    apply_causal_mask,
    apply_naive_causal_mask,
    attn_softmax,
    init_qkv_proj,
    make_causal_mask,
    merge_heads,
    self_attention,
    split_heads,
)

B, T, D, H = 2, 7, 12, 3
CASES = pytest.mark.parametrize(
    ("n_heads", "causal"),
    [(1, False), (1, True), (H, False), (H, True)],
    ids=["one head", "one head, causal", "three heads", "three heads, causal"],
)


@pytest.fixture
def tokens() -> Tensor:
    torch.manual_seed(0)
    return torch.randn(B, T, D, dtype=torch.float64)


def projections() -> list[torch.nn.Linear]:
    torch.manual_seed(1)
    return [layer.double() for layer in init_qkv_proj(D)]


def ours(x: Tensor, layers: list[torch.nn.Linear], n_heads: int, causal: bool) -> Tensor:
    query, key, value = (layer(x) for layer in layers)
    return self_attention(query, key, value, n_heads, causal)


def theirs(
    x: Tensor, layers: list[torch.nn.Linear], n_heads: int, causal: bool
) -> tuple[Tensor, Tensor]:
    """PyTorch's function, with an output projection that changes nothing."""
    x = x.transpose(0, 1)  # it wants the tokens first
    out, weights = F.multi_head_attention_forward(
        x, x, x, D, n_heads,
        in_proj_weight=torch.cat([layer.weight for layer in layers]),
        in_proj_bias=torch.cat([layer.bias for layer in layers]),
        bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0,
        out_proj_weight=torch.eye(D, dtype=torch.float64),
        out_proj_bias=torch.zeros(D, dtype=torch.float64),
        need_weights=True, average_attn_weights=False,
        attn_mask=~make_causal_mask(T) if causal else None,
    )  # fmt: skip
    assert weights is not None
    return out.transpose(0, 1), weights


@CASES
def test_outputs_and_gradients_equal_pytorchs(tokens: Tensor, n_heads: int, causal: bool) -> None:
    gradients = []
    for compute in (ours, lambda *arguments: theirs(*arguments)[0]):
        layers = projections()
        x = tokens.clone().requires_grad_()
        out = compute(x, layers, n_heads, causal)
        out.pow(2).sum().backward()
        gradients.append([out, x.grad, *(p.grad for layer in layers for p in layer.parameters())])
    for mine, reference in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, reference, atol=1e-12, rtol=0)


@CASES
def test_weights_equal_pytorchs(
    tokens: Tensor, n_heads: int, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Tensor] = []
    softmax = attn_softmax
    monkeypatch.setattr(
        functional, "attn_softmax", lambda scores: seen.append(softmax(scores)) or seen[-1]
    )
    layers = projections()
    ours(tokens, layers, n_heads, causal)
    reference = theirs(tokens, layers, n_heads, causal)[1]
    torch.testing.assert_close(seen[0].view_as(reference), reference, atol=1e-12, rtol=0)


MUTANTS: dict[str, tuple[str, Callable[..., Tensor]]] = {
    "missing scale": ("attn_scaled", lambda scores, *_: scores),
    "softmax over the queries": ("attn_softmax", lambda scores: scores.softmax(-2)),
    "view without transpose": ("split_heads", lambda x, h: x.reshape(B, h, T, -1)),
    "mask after softmax": ("apply_causal_mask", lambda _, scores: scores),
    "mask transposed": ("make_causal_mask", lambda n: make_causal_mask(n).T),
    "heads merged in the wrong order": (
        "merge_heads",
        lambda x: x.permute(0, 2, 3, 1).flatten(2),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_usual_mistake_is_not_equal(
    mutant: str, tokens: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functional, *MUTANTS[mutant])
    layers = projections()
    apart = ours(tokens, layers, H, True) - theirs(tokens, layers, H, True)[0]
    assert not bool((apart.abs() < 1e-3).all())


def test_splitting_and_merging_heads_undo_each_other(tokens: Tensor) -> None:
    heads = split_heads(tokens, H)
    assert heads.shape == (B, H, T, D // H)
    assert torch.equal(heads[:, 1], tokens[..., D // H : 2 * D // H])
    assert torch.equal(merge_heads(heads), tokens)


def test_the_mask_before_the_softmax_hides_the_future_and_after_it_does_not() -> None:
    """The document's own row of scores: softmax of −20, −12, 20, 25."""
    mask = make_causal_mask(4)
    scores = torch.tensor([[-20.0, -12.0, 20.0, 25.0]] * 4, dtype=torch.float64)
    other = scores.clone()
    other[:, -1] = -100.0  # the last token changes
    before = [attn_softmax(apply_causal_mask(mask, s))[:3] for s in (scores, other)]
    after = [apply_naive_causal_mask(mask, attn_softmax(s))[:3] for s in (scores, other)]
    assert torch.equal(*before)
    assert not torch.allclose(*after)
    expected = torch.tensor([3e-20, 8e-17, 0.0067, 0.9933], dtype=torch.float64)
    torch.testing.assert_close(attn_softmax(scores)[0], expected, rtol=0.06, atol=0)
