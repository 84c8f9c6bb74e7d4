"""Each variant does what its file says, on weights made by hand or against its formula."""

from pathlib import Path
from typing import Any

import pytest
import torch
from cases import D, H, K, assert_same, drawn, in_heads, side_by_side, softmax_where, tokens
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask
from attnlab.attention.variants.additive import Additive
from attnlab.attention.variants.cosine import Cosine
from attnlab.attention.variants.custom import Custom
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.gaussian import Gaussian
from attnlab.attention.variants.hard import Hard
from attnlab.attention.variants.late_mask import LateMask
from attnlab.attention.variants.mlp_projection import MlpProjection
from attnlab.attention.variants.random_synthesizer import RandomSynthesizer
from attnlab.attention.variants.shared_projection import SharedProjection
from attnlab.attention.variants.synthesizer import Synthesizer
from attnlab.checks.leakage import layer_leak
from attnlab.errors import UserError

T = 7
ALL, CAUSAL = AttentionMask(), AttentionMask(causal=True)
BOTH_WAYS = pytest.mark.parametrize("mask", [ALL, CAUSAL], ids=["all", "causal"])


def allowed(mask: AttentionMask, n_tokens: int = T) -> Tensor:
    every = torch.ones(n_tokens, n_tokens, dtype=torch.bool)
    return every.tril() if mask.causal else every


def projected(layer: nn.Module, x: Tensor) -> list[Tensor]:
    return [in_heads(linear(x)) for linear in (layer.query, layer.key, layer.value)]


def check_scores(layer: nn.Module, scores: Any, mask: AttentionMask) -> None:
    """Compare a layer with the softmax of these scores of its queries and keys."""
    x = tokens(T).requires_grad_()

    def by_formula() -> Tensor:
        q, k, v = projected(layer, x)
        weights = softmax_where(scores(q, k), allowed(mask))
        return layer.proj(side_by_side(weights @ v))

    assert_same(lambda: layer(x, mask=mask).out, by_formula, [x, *layer.parameters()])


# --- the next coin, read from the denominator -----------------------------------------------------

COINS = 6
N_ROWS = 400


def coin_rows() -> Tensor:
    return torch.randint(2, (N_ROWS, COINS), generator=torch.Generator().manual_seed(8))


def as_vectors(coins: Tensor) -> Tensor:
    """Token t is e_t, and e_t again in a second half if it shows heads: (N, T, 2T)."""
    place = torch.eye(COINS, dtype=torch.float64).expand(len(coins), -1, -1)
    return torch.cat([place, place * coins[..., None]], dim=-1)


def coin_reader(variant: type[nn.Module]) -> nn.Module:
    """Build a head whose query at t scores key t + 1 with 30 if it shows heads, all others with 0.

    Every value is 1, so that what a token takes home is the weight that is left for the past.
    """
    width = 2 * COINS
    layer = variant(width, 1, COINS).double().eval()
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    with torch.no_grad():
        for t in range(COINS - 1):
            layer.query.weight[t + 1, t] = 30 * width**0.5  # asks for the next place
        for t in range(COINS):
            layer.key.weight[t, COINS + t] = 1.0  # answers if it shows heads
        layer.value.bias.fill_(1.0)
        layer.proj.weight.copy_(torch.eye(width))
    return layer


def accuracy_on_the_next_coin(layer: nn.Module, coins: Tensor) -> float:
    """Say heads where less than half a key's fair share, 1 / 2T, is left for the past."""
    with torch.no_grad():
        left = layer(as_vectors(coins), mask=CAUSAL).out[:, :-1, 0]
    says_heads = left < 1 / (2 * COINS)
    return float((says_heads == coins[:, 1:].bool()).double().mean())


def test_a_mask_after_the_softmax_tells_every_next_coin() -> None:
    assert accuracy_on_the_next_coin(coin_reader(LateMask), coin_rows()) == 1.0


def test_a_mask_before_the_softmax_tells_no_next_coin() -> None:
    """The 2,000 coins are fair: a guess is right 1,000 ± 4 · √500 times, but once in 16,000 draws.

    And no other reading of the outputs can do better: they do not change with the next coin.
    """
    layer, coins = coin_reader(DotProduct), coin_rows()
    n = coins[:, 1:].numel()
    assert n == 2000
    assert abs(accuracy_on_the_next_coin(layer, coins) - 0.5) <= 4 * 0.5 / n**0.5
    for t in range(COINS - 1):
        flipped = coins.clone()
        flipped[:, t + 1] = 1 - flipped[:, t + 1]
        with torch.no_grad():
            outs = [layer(as_vectors(c), mask=CAUSAL).out[:, : t + 1] for c in (coins, flipped)]
        assert torch.equal(*outs)


