"""The bootstrap covers at its stated rate, over examples and over seeds."""

import numpy as np
import pytest

from attnlab.evaluation import resampling
from attnlab.evaluation.intervals import wilson
from attnlab.evaluation.resampling import Bootstrap, percentile_interval, two_sided_p


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "RESAMPLES", 1000)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
def test_wilson_covers_at_its_rate(share: float) -> None:
    """Exact: the coverage is a sum over all outcomes, averaged over nearby shares."""
    from scipy.stats import binom

    n, coverage = 60, []
    bounds = [wilson(k, n) for k in range(n + 1)]
    for p in np.linspace(share - 0.04, share + 0.04, 41):
        inside = [low <= p <= high for low, high in bounds]
        coverage.append(binom.pmf(np.arange(n + 1), n, p)[inside].sum())
    assert np.mean(coverage) == pytest.approx(0.95, abs=0.015)


def test_the_bootstrap_over_examples_covers_at_its_rate() -> None:
    dice, inside = np.random.default_rng(1), 0
    for i in range(300):
        first = dice.random(80) < 0.6
        second = np.where(dice.random(80) < 0.3, dice.random(80) < 0.9, first)
        low, high = percentile_interval(
            Bootstrap([first[None] * 1.0, second[None] * 1.0], seed=i).differences(0, 1)
        )
        inside += low <= 0.3 * (0.9 - 0.6) <= high
    assert 0.91 <= inside / 300 <= 0.985


@pytest.mark.parametrize("seeds", [3, 5])
def test_the_bootstrap_over_seeds_and_examples_covers_at_its_rate(seeds: int) -> None:
    """Seeds differ a lot and examples little: the case in which few seeds look like many."""
    dice, inside, rounds = np.random.default_rng(2), 0, 300
    for i in range(rounds):
        luck = dice.normal(0, 0.05, size=(seeds, 1))
        table = 0.7 + luck + dice.normal(0, 0.02, size=(seeds, 50))
        low, high = percentile_interval(Bootstrap([table], seed=i).means(0))
        inside += low <= 0.7 <= high
    assert inside / rounds >= 0.92


def test_without_the_stretch_few_seeds_would_look_like_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: seeds drawn as they are cover far too seldom."""
    import scipy.stats

    monkeypatch.setattr(scipy.stats.t, "ppf", lambda *_: 1.96)
    dice, inside, rounds = np.random.default_rng(2), 0, 200
    for i in range(rounds):
        table = 0.7 + dice.normal(0, 0.05, size=(3, 1)) + dice.normal(0, 0.02, size=(3, 50))
        low, high = percentile_interval(Bootstrap([table], seed=i).means(0))
        inside += low <= 0.7 <= high
    assert inside / rounds < 0.9


def test_two_conditions_of_three_seeds_without_a_difference_are_rarely_told_apart() -> None:
    dice, rejected, rounds = np.random.default_rng(3), 0, 300
    for i in range(rounds):
        examples = dice.normal(0, 0.2, size=(1, 50))
        tables = [
            0.7 + dice.normal(0, 0.04, size=(3, 1)) + examples + dice.normal(0, 0.1, size=(3, 50))
            for _ in range(2)
        ]
        rejected += two_sided_p(Bootstrap(tables, seed=i).differences(0, 1)) < 0.05
    assert rejected / rounds <= 0.08


def test_pairs_stay_together() -> None:
    """The difference of two that err on the same examples is surer than either score."""
    dice = np.random.default_rng(4)
    hard = dice.random(200) < 0.5
    first, second = (hard | (dice.random(200) < share) for share in (0.02, 0.06))
    bootstrap = Bootstrap([first[None] * 1.0, second[None] * 1.0])
    apart = bootstrap.differences(0, 1)
    assert (
        apart.std() < 0.5 * (bootstrap.means(1) - np.random.permutation(bootstrap.means(0))).std()
    )


def test_a_mean_a_token_weighs_long_examples_more() -> None:
    losses, tokens = np.array([[10.0, 400.0]]), np.array([10.0, 100.0])
    means = Bootstrap([losses], weights=tokens).means(0)
    assert set(np.round(means, 6)) == {1.0, 4.0, round(410 / 110, 6)}
