"""Intervals and p-values hold what they promise, over examples and over seeds."""

import numpy as np
import pytest
from numpy.typing import NDArray

from attnlab.evaluation import resampling
from attnlab.evaluation.intervals import wilson
from attnlab.evaluation.resampling import Bootstrap, Estimate

Table = NDArray[np.float64]


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


@pytest.mark.parametrize(("first", "second"), [(0.6, 0.7), (0.93, 0.97), (0.97, 0.93)])
def test_the_interval_of_a_difference_covers_at_its_rate(first: float, second: float) -> None:
    """Near 100 %, too, and in both directions."""
    dice, inside, rounds = np.random.default_rng(1), 0, 300
    for i in range(rounds):
        tables = [(dice.random((1, 120)) < share) * 1.0 for share in (first, second)]
        low, high = Bootstrap(tables, seed=i).difference(0, 1).interval()
        inside += low <= second - first <= high
    assert 0.91 <= inside / rounds <= 0.985


def table(dice: np.random.Generator, seeds: int, luck: float, examples: float) -> Table:
    """Values round 0.7 with so much luck of the seed and so much noise of the example."""
    return 0.7 + dice.normal(0, luck, (seeds, 1)) + dice.normal(0, examples, (seeds, 50))


@pytest.mark.parametrize("examples", [0.02, 0.2], ids=["seeds decide", "both matter"])
@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_the_interval_over_seeds_and_examples_covers_at_its_rate(
    seeds: int, examples: float
) -> None:
    dice, inside, rounds = np.random.default_rng(2), 0, 300
    for i in range(rounds):
        low, high = Bootstrap([table(dice, seeds, 0.05, examples)], seed=i).mean(0).interval()
        inside += low <= 0.7 <= high
    assert inside / rounds >= 0.92


def test_normal_tails_would_make_few_seeds_look_like_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the seeds' variance counts as if it were known."""
    monkeypatch.setattr(Estimate, "reach", lambda self, _: 1.96 * self.standard_error)
    dice, inside, rounds = np.random.default_rng(2), 0, 200
    for i in range(rounds):
        low, high = Bootstrap([table(dice, 3, 0.05, 0.02)], seed=i).mean(0).interval()
        inside += low <= 0.7 <= high
    assert inside / rounds < 0.9


@pytest.mark.parametrize("seeds", [(2, 2), (3, 3), (1, 3), (1, 5)], ids=str)
def test_equal_conditions_are_told_apart_no_more_often_than_promised(
    seeds: tuple[int, int],
) -> None:
    """At 5 % and at 0.5 %, since Holm's correction needs the small ones to be true."""
    dice, p_values, rounds = np.random.default_rng(3), [], 600
    for i in range(rounds):
        shared = dice.normal(0, 0.2, (1, 50))
        tables = [table(dice, k, 0.04, 0.1) + shared for k in seeds]
        p_values.append(Bootstrap(tables, seed=i).difference(0, 1).p_value())
    assert np.mean(np.array(p_values) < 0.05) <= 0.075
    assert np.mean(np.array(p_values) < 0.005) <= 0.015


def test_pairs_stay_together() -> None:
    """The difference of two that err on the same examples is surer than either score."""
    dice = np.random.default_rng(4)
    hard = dice.random(200) < 0.5
    first, second = (hard | (dice.random(200) < share) for share in (0.02, 0.06))
    bootstrap = Bootstrap([first[None] * 1.0, second[None] * 1.0])
    unpaired = bootstrap.mean(0).examples + bootstrap.mean(1).examples
    assert bootstrap.difference(0, 1).examples < 0.25 * unpaired


def test_a_mean_a_token_weighs_long_examples_more() -> None:
    losses, tokens = np.array([[10.0, 400.0]]), np.array([10.0, 100.0])
    estimate = Bootstrap([losses], weights=tokens).mean(0)
    assert estimate.value == pytest.approx(410 / 110)
    assert set(np.round(estimate.drawn, 6)) == {1.0, 4.0, round(410 / 110, 6)}
