"""Small layers, every kind of mask, and a comparison of outputs and gradients."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask, Prefix

B, D, H = 3, 12, 2
K = D // H
P = 4

Layer = TypeVar("Layer", bound=nn.Module)

MASKS = (
    "all",
    "causal",
    "padded",
    "causal, padded",
    "segments",
    "causal, segments",
    "causal, padded on the left",
    "causal, padded, segments",
)


def drawn(layer: Layer, *, seed: int = 0, std: float = 0.3) -> Layer:
    """Make it float64 with weights that make differences show."""
    generator = torch.Generator().manual_seed(seed)
    layer = layer.double().eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=std, generator=generator)
    return layer


def tokens(n_tokens: int, *, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, n_tokens, D, dtype=torch.float64, generator=generator)


def prefix(n_rows: int) -> Prefix:
    """Keys and values before every row; one row of them is for the whole batch."""
    generator = torch.Generator().manual_seed(2)
    pair = torch.randn(2, n_rows, H, P, K, dtype=torch.float64, generator=generator)
    return Prefix(pair[0], pair[1])


def mask_of(name: str, n_tokens: int) -> AttentionMask:
    """Return a mask by its words; every row of the batch has another padding and other texts."""
    place = torch.arange(n_tokens)
    real = torch.tensor([[n_tokens], [max(1, n_tokens // 2)], [n_tokens - 2]])
    padding = place >= real.flip(0) - 2 if "left" in name else place < real
    first, second = n_tokens // 3, n_tokens // 2
    ends = torch.tensor([[first, n_tokens], [1, second], [second, n_tokens - 1]])
    segments = (place >= ends[:, :1]).long() + (place >= ends[:, 1:]).long()
    return AttentionMask(
        causal="causal" in name,
        padding=padding if "padded" in name else None,
        segments=segments if "segments" in name else None,
    )


def may_look(mask: AttentionMask, n_tokens: int) -> Tensor:
    """Say for every row, query and key, by the words of the contract, who sees whom: (B, T, T)."""
    query, key = torch.meshgrid(torch.arange(n_tokens), torch.arange(n_tokens), indexing="ij")
    allowed = torch.ones(B, n_tokens, n_tokens, dtype=torch.bool)
    if mask.causal:
        allowed &= key <= query
    if mask.padding is not None:
        allowed &= mask.padding[:, key]
    if mask.segments is not None:
        allowed &= mask.segments[:, query] == mask.segments[:, key]
    return allowed


def softmax_where(scores: Tensor, allowed: Tensor, *, dim: int = -1) -> Tensor:
    """Write the softmax out; who sees nothing has weights of 0."""
    top = scores.masked_fill(~allowed, -torch.inf).amax(dim, keepdim=True).detach()
    e = torch.where(allowed, scores - top.nan_to_num(neginf=0.0), -torch.inf).exp()
    total = e.sum(dim, keepdim=True)
    return e / (total + (total == 0))


def in_heads(x: Tensor, n_heads: int = H) -> Tensor:
    """Cut the width into heads: (B, H, T, K)."""
    return torch.stack(x.split(x.shape[-1] // n_heads, dim=-1), dim=1)


def side_by_side(x: Tensor) -> Tensor:
    """Put the heads side by side: (B, T, D)."""
    return torch.cat(x.unbind(1), dim=-1)


def assert_same(
    ours: Callable[[], Tensor],
    theirs: Callable[[], Tensor],
    sources: Sequence[Tensor],
    *,
    atol: float = 1e-12,
) -> None:
    """Compare outputs, and the gradients of the same drawn direction of them."""
    results = []
    for compute in (ours, theirs):
        out = compute()
        direction = torch.randn(out.shape, generator=torch.Generator().manual_seed(5)).double()
        gradients = torch.autograd.grad(out, sources, direction, allow_unused=True)
        results.append([out, *(g for g in gradients if g is not None)])
    for mine, reference in zip(*results, strict=True):
        torch.testing.assert_close(mine, reference, atol=atol, rtol=0)
