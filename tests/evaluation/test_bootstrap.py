"""Intervals and p-values hold what they promise, over examples and over seeds."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from attnlab.evaluation import bootstrap as module
from attnlab.evaluation.bootstrap import Bootstrap, Estimate, resampled_sums
from attnlab.evaluation.intervals import wilson
from attnlab.evaluation.metrics import METRICS, Metric

Rows = list[dict[str, Any]]
Table = NDArray[np.float64]


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 1000)


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


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(0.6, 0.7), (0.93, 0.97), (0.97, 0.93)])
def test_the_interval_of_a_difference_covers_at_its_rate(first: float, second: float) -> None:
    """Near 100 %, too, and in both directions."""
    dice, inside, rounds = np.random.default_rng(1), 0, 300
    for i in range(rounds):
        tables = [(dice.random((1, 120)) < share) * 1.0 for share in (first, second)]
        low, high = Bootstrap.of_means(tables, seed=i).difference(0, 1).interval()
        inside += low <= second - first <= high
    assert 0.91 <= inside / rounds <= 0.985


def table(dice: np.random.Generator, seeds: int, luck: float, examples: float) -> Table:
    """Values round 0.7 with so much luck of the seed and so much noise of the example."""
    return 0.7 + dice.normal(0, luck, (seeds, 1)) + dice.normal(0, examples, (seeds, 50))


@pytest.mark.slow
@pytest.mark.parametrize("examples", [0.02, 0.2], ids=["seeds decide", "both matter"])
@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_the_interval_over_seeds_and_examples_covers_at_its_rate(
    seeds: int, examples: float
) -> None:
    dice, inside, rounds = np.random.default_rng(2), 0, 300
    for i in range(rounds):
        low, high = (
            Bootstrap.of_means([table(dice, seeds, 0.05, examples)], seed=i).score(0).interval()
        )
        inside += low <= 0.7 <= high
    assert inside / rounds >= 0.92


def test_normal_tails_would_make_few_seeds_look_like_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the seeds' variance counts as if it were known."""
    monkeypatch.setattr(Estimate, "reach", lambda self, _: 1.96 * self.standard_error)
    dice, inside, rounds = np.random.default_rng(2), 0, 200
    for i in range(rounds):
        low, high = Bootstrap.of_means([table(dice, 3, 0.05, 0.02)], seed=i).score(0).interval()
        inside += low <= 0.7 <= high
    assert inside / rounds < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(2, 2), (3, 3), (1, 3), (1, 5)], ids=str)
def test_equal_conditions_are_told_apart_no_more_often_than_promised(
    seeds: tuple[int, int],
) -> None:
    """At 5 % and at 0.5 %, since Holm's correction needs the small ones to be true."""
    dice, p_values, rounds = np.random.default_rng(3), [], 600
    for i in range(rounds):
        shared = dice.normal(0, 0.2, (1, 50))
        tables = [table(dice, k, 0.04, 0.1) + shared for k in seeds]
        p_values.append(Bootstrap.of_means(tables, seed=i).difference(0, 1).p_value())
    assert np.mean(np.array(p_values) < 0.05) <= 0.075
    assert np.mean(np.array(p_values) < 0.005) <= 0.015