def test_the_meter_tells_the_two_apart() -> None:
    x = as_vectors(coin_rows()[:3])
    found = layer_leak(coin_reader(LateMask), x)
    assert found.found
    assert found.largest_change > 0.1
    assert layer_leak(coin_reader(DotProduct), x).largest_change == 0.0


@BOTH_WAYS
def test_a_late_mask_is_the_softmax_over_everything_with_the_future_struck_out(
    mask: AttentionMask,
) -> None:
    layer, x = drawn(LateMask(D, H, T)), tokens(T)
    q, k, v = projected(layer, x)
    weights = (q @ k.mT / K**0.5).softmax(-1) * allowed(mask)
    out, given = layer(x, mask=mask, need_weights=True)
    torch.testing.assert_close(given, weights, atol=1e-12, rtol=0)
    torch.testing.assert_close(out, layer.proj(side_by_side(weights @ v)), atol=1e-12, rtol=0)


# --- hard -----------------------------------------------------------------------------------------


@BOTH_WAYS
@pytest.mark.parametrize("straight_through", [False, True])
def test_hard_takes_the_value_of_the_best_key(mask: AttentionMask, straight_through: bool) -> None:
    layer, x = drawn(Hard(D, H, T, straight_through=straight_through)), tokens(T)
    q, k, v = projected(layer, x)
    best = (q @ k.mT).masked_fill(~allowed(mask), -torch.inf).argmax(-1)  # (B, H, T)
    taken = v.gather(2, best[..., None].expand(-1, -1, -1, K))
    wanted = layer.proj(side_by_side(taken))
    torch.testing.assert_close(layer(x, mask=mask).out, wanted, atol=1e-14, rtol=0)


def test_hard_takes_the_first_of_equals() -> None:
    layer, x = drawn(Hard(D, H, T)), tokens(T)
    x[:, 5] = x[:, 2]  # the same key twice
    weights = layer(x, mask=ALL, need_weights=True).weights
    assert weights[..., 2].sum() > 0
    assert weights[..., 5].sum() == 0
    nn.init.zeros_(layer.key.weight)  # all keys alike
    assert torch.equal(
        layer(x, mask=ALL, need_weights=True).weights[..., 0] == 1, weights[..., 0] < 2
    )


def gradients(layer: nn.Module) -> dict[str, bool]:
    """Say for each projection whether its weights get a gradient."""
    layer(tokens(T), mask=CAUSAL).out.square().sum().backward()
    given = {name: layer.get_parameter(f"{name}.weight").grad for name in ROLES}
    return {name: grad is not None and bool(grad.any()) for name, grad in given.items()}


ROLES = ("query", "key", "value", "proj")


def test_hard_teaches_the_values_alone() -> None:
    assert gradients(drawn(Hard(D, H, T))) == dict(
        zip(ROLES, (False, False, True, True), strict=True)
    )


def test_straight_through_teaches_queries_and_keys_as_the_softmax_would() -> None:
    hard = drawn(Hard(D, H, T, straight_through=True))
    assert gradients(hard) == dict.fromkeys(ROLES, True)
    x = tokens(T)
    q, k, v = projected(hard, x)
    soft = softmax_where(q @ k.mT / K**0.5, allowed(CAUSAL))
    chosen = nn.functional.one_hot(soft.argmax(-1), T)
    out = hard.proj(side_by_side((chosen + soft - soft.detach()) @ v))
    for name in ("query", "key"):
        weight = hard.get_parameter(f"{name}.weight")
        (wanted,) = torch.autograd.grad(out.square().sum(), weight, retain_graph=True)
        torch.testing.assert_close(weight.grad, wanted, atol=1e-12, rtol=0)


# --- other scores ---------------------------------------------------------------------------------


@BOTH_WAYS
def test_cosine_scores_are_cosines_times_a_factor_a_head(mask: AttentionMask) -> None:
    layer = drawn(Cosine(D, H, T))

    def cosines(q: Tensor, k: Tensor) -> Tensor:
        lengths = (q * q).sum(-1).sqrt()[..., None] * (k * k).sum(-1).sqrt()[:, :, None]
        return (q @ k.mT) / lengths * layer.log_sharpness.exp()[:, None, None]

    check_scores(layer, cosines, mask)


@pytest.mark.parametrize("role", ["query", "key"])
def test_how_long_a_key_or_query_is_does_not_matter_to_cosines(role: str) -> None:
    x = tokens(T)
    for variant, matters in ((Cosine, False), (DotProduct, True)):
        layer = drawn(variant(D, H, T))
        linear = layer.get_submodule(role)
        nn.init.zeros_(linear.bias)
        before = layer(x, mask=CAUSAL).out
        with torch.no_grad():
            linear.weight.mul_(3.7)
        assert torch.allclose(layer(x, mask=CAUSAL).out, before, atol=1e-12, rtol=0) is not matters


