"""Sums instead of pairs give what the pairs give: linear and performer."""

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from cases import (
    MASKS,
    B,
    D,
    H,
    K,
    assert_same,
    drawn,
    in_heads,
    mask_of,
    may_look,
    prefix,
    side_by_side,
    tokens,
)
from torch import Tensor

from attnlab.attention import linear_core
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Prefix
from attnlab.attention.linear_core import causal_sums
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.linear import Linear
from attnlab.attention.variants.performer import Performer, draw_directions
from attnlab.checks.leakage import layer_leak

SHORT, LONG = 7, 150  # the long one is more than two chunks
CAUSAL = AttentionMask(causal=True)
VARIANTS = pytest.mark.parametrize("variant", [Linear, Performer], ids=["linear", "performer"])
LENGTHS = pytest.mark.parametrize("n_tokens", [SHORT, LONG])


def make(variant: type[Linear] | type[Performer]) -> Linear | Performer:
    torch.manual_seed(3)
    return drawn(variant(D, H, LONG))


def features(layer: Linear | Performer, x: Tensor) -> Tensor:
    """φ by the papers: elu(x) + 1, or exp(w·x − |x|²/2) of x scaled by the fourth root of K."""
    if isinstance(layer, Linear):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())
    x = x / K**0.25
    projected = torch.einsum("bhtk,mk->bhtm", x, layer.directions)
    return (projected - (x * x).sum(-1, keepdim=True) / 2).exp() / len(layer.directions) ** 0.5


def pair_by_pair(
    layer: Linear | Performer, x: Tensor, mask: AttentionMask, before: Prefix | None = None
) -> Tensor:
    """φ(q)φ(k)ᵀ where a query may look, each row divided by its sum, times the values."""
    q, k, v = (in_heads(linear(x)) for linear in (layer.query, layer.key, layer.value))
    allowed = may_look(mask, x.shape[1])[:, None]
    products = features(layer, q) @ features(layer, k).mT * allowed
    if before is not None:
        keys = features(layer, before.keys).expand(B, -1, -1, -1)
        products = torch.cat([features(layer, q) @ keys.mT, products], dim=-1)
        v = torch.cat([before.values.expand(B, -1, -1, -1), v], dim=2)
    total = products.sum(-1, keepdim=True)
    return layer.proj(side_by_side(products / (total + (total == 0)) @ v))


def check(
    variant: type[Linear] | type[Performer],
    n_tokens: int,
    mask: AttentionMask,
    before: Prefix | None = None,
) -> None:
    layer, x = make(variant), tokens(n_tokens).requires_grad_()
    assert_same(
        lambda: layer(x, mask=mask, prefix=before).out,
        lambda: pair_by_pair(layer, x, mask, before),
        [x, *layer.parameters()],
        atol=1e-11,
    )


@VARIANTS
@LENGTHS
@pytest.mark.parametrize("name", MASKS)
def test_the_sums_equal_the_pairs(
    variant: type[Linear] | type[Performer], n_tokens: int, name: str
) -> None:
    check(variant, n_tokens, mask_of(name, n_tokens))


@VARIANTS
@pytest.mark.parametrize("name", ["all", "causal", "causal, padded", "causal, segments"])
def test_the_sums_equal_the_pairs_after_a_prefix_of_each_row(
    variant: type[Linear] | type[Performer], name: str
) -> None:
    check(variant, LONG, mask_of(name, LONG), prefix(B))


@VARIANTS
@pytest.mark.parametrize("name", ["all", "segments"])
def test_one_prefix_serves_all_rows(variant: type[Linear] | type[Performer], name: str) -> None:
    check(variant, SHORT, mask_of(name, SHORT), prefix(1))


@VARIANTS
def test_one_prefix_serves_all_causal_rows(variant: type[Linear] | type[Performer]) -> None:
    check(variant, SHORT, CAUSAL, prefix(1))


def own_chunk_unmasked(q: Tensor, k: Tensor, v: Tensor, _: Tensor | None) -> tuple[Tensor, Tensor]:
    return q @ (k.mT @ v), k.mT @ v


def own_token_missing(
    q: Tensor, k: Tensor, v: Tensor, before: Tensor | None
) -> tuple[Tensor, Tensor]:
    out, after = causal_sums(q, k, v, before)
    return out - (q * k).sum(-1, keepdim=True) * v, after


def only_the_own_chunk(q: Tensor, k: Tensor, v: Tensor, _: Tensor | None) -> tuple[Tensor, Tensor]:
    pieces = [
        causal_sums(*(x[:, :, i : i + 64] for x in (q, k, v)), None) for i in range(0, LONG, 64)
    ]
    return torch.cat([out for out, _ in pieces], dim=2), pieces[-1][1]


BUGS = (own_chunk_unmasked, own_token_missing, only_the_own_chunk)


@VARIANTS
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_comparison_notices_wrong_sums(
    monkeypatch: pytest.MonkeyPatch,
    variant: type[Linear] | type[Performer],
    bug: Callable[..., tuple[Tensor, Tensor]],
) -> None:
    monkeypatch.setattr(linear_core, "causal_sums", bug)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check(variant, LONG, CAUSAL)