def made_up(dice: np.random.Generator, n: int, runs: int, *, noise: float) -> list[Rows]:
    """Tables of several runs that mostly err on the same examples, with every metric's columns."""
    gold, tokens = dice.choice(4, n, p=[0.5, 0.3, 0.15, 0.05]), dice.integers(5, 15, n)
    answer = np.where(dice.random(n) < 0.5, gold, dice.integers(0, 4, n))
    loss = dice.gamma(4, 10, n)
    tables = []
    for _ in range(runs):
        own = np.where(dice.random(n) < noise, dice.integers(0, 4, n), answer)
        losses = loss * (1 + noise * dice.random(n))
        columns = zip(gold.tolist(), own.tolist(), losses.tolist(), tokens.tolist(), strict=True)
        names = ("gold", "prediction", "loss", "tokens")
        rows = [dict(zip(names, row, strict=True)) for row in columns]
        tables.append([{**row, "characters": 3 * row["tokens"] + 1} for row in rows])
    return tables


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_scoring_the_drawn_rows_again_gives_the_same(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain loop: copy the drawn rows, score the new tables, average the seeds, subtract."""
    monkeypatch.setattr(module, "RESAMPLES", 40)
    monkeypatch.setattr(module, "CHUNK", 20)
    n, tables = 23, made_up(np.random.default_rng(6), 23, 3, noise=0.3)
    features = metric.features(tables)
    bootstrap = Bootstrap([features[:2], features[2:]], metric.finish, seed=8)
    scores = []
    for counts in np.random.default_rng(8).multinomial(n, np.full(n, 1 / n), size=40):
        drawn = [[rows[i] for i in np.repeat(np.arange(n), counts)] for rows in tables]
        scores.append([metric.score(rows) for rows in drawn])
    first, second = np.mean(np.array(scores)[:, :2], axis=1), np.array(scores)[:, 2]
    np.testing.assert_allclose(bootstrap.score(0).drawn, first, rtol=1e-12)
    np.testing.assert_allclose(bootstrap.score(1).drawn, second, rtol=1e-12)
    apart = bootstrap.difference(0, 1)
    np.testing.assert_allclose(apart.drawn, second - first, atol=1e-12 * first.max(), rtol=0)
    observed = [metric.score(rows) for rows in tables]
    assert apart.value == pytest.approx(observed[2] - np.mean(observed[:2]), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_each_metrics_interval_covers_at_its_rate(metric: Metric) -> None:
    """The truth is the score of a population from which the examples are drawn."""
    dice, inside, rounds = np.random.default_rng(9), 0, 200
    features = metric.features(made_up(dice, 5000, 2, noise=0.2))
    first, second = metric.finish(features.sum(axis=1))
    for i in range(rounds):
        drawn = features[:, dice.integers(0, 5000, 150)]
        low, high = (
            Bootstrap([drawn[:1], drawn[1:]], metric.finish, seed=i).difference(0, 1).interval()
        )
        inside += low <= second - first <= high
    assert 0.91 <= inside / rounds <= 0.985


def surer_by_pairs(metric: Metric) -> bool:
    """Say whether the difference of runs that err alike is surer than their scores suggest."""
    features = metric.features(made_up(np.random.default_rng(4), 200, 2, noise=0.04))
    bootstrap = Bootstrap([features[:1], features[1:]], metric.finish)
    unpaired = bootstrap.score(0).examples + bootstrap.score(1).examples
    return bootstrap.difference(0, 1).examples < 0.25 * unpaired


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_pairs_stay_together(metric: Metric) -> None:
    assert surer_by_pairs(metric)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_bootstrap_that_breaks_pairs_is_noticed(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: rows are drawn for each run by itself."""

    def drawn_apart(runs: Table, *, seed: int) -> Iterator[Table]:
        apart = [resampled_sums(runs[i : i + 1], seed=seed + i) for i in range(len(runs))]
        for chunks in zip(*apart, strict=True):
            yield np.concatenate(chunks, axis=1)

    monkeypatch.setattr(module, "resampled_sums", drawn_apart)
    assert not surer_by_pairs(metric)


def test_a_mean_a_token_weighs_long_examples_more() -> None:
    metric = METRICS["perplexity"]
    rows = [{"loss": 10.0, "tokens": 10}, {"loss": 400.0, "tokens": 100}]
    estimate = Bootstrap([metric.features([rows])], metric.finish).score(0)
    assert np.log(estimate.value) == pytest.approx(410 / 110)
    assert set(np.round(np.log(estimate.drawn), 6)) == {1.0, 4.0, round(410 / 110, 6)}