def test_cosine_begins_with_a_key_in_the_querys_direction_worth_e_to_the_10() -> None:
    layer = Cosine(D, H, T)
    torch.testing.assert_close(layer.log_sharpness.exp(), torch.full((H,), 10.0))


@BOTH_WAYS
def test_gaussian_scores_are_negative_squared_distances(mask: AttentionMask) -> None:
    def distances(q: Tensor, k: Tensor) -> Tensor:
        return -(q[..., :, None, :] - k[..., None, :, :]).square().sum(-1) / (2 * K**0.5)

    check_scores(drawn(Gaussian(D, H, T)), distances, mask)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check_scores(drawn(Gaussian(D, H, T)), lambda q, k: 2 * distances(q, k), mask)


@BOTH_WAYS
def test_additive_scores_are_judged_by_a_small_network(mask: AttentionMask) -> None:
    layer = drawn(Additive(D, H, T))

    def judged(q: Tensor, k: Tensor) -> Tensor:
        rows = [
            torch.stack([torch.tanh(q[:, h, t, None] + k[:, h]) @ layer.judge[h] for t in range(T)])
            for h in range(H)
        ]
        return torch.stack(rows).permute(2, 0, 1, 3)

    check_scores(layer, judged, mask)


# --- custom ---------------------------------------------------------------------------------------

SCORES = """
def scaled(q, k):
    return q @ k / q.shape[-1] ** 0.5

def lopsided(q, k):
    return q[0] * k[-1]
"""


@pytest.fixture
def scores_file(tmp_path: Path) -> Path:
    path = tmp_path / "scores.py"
    path.write_text(SCORES, encoding="utf-8")
    return path


@BOTH_WAYS
def test_custom_with_the_scaled_dot_product_is_dot_product(
    scores_file: Path, mask: AttentionMask
) -> None:
    custom = drawn(Custom(D, H, T, score=f"{scores_file}:scaled"))
    dot = drawn(DotProduct(D, H, T))
    x = tokens(T).requires_grad_()
    assert_same(lambda: custom(x, mask=mask).out, lambda: dot(x, mask=mask).out, [x])


@BOTH_WAYS
def test_custom_scores_every_pair_query_first(scores_file: Path, mask: AttentionMask) -> None:
    layer = drawn(Custom(D, H, T, score=f"{scores_file}:lopsided"))
    check_scores(layer, lambda q, k: q[..., 0, None] * k[..., -1][:, :, None], mask)


@BOTH_WAYS
def test_custom_without_a_function_takes_the_city_block_distance(mask: AttentionMask) -> None:
    def distances(q: Tensor, k: Tensor) -> Tensor:
        return -(q[..., :, None, :] - k[..., None, :, :]).abs().sum(-1)

    check_scores(drawn(Custom(D, H, T)), distances, mask)


def test_custom_asks_for_a_file_and_a_name() -> None:
    with pytest.raises(
        UserError, match=r"^score 'lopsided' is not of the form path/to/file\.py:Name\.$"
    ):
        Custom(D, H, T, score="lopsided")


# --- synthesizers ---------------------------------------------------------------------------------


@BOTH_WAYS
@pytest.mark.parametrize("shared", [False, True], ids=["a B for each head", "one B"])
def test_the_synthesizer_equals_its_equation(mask: AttentionMask, shared: bool) -> None:
    """softmax(ReLU(x A + b₁) B + b₂) x V, head by head and row by row."""
    layer, x = drawn(Synthesizer(D, H, T + 2, shared=shared)), tokens(T).requires_grad_()
    assert layer.w2.shape == ((K, T + 2) if shared else (H, K, T + 2))

    def by_loops() -> Tensor:
        rows = []
        for row in x:
            outs = []
            for h in range(H):
                part = slice(h * K, (h + 1) * K)
                hidden = torch.relu(row @ layer.w1.weight[part].T + layer.w1.bias[part])
                matrix = layer.w2 if shared else layer.w2[h]
                bias = layer.b2 if shared else layer.b2[h, 0]
                values = row @ layer.value.weight[part].T + layer.value.bias[part]
                heads = []
                for t in range(T):
                    seen = t + 1 if mask.causal else T
                    scores = hidden[t] @ matrix[:, :seen] + bias[:seen]
                    heads.append(scores.softmax(0) @ values[:seen])
                outs.append(torch.stack(heads))
            rows.append(torch.cat(outs, dim=-1))
        return layer.proj(torch.stack(rows))

    assert_same(lambda: layer(x, mask=mask).out, by_loops, [x, *layer.parameters()])


def test_the_synthesizer_does_not_look_at_what_stands_at_other_places() -> None:
    layer, x, other = drawn(Synthesizer(D, H, T)), tokens(T), tokens(T, seed=9)
    other[:, 3] = x[:, 3]
    rows = [layer(y, mask=ALL, need_weights=True).weights for y in (x, other)]
    assert torch.equal(rows[0][:, :, 3], rows[1][:, :, 3])
    assert not torch.allclose(rows[0][:, :, 2], rows[1][:, :, 2])