@VARIANTS
def test_not_even_a_rounding_of_the_future_reaches_the_past(
    variant: type[Linear] | type[Performer],
) -> None:
    assert layer_leak(make(variant), tokens(LONG)).largest_change == 0.0


@VARIANTS
def test_the_meter_finds_a_future_that_is_counted(
    monkeypatch: pytest.MonkeyPatch, variant: type[Linear] | type[Performer]
) -> None:
    monkeypatch.setattr(linear_core, "causal_sums", own_chunk_unmasked)
    assert layer_leak(make(variant), tokens(LONG)).found


@VARIANTS
@pytest.mark.parametrize("with_prefix", [False, True], ids=["alone", "after a prefix"])
@pytest.mark.parametrize("name", ["causal", "causal, padded", "causal, padded on the left"])
def test_a_cache_in_uneven_pieces_gives_what_the_whole_row_gives(
    variant: type[Linear] | type[Performer], name: str, with_prefix: bool
) -> None:
    layer, x, mask, cache = make(variant), tokens(LONG), mask_of(name, LONG), Cache()
    before = prefix(B) if with_prefix else None
    cuts, pieces = (0, 1, 60, 64, 65, 140, LONG), []
    with torch.no_grad():
        for start, end in pairwise(cuts):
            seen = AttentionMask(
                causal=True, padding=None if mask.padding is None else mask.padding[:, :end]
            )
            pieces.append(layer(x[:, start:end], mask=seen, cache=cache, prefix=before).out)
        whole = layer(x, mask=mask, prefix=before).out
    assert cache.n_tokens == LONG
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-12, rtol=0)


@VARIANTS
def test_a_cache_which_has_one_sum_for_all_texts_is_refused_with_segments(
    variant: type[Linear] | type[Performer],
) -> None:
    layer, mask = make(variant), mask_of("causal, segments", SHORT)
    with pytest.raises(AssertionError, match="segments"):
        layer(tokens(SHORT), mask=mask, cache=Cache())


@VARIANTS
@pytest.mark.parametrize("name", ["all", "causal", "causal, padded", "segments"])
def test_the_weights_are_those_that_mix_the_values(
    variant: type[Linear] | type[Performer], name: str
) -> None:
    layer, x, mask = make(variant), tokens(SHORT), mask_of(name, SHORT)
    out, weights = layer(x, mask=mask, need_weights=True)
    mixed = layer.proj(side_by_side(weights @ in_heads(layer.value(x))))
    torch.testing.assert_close(out, mixed, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("n_features", "width"), [(5, 6), (6, 6), (20, 6)])
def test_directions_are_at_right_angles_within_their_block(n_features: int, width: int) -> None:
    torch.manual_seed(4)
    directions = draw_directions(n_features, width).double()
    assert directions.shape == (n_features, width)
    for block in directions.split(width):
        angles = block @ block.T
        off_diagonal = angles - angles.diag().diag()
        torch.testing.assert_close(off_diagonal, 0 * angles, atol=1e-5, rtol=0)


def test_directions_are_as_long_as_normal_vectors() -> None:
    """E|w|² = K; its mean over n vectors is within 5 √(2K/n) of that."""
    torch.manual_seed(5)
    n, width = 6000, 6
    mean = float(draw_directions(n, width).square().sum(1).mean())
    assert abs(mean - width) < 5 * (2 * width / n) ** 0.5


def test_directions_point_everywhere_alike() -> None:
    """Each coordinate has mean 0 and variance 1, so a mean of n is within 5/√n of 0."""
    torch.manual_seed(6)
    n = 6000
    assert float(draw_directions(n, 6).mean(0).abs().max()) < 5 / n**0.5


def distance_to_dot_product(n_features: int, *, n_draws: int = 12) -> float:
    """Return the mean error over several draws, relative to the size of the exact output."""
    exact, x = drawn(DotProduct(D, H, SHORT), std=0.15), tokens(SHORT)
    errors = []
    for seed in range(n_draws):
        torch.manual_seed(seed)
        layer = drawn(Performer(D, H, SHORT, n_features=n_features), std=0.15)
        with torch.no_grad():
            wanted = exact(x, mask=CAUSAL).out
            errors.append(float((layer(x, mask=CAUSAL).out - wanted).norm() / wanted.norm()))
    return sum(errors) / n_draws


def test_more_features_come_nearer_to_dot_product_attention() -> None:
    """A mean over n features errs like 1/√n: 64 times as many err 8 times less, here at least 4."""
    few, many = distance_to_dot_product(64), distance_to_dot_product(4096)
    assert many < few / 4
    assert many < 0.02


def test_without_its_scale_it_comes_no_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Performer,
        "key_features",
        lambda self, k: torch.exp(k @ self.directions.T - k.square().sum(-1, keepdim=True) / 2),
    )
    assert distance_to_dot_product(4096) > 0.05
