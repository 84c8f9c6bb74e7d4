"""Outputs are decided apart from weights: with proof where there is one, honestly where not."""

import numpy as np
import pytest
from scipy.optimize import linprog

from attnlab.geometry.certificates import objections
from attnlab.geometry.examples import cse517, interior, midpoint
from attnlab.geometry.instance import Instance, output_of, weights_of
from attnlab.geometry.moments import values_are_affine, weights_with_mean
from attnlab.geometry.outputs import OutputSolution, solve_output
from attnlab.geometry.targets import select
from attnlab.geometry.weights import solve_weights


def missed(instance: Instance, solution: OutputSolution) -> float:
    """Say how far off the output is at the end of the way that the solution gives."""
    assert solution.weights is not None
    path = solution.weights.path
    assert path is not None
    return float(
        np.abs(output_of(instance, path.query(path.scale_for(1e-9))) - solution.output).max()
    )


def test_an_output_outside_the_values_is_never_reached() -> None:
    instance, output = cse517(), np.array([5.0, 5.0, 5.0])
    solution = solve_output(instance, output)
    assert solution.verdict == "never"
    assert solution.direction is not None
    assert ((instance.values - output) @ solution.direction).min() > 7
    assert solution.tokens == ()


def test_the_value_of_an_inner_key_is_out_of_reach_if_it_stands_alone() -> None:
    instance = interior()
    solution = solve_output(instance, instance.values[3])
    assert solution.verdict == "never"
    assert solution.tokens == (3,)
    assert solution.reason == "only token 3 may keep weight, but key 3 is a mean of other keys"
    assert solution.direction is not None  # which proves that no other token keeps weight
    scores = (instance.values - instance.values[3]) @ solution.direction
    assert scores[3] == pytest.approx(0, abs=1e-12)
    assert scores[:3].min() > 0.1
    assert solution.weights is not None
    assert solution.weights.certificate is not None
    assert objections(solution.weights.certificate, instance.keys, select(4, 3)) == []


def test_an_inner_keys_value_is_reached_if_it_equals_anothers() -> None:
    """*attention* 1.2: an output without its weights, by equal values."""
    instance = Instance(interior().keys, np.array([[1.0, 0], [0, 1], [-1, 0], [1, 0]]))
    assert solve_weights(instance.keys, select(4, 3)).verdict == "never"
    solution = solve_output(instance, instance.values[3])
    assert solution.verdict == "limit"
    assert solution.tokens == (0, 3)
    assert missed(instance, solution) < 1e-8


def test_an_inner_keys_value_is_reached_if_it_is_the_mean_of_its_face() -> None:
    """*attention* 1.2: an output without its weights, by a value that is a mean."""
    instance = midpoint()
    assert solve_weights(instance.keys, select(4, 2)).verdict == "never"
    solution = solve_output(instance, instance.values[2])
    assert solution.verdict == "limit"
    assert solution.tokens == (0, 1, 2)
    assert missed(instance, solution) < 1e-8


def test_an_inner_keys_value_is_exact_if_it_is_the_mean_of_all() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    instance = Instance(interior().keys, np.vstack([values, values.mean(axis=0)]))
    assert not values_are_affine(instance)
    solution = solve_output(instance, instance.values[3])
    assert solution.verdict == "exact"
    assert missed(instance, solution) < 1e-12


def test_more_weight_than_an_inner_key_can_have_is_never_reached() -> None:
    solution = solve_output(interior(), np.array([0.3, -0.6]))
    assert solution.verdict == "never"
    assert solution.reason.startswith(
        "it needs a weight of 0.6 on token 3, which gets at most 0.261"
    )


def test_every_mean_of_affinely_independent_keys_is_exact() -> None:
    instance, dice = cse517(), np.random.default_rng(3)
    assert values_are_affine(instance)
    for _ in range(20):
        solution = solve_output(instance, dice.dirichlet(np.ones(4)) @ instance.values)
        assert solution.verdict == "exact"
        assert missed(instance, solution) < 1e-9


@pytest.mark.parametrize("token", range(4))
def test_a_value_at_a_corner_is_reached_in_the_limit(token: int) -> None:
    solution = solve_output(cse517(), cse517().values[token])
    assert solution.verdict == "limit"
    assert solution.tokens == (token,)
    assert missed(cse517(), solution) < 1e-8


def test_values_that_are_keys_reach_the_inside_of_their_hull_and_no_more() -> None:
    """The mean key moves over the whole inside of the hull: decided against a linear programme."""
    dice = np.random.default_rng(4)
    verdicts = set()
    for _ in range(60):
        points = dice.normal(size=(6, 2))
        output = dice.normal(size=2)
        solution = solve_output(Instance(points, points), output)
        system = np.vstack([points.T, np.ones(6)])
        possible = linprog(np.zeros(6), A_eq=system, b_eq=np.append(output, 1)).status == 0
        assert solution.verdict == ("exact" if possible else "never")
        if possible:
            assert missed(Instance(points, points), solution) < 1e-8
        verdicts.add(solution.verdict)
    assert len(verdicts) == 2


def test_what_a_query_gave_is_never_called_impossible() -> None:
    dice, found = np.random.default_rng(6), []
    for _ in range(25):
        instance = Instance(dice.normal(size=(5, 2)), dice.normal(size=(5, 2)))
        output = output_of(instance, dice.normal(size=2))
        solution = solve_output(instance, output)
        found.append(solution.verdict)
        assert missed(instance, solution) < 1e-7
        if solution.verdict == "limit":
            assert "a search found a finite query too" in solution.reason
            assert solution.query is not None
            assert output_of(instance, solution.query) == pytest.approx(output, abs=1e-8)
    assert set(found) <= {"found", "limit"}, found


def test_what_is_open_is_called_undecided_with_the_best_that_was_found() -> None:
    dice = np.random.default_rng(0)
    instance = Instance(dice.normal(size=(7, 1)), dice.normal(size=(7, 3)))
    output = instance.values.mean(axis=0) + 0.01  # one number cannot steer three
    solution = solve_output(instance, output)
    assert solution.verdict == "undecided"
    assert solution.query is not None
    assert solution.error == pytest.approx(
        np.abs(output_of(instance, solution.query) - output).max()
    )
    assert solution.reason.startswith("no proof either way; the best query found misses it by 0.0")


def test_a_single_token_always_gives_its_value() -> None:
    instance = Instance(np.array([[1.0, 2.0]]), np.array([[3.0]]))
    assert solve_output(instance, np.array([3.0])).verdict == "exact"
    assert solve_output(instance, np.array([3.1])).verdict == "never"


def test_equal_values_are_given_by_every_query() -> None:
    instance = Instance(interior().keys, np.full((4, 2), 1.5))
    assert solve_output(instance, np.full(2, 1.5)).verdict == "exact"


def test_many_tokens_are_not_all_combined() -> None:
    dice = np.random.default_rng(7)
    instance = Instance(dice.normal(size=(40, 2)), dice.normal(size=(40, 2)))
    assert solve_output(instance, instance.values.mean(axis=0)).verdict == "exact"


def test_the_weights_of_largest_entropy_have_the_wanted_mean() -> None:
    dice = np.random.default_rng(8)
    for spread in (1.0, 20.0):
        values = dice.normal(size=(6, 3))
        made = weights_of(values, spread * dice.normal(size=3))
        assert weights_with_mean(values, made @ values) @ values == pytest.approx(
            made @ values, abs=1e-9
        )
