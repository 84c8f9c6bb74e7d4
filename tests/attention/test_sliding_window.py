"""A window cut into chunks sees what the window sees."""

from typing import Any

import pytest
import torch
from cases import (
    MASKS,
    D,
    H,
    K,
    assert_same,
    drawn,
    in_heads,
    mask_of,
    may_look,
    side_by_side,
    softmax_where,
    tokens,
)
from torch import Tensor

from attnlab.attention.contract import AttentionMask, Positions
from attnlab.attention.positions import POSITIONS
from attnlab.attention.variants import sliding_window
from attnlab.attention.variants.sliding_window import SlidingWindow
from attnlab.checks.leakage import layer_leak

SHORT, LONG = 7, 130
WINDOWS = pytest.mark.parametrize("window", [2, 3, 5, 64])
SCHEMES = pytest.mark.parametrize("scheme", ["none", "rotary", "alibi"])


def make(window: int, scheme: str = "none") -> SlidingWindow:
    positions: Positions = POSITIONS.get(scheme)(D, H, LONG)
    return drawn(SlidingWindow(D, H, LONG, window=window, positions=positions))


def turned(x: Tensor) -> Tensor:
    """Rotary as the paper has it: each pair of coordinates is a complex number times e^{iθ}."""
    angle = torch.outer(
        torch.arange(x.shape[2]).double(), 10_000.0 ** (-2 * torch.arange(K // 2).double() / K)
    )
    pairs = torch.complex(x[..., : K // 2], x[..., K // 2 :]) * torch.polar(
        torch.ones_like(angle), angle
    )
    return torch.cat([pairs.real, pairs.imag], dim=-1)


def by_pairs(layer: SlidingWindow, scheme: str, x: Tensor, mask: AttentionMask) -> Tensor:
    """Score all pairs, hide those further apart than the window, and take the softmax."""
    n_tokens = x.shape[1]
    q, k, v = (in_heads(linear(x)) for linear in (layer.query, layer.key, layer.value))
    if scheme == "rotary":
        q, k = turned(q), turned(k)
    apart = (torch.arange(n_tokens)[:, None] - torch.arange(n_tokens)).abs()
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / K**0.5
    if scheme == "alibi":
        slopes = torch.tensor([2.0**-4, 2.0**-8], dtype=torch.float64)
        scores = scores - slopes[:, None, None] * apart
    allowed = may_look(mask, n_tokens) & (apart < layer.window)
    return layer.proj(side_by_side(softmax_where(scores, allowed[:, None]) @ v))


def check(window: int, n_tokens: int, mask: AttentionMask, scheme: str = "none") -> None:
    layer, x = make(window, scheme), tokens(n_tokens).requires_grad_()
    assert_same(
        lambda: layer(x, mask=mask).out,
        lambda: by_pairs(layer, scheme, x, mask),
        [x, *layer.parameters()],
    )


@WINDOWS
@pytest.mark.parametrize("n_tokens", [SHORT, LONG])
@pytest.mark.parametrize("name", MASKS)
def test_it_equals_all_pairs_with_a_window_as_mask(window: int, n_tokens: int, name: str) -> None:
    check(window, n_tokens, mask_of(name, n_tokens))


@pytest.mark.parametrize(("window", "n_tokens"), [(2, SHORT), (3, SHORT), (64, LONG)])
@pytest.mark.parametrize("name", ["all", "causal", "causal, padded", "segments"])
@pytest.mark.parametrize("scheme", ["rotary", "alibi"])
def test_positions_are_where_they_are_among_all_pairs(
    window: int, n_tokens: int, name: str, scheme: str
) -> None:
    check(window, n_tokens, mask_of(name, n_tokens), scheme)


@WINDOWS
@SCHEMES
@pytest.mark.parametrize("name", MASKS)
def test_chunks_give_what_the_dense_way_gives(window: int, scheme: str, name: str) -> None:
    layer, x, mask = make(window, scheme), tokens(LONG), mask_of(name, LONG)
    with torch.no_grad():
        chunked, dense = layer(x, mask=mask), layer(x, mask=mask, need_weights=True)
    assert chunked.weights is None
    torch.testing.assert_close(chunked.out, dense.out, atol=1e-12, rtol=0)


def test_a_long_row_is_cut_into_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the comparisons above rest on: only weights make it take the dense way."""
    chunked = []
    in_chunks = SlidingWindow._in_chunks

    def counting(self: SlidingWindow, *inputs: Any) -> Tensor:
        chunked.append(1)
        return in_chunks(self, *inputs)

    monkeypatch.setattr(SlidingWindow, "_in_chunks", counting)
    layer, x = make(3), tokens(SHORT)
    layer(x, mask=AttentionMask(), need_weights=True)
    assert chunked == []
    layer(x, mask=AttentionMask())
    assert chunked == [1]


def test_the_comparison_notices_a_window_that_is_one_too_wide() -> None:
    layer, x = make(3), tokens(SHORT)
    wider = make(4)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        assert_same(
            lambda: wider(x, mask=AttentionMask()).out,
            lambda: by_pairs(layer, "none", x, AttentionMask()),
            [*layer.parameters(), *wider.parameters()],
        )


def neighbours_the_wrong_way(chunks: Tensor, *, ahead: bool) -> Tensor:
    return WITH_NEIGHBOURS(chunks.flip(2), ahead=ahead).flip(2)


WITH_NEIGHBOURS = sliding_window._with_neighbours


@pytest.mark.parametrize("name", ["causal", "causal, padded"])
def test_the_comparison_notices_chunks_that_look_the_wrong_way(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sliding_window, "_with_neighbours", neighbours_the_wrong_way)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check(3, SHORT, mask_of(name, SHORT))


@WINDOWS
@SCHEMES
def test_not_even_a_rounding_of_the_future_reaches_the_past(window: int, scheme: str) -> None:
    assert layer_leak(make(window, scheme), tokens(LONG)).largest_change == 0.0


def test_the_meter_finds_chunks_that_look_the_wrong_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliding_window, "_with_neighbours", neighbours_the_wrong_way)
    assert layer_leak(make(3), tokens(SHORT)).found


@WINDOWS
def test_no_key_beyond_the_window_has_weight(window: int) -> None:
    weights = make(window)(tokens(SHORT), mask=AttentionMask(), need_weights=True).weights
    apart = (torch.arange(SHORT)[:, None] - torch.arange(SHORT)).abs()
    assert torch.equal(weights[0, 0] > 0, apart < window)
