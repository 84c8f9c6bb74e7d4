"""*attention* 1.2 to 2.2: what the answers claim beyond what tests/geometry checks."""

import numpy as np
import pytest
from scipy.special import softmax

from attnlab.geometry.examples import cse517
from attnlab.geometry.instance import output_of, weights_of
from attnlab.geometry.repair import with_key

CSE = cse517()


def test_a_large_multiple_of_the_keys_selects_every_value() -> None:
    products = CSE.keys @ CSE.keys.T
    assert products.argmax(axis=1).tolist() == [0, 1, 2, 3]
    outputs = np.stack([output_of(CSE, 1e6 * key) for key in CSE.keys])
    assert outputs == pytest.approx(CSE.values, abs=1e-12)
    edges = CSE.keys[1:] - CSE.keys[0]
    assert abs(np.linalg.det(edges)) > 0.5  # a tetrahedron: every key is a corner


def test_zero_is_the_only_query_that_averages_all() -> None:
    """Equal scores mean (k_i − k_0)·q = 0 for three independent differences, so q = 0."""
    assert weights_of(CSE.keys, np.zeros(3)).tolist() == [0.25] * 4
    assert np.linalg.matrix_rank(CSE.keys[1:] - CSE.keys[0]) == 3


@pytest.mark.parametrize("n", [3, 30, 300])
def test_an_average_collects_what_is_spread_and_does_not_grow(n: int) -> None:
    """Every wanted token hints at the topic; the others, which are left out, do not."""
    dice = np.random.default_rng(0)
    topic = np.array([0.0, 1.0, 0.0])
    wanted = topic + 0.3 * dice.normal(size=(n, 3))
    values = np.concatenate([wanted, 5 * dice.normal(size=(n, 3))])
    keys = np.repeat([[1.0], [0.0]], n, axis=0)
    mean = weights_of(keys, np.array([40.0])) @ values
    assert mean == pytest.approx(wanted.mean(axis=0), abs=1e-9)
    assert np.linalg.norm(mean - topic) < 4 * 0.3 * np.sqrt(3 / n)
    assert np.linalg.norm(mean) < 2  # the sum is n times as long


def test_a_key_that_scores_higher_takes_weight_from_all_others() -> None:
    query = 5 * (CSE.keys[0] + CSE.keys[1])
    before = weights_of(CSE.keys, query)
    assert 0 < before[2] < 1e-3
    after = weights_of(with_key(CSE, 2, CSE.keys[0]).keys, query)
    others = [0, 1, 3]
    assert (after[others] < before[others]).all()
    # they keep their proportions: only the common sum has changed
    assert after[others] / after[0] == pytest.approx(before[others] / before[0])


def test_the_example_of_the_report() -> None:
    scores = np.array([-20.0, -12, 20, 25])
    assert softmax(scores)[:2] == pytest.approx([3e-20, 8e-17], rel=0.1)
    assert softmax(scores)[2:] == pytest.approx([0.0067, 0.9933], abs=5e-5)
    assert softmax(scores[:2]) == pytest.approx([0.0003, 0.9997], abs=5e-5)
