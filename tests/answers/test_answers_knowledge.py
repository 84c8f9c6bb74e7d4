"""*knowledge* 1(a) to 1(c): what the answers claim of weights, copies and projections."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from attnlab.geometry.instance import Instance, make_instance, output_of, weights_of
from attnlab.geometry.noise import noisy_heads
from attnlab.geometry.sharpness import smallest_beta
from attnlab.geometry.subspaces import extraction, extraction_error

N = 20


def drawn(seed: int) -> tuple[Instance, np.ndarray]:
    """Return keys, values and a query without any structure."""
    dice = np.random.default_rng(seed)
    return Instance(dice.normal(size=(N, 5)), dice.normal(size=(N, 3))), dice.normal(size=5)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_a_distribution(seed: int) -> None:
    instance, query = drawn(seed)
    weights = weights_of(instance.keys, query)
    assert weights.min() > 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    tokens = np.random.default_rng(seed).choice(N, size=200_000, p=weights)
    assert instance.values[tokens].mean(axis=0) == pytest.approx(
        output_of(instance, query), abs=0.02
    )


def lead_of(instance: Instance, query: np.ndarray) -> tuple[int, float]:
    """Return the best key, and by how much its score exceeds the next."""
    scores = instance.keys @ query
    best = int(scores.argmax())
    return best, float(scores[best] - np.delete(scores, best).max())


@pytest.mark.parametrize("scale", [0.1, 1, 5, 20])
def test_a_lead_bounds_the_weight(scale: float) -> None:
    for seed in range(20):
        instance, query = drawn(seed)
        best, lead = lead_of(instance, scale * query)
        weight = weights_of(instance.keys, scale * query)[best]
        assert weight >= 1 / (1 + (N - 1) * math.exp(-lead)) - 1e-12
    enough = math.log(99 * (N - 1))
    assert enough == pytest.approx(7.54, abs=5e-3)
    assert enough == pytest.approx(smallest_beta(0.99, n_tokens=N, wanted=1))
    assert weights_of(np.eye(N), enough * np.eye(N)[3])[3] == pytest.approx(0.99)  # equal leads


@pytest.mark.parametrize("scale", [1, 5, 20])
def test_the_output_is_near_the_value_that_has_the_weight(scale: float) -> None:
    for seed in range(20):
        instance, query = drawn(seed)
        best, _ = lead_of(instance, query)
        weight = weights_of(instance.keys, scale * query)[best]
        off = np.linalg.norm(output_of(instance, scale * query) - instance.values[best])
        farthest = np.linalg.norm(instance.values - instance.values[best], axis=1).max()
        assert off <= (1 - weight) * farthest + 1e-12


def test_what_is_copied_moves_with_its_key() -> None:
    keys, query = np.eye(6)[:4], 30 * np.eye(6)[2]
    values = np.arange(12.0).reshape(4, 3)
    for order in ([0, 1, 2, 3], [2, 3, 0, 1], [3, 1, 0, 2]):
        moved = make_instance(keys[order], values[order])
        assert output_of(moved, query) == pytest.approx(values[2], abs=1e-9)


def test_the_projection_takes_a_summand_out() -> None:
    dice = np.random.default_rng(3)
    basis = np.linalg.qr(dice.normal(size=(7, 7)))[0].T
    first, second = basis[:3], basis[3:5]
    projection = first.T @ first  # A Aᵀ: bases are rows here
    for _ in range(10):
        v_a, v_b = dice.normal(size=3) @ first, dice.normal(size=2) @ second
        assert projection @ (v_a + v_b) == pytest.approx(v_a, abs=1e-12)
    slanted = second + 0.5 * first[:2]  # no longer orthogonal: A Aᵀ fails, another M does it
    assert extraction_error(projection, first, second=slanted) > 0.3
    assert extraction(first, slanted).error < 1e-12
    shared = np.stack([second[0], first[0]])  # both hold a_1: none does it
    assert extraction(first, shared).matrix is None


def test_one_head_mostly_takes_one_of_the_two() -> None:
    """One has nine times the other's weight if |z − 1| > ln 9 / β, with z from N(1, ½)."""
    expected = 2 * ndtr(-math.log(9) / 10 / math.sqrt(0.5))
    assert expected == pytest.approx(0.756, abs=5e-4)  # three of four draws
    found = noisy_heads(n_tokens=N, beta=10, draws=40_000)
    a, b = found.one_head[:, 0], found.one_head[:, 1]
    ratio = np.maximum(a, b) / np.maximum(np.minimum(a, b), 1e-300)
    assert (ratio > 9).mean() == pytest.approx(expected, abs=0.01)
    assert found.deviation(1) == pytest.approx(0.44, abs=5e-3)


def test_a_little_noise_leaves_half_the_weight_on_each() -> None:
    """1(c)i and 1(d)i: the weights of 1(b)ii, with one head and with two, in every draw."""
    beta, alpha = 10.0, 1e-6
    found = noisy_heads(n_tokens=N, beta=beta, alpha=alpha, length_variance=0, draws=2_000)
    expected = {1: math.exp(beta) / (2 * math.exp(beta) + N - 2), 2: 0.5}
    for heads, weights in ((1, found.one_head), (2, found.two_heads)):
        assert weights[:, :2] == pytest.approx(expected[heads], abs=0.02)
    noisier = noisy_heads(n_tokens=N, beta=beta, alpha=1e-4, length_variance=0, draws=40_000)
    lead = np.log(noisier.one_head[:, 0] / noisier.one_head[:, 1])  # two scores, 2αβ² each
    assert lead.var() == pytest.approx(2 * 2 * 1e-4 * beta**2, rel=0.05)


def test_where_the_first_head_loses_its_key() -> None:
    """1(d)ii: at z = ln(n − 1)/β, k_a has half of the weight of its head."""
    z = math.log(N - 1) / 10
    assert z == pytest.approx(0.29, abs=5e-3)
    keys = np.eye(N)
    keys[0] *= z
    assert weights_of(keys, 10 * np.eye(N)[0])[0] == pytest.approx(0.5)
    assert weights_of(keys, 10 * np.eye(N)[1])[1] > 0.999  # the second head does not notice