@BOTH_WAYS
def test_the_random_synthesizer_looks_the_same_way_whatever_it_reads(mask: AttentionMask) -> None:
    layer = drawn(RandomSynthesizer(D, H, T + 2))
    x, other = tokens(T), tokens(T, seed=9)
    out, weights = layer(x, mask=mask, need_weights=True)
    assert torch.equal(weights, layer(other, mask=mask, need_weights=True).weights)
    wanted = softmax_where(layer.scores[:, :T, :T], allowed(mask))
    torch.testing.assert_close(weights, wanted.expand_as(weights), atol=1e-12, rtol=0)
    mixed = layer.proj(side_by_side(wanted @ in_heads(layer.value(x))))
    torch.testing.assert_close(out, mixed, atol=1e-12, rtol=0)


@pytest.mark.parametrize("variant", [Synthesizer, RandomSynthesizer])
def test_written_scores_end_at_max_len(variant: type[nn.Module]) -> None:
    with pytest.raises(UserError, match=r"^a sequence of 7 tokens is longer than max_len = 6, "):
        drawn(variant(D, H, T - 1))(tokens(T), mask=ALL)


# --- other projections ----------------------------------------------------------------------------


def pair_scores(weights: Tensor) -> Tensor:
    """Return the scores but for a number a row, which the softmax loses."""
    scores = weights.log()
    return scores - scores.diagonal(dim1=-2, dim2=-1)[..., None]


def test_one_projection_for_query_and_key_makes_scores_symmetric() -> None:
    """With s(t, s) = s(s, t) a row less its diagonal, read both ways, differs by the diagonals."""
    layer, x = drawn(SharedProjection(D, H, T, share="qk")), tokens(T)
    weights = layer(x, mask=ALL, need_weights=True).weights
    both = in_heads(layer.projections["qk"](x))
    own = (both * both).sum(-1) / K**0.5
    scores = pair_scores(weights) + own[..., None]
    torch.testing.assert_close(scores, scores.mT, atol=1e-12, rtol=0)
    torch.testing.assert_close(scores, both @ both.mT / K**0.5, atol=1e-12, rtol=0)


@BOTH_WAYS
@pytest.mark.parametrize("share", ["qk", "kv", "qv", "qkv"])
def test_shared_projections_are_dot_product_with_equal_weights(
    share: str, mask: AttentionMask
) -> None:
    layer, twin, x = drawn(SharedProjection(D, H, T, share=share)), DotProduct(D, H, T), tokens(T)
    assert len(layer.projections) == 4 - len(share)
    twin = twin.double()
    names = {"q": "query", "k": "key", "v": "value"}
    for roles, linear in layer.projections.items():
        for role in roles:
            twin.get_submodule(names[role]).load_state_dict(linear.state_dict())
    twin.proj.load_state_dict(layer.proj.state_dict())
    torch.testing.assert_close(layer(x, mask=mask).out, twin(x, mask=mask).out, atol=1e-12, rtol=0)


@BOTH_WAYS
@pytest.mark.parametrize("hidden", [None, 5, 0], ids=["as wide", "narrow", "a GELU alone"])
@pytest.mark.parametrize("on", ["q", "v", "qk", "qkv"])
def test_projections_by_networks_equal_their_formula(
    on: str, hidden: int | None, mask: AttentionMask
) -> None:
    layer = drawn(MlpProjection(D, H, T, on=on, hidden=hidden))

    def network(part: nn.Module, x: Tensor, is_network: bool) -> Tensor:
        if not is_network:
            return x @ part.weight.T + part.bias
        first = x @ part[0].weight.T + part[0].bias
        bent = first * (1 + torch.erf(first / 2**0.5)) / 2  # GELU written out
        return bent if hidden == 0 else bent @ part[2].weight.T + part[2].bias

    def by_formula(x: Tensor) -> Tensor:
        q, k, v = (
            in_heads(network(part, x, role in on))
            for role, part in zip("qkv", (layer.query, layer.key, layer.value), strict=True)
        )
        return layer.proj(side_by_side(softmax_where(q @ k.mT / K**0.5, allowed(mask)) @ v))

    x = tokens(T).requires_grad_()
    assert_same(lambda: layer(x, mask=mask).out, lambda: by_formula(x), [x, *layer.parameters()])


@pytest.mark.parametrize("on", ["", "x", "qw", "query"])
def test_networks_go_on_queries_keys_and_values_only(on: str) -> None:
    with pytest.raises(UserError, match=rf"^mlp_projection: on = '{on}' is not possible\. Allowed"):
        MlpProjection(D, H, T, on=on)
