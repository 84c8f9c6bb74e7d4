"""What an experiment can show: as the paired test that comes later would, four times in five."""

import numpy as np
import pytest

from attnlab.evaluation.power import APART, detectable
from attnlab.evaluation.significance import SIGNIFICANT, mcnemar, smallest_difference


@pytest.mark.parametrize("n", [200, 1000, 5000])
def test_for_two_runs_it_is_what_connors_formula_gives(n: int) -> None:
    assert detectable(n) == pytest.approx(smallest_difference(n, APART), rel=0.05)


def test_a_difference_of_that_size_is_found_four_times_in_five() -> None:
    n, generator = 1000, np.random.default_rng(0)
    d, found = detectable(n), 0
    for _ in range(300):
        draws = generator.random(n)
        second = draws < (APART + d) / 2  # right where the first is wrong
        first = (draws >= (APART + d) / 2) & (draws < APART)
        found += mcnemar(first.astype(float), second.astype(float)) < SIGNIFICANT
    assert 0.7 < found / 300 < 0.88


def test_more_examples_and_seeds_show_less_and_more_comparisons_more() -> None:
    assert detectable(4000) == pytest.approx(detectable(1000) / 2)
    assert detectable(1000, comparisons=8) > detectable(1000)
    by_seeds = [detectable(10**9, seeds=k) for k in (2, 3, 5, 20)]
    assert by_seeds == sorted(by_seeds, reverse=True)
    assert by_seeds[-1] == pytest.approx(0.01 * np.sqrt(2 / 20) * 2.87, rel=0.02)
