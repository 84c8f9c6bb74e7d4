"""Weights: the three verdicts by hand, by theorem, and against independent methods."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.spatial import ConvexHull, QhullError

from attnlab.errors import UserError
from attnlab.geometry import weights
from attnlab.geometry.certificates import Certificate, objections
from attnlab.geometry.examples import cse517, interior, midpoint, orthonormal, unequal
from attnlab.geometry.faces import spread
from attnlab.geometry.instance import output_error, weights_of
from attnlab.geometry.targets import average, distribution, select
from attnlab.geometry.weights import WeightSolution, solve_identity, solve_weights, worst


def proved(solution: WeightSolution, keys: np.ndarray) -> bool:
    """Whether the solution says never and its certificate holds."""
    if solution.certificate is None:
        return False
    return objections(solution.certificate, keys, solution.target) == []


def test_a_proof_that_does_not_hold_is_never_given(monkeypatch: pytest.MonkeyPatch) -> None:
    false = Certificate(np.array([1.0, 0, 0, 0]), "key 3 is a mean of other keys")
    monkeypatch.setattr(weights, "no_face", lambda keys, target: false)  # noqa: ARG005
    with pytest.raises(AssertionError, match="does not hold, the numbers sum to 1, not to 0"):
        solve_weights(interior().keys, select(4, 3))


def follows(solution: WeightSolution, keys: np.ndarray, error: float) -> bool:
    """Whether the path's scale for an error keeps its promise."""
    assert solution.path is not None
    scale = solution.path.scale_for(error)
    missed = np.abs(weights_of(keys, solution.path.query(scale)) - solution.target).max()
    return missed <= solution.path.bound(scale) + 1e-12 and solution.path.bound(scale) <= error * (
        1 + 1e-9
    )


def test_the_average_of_the_first_two_is_met_to_a_millionth() -> None:
    instance, target = cse517(), average(4, [0, 1])
    solution = solve_weights(instance.keys, target)
    assert solution.verdict == "limit"
    assert solution.path is not None
    query = solution.path.query(solution.path.scale_for(1e-6))
    assert output_error(instance, query, target=target) < 1e-6
    assert np.linalg.norm(solution.path.direction) == pytest.approx(1)


@pytest.mark.parametrize(
    "subset", [s for n in range(1, 16) if (s := [i for i in range(4) if n >> i & 1])]
)
def test_every_subset_of_the_assignments_keys_can_be_averaged(subset: list[int]) -> None:
    """*attention* 1.2: here every subset can be averaged in the limit."""
    keys = cse517().keys
    solution = solve_weights(keys, average(4, subset))
    assert solution.verdict == ("exact" if len(subset) == 4 else "limit")
    assert follows(solution, keys, 1e-7)


def test_the_mean_of_all_is_exact_with_the_zero_query_alone() -> None:
    """*attention* 1.3.1: the only exact answer is q = 0."""
    keys = cse517().keys
    solution = solve_weights(keys, average(4, range(4)))
    assert solution.verdict == "exact"
    assert solution.path is not None
    assert np.abs(solution.path.query(7.0)).max() < 1e-12
    assert np.linalg.matrix_rank(keys[1:] - keys[0]) == 3  # no other query scores all keys alike


def test_the_exact_query_is_the_shortest() -> None:
    keys = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # the third coordinate and (1, 1) are free
    target = distribution(2, [0.8, 0.2])
    solution = solve_weights(keys, target)
    assert solution.path is not None
    assert solution.path.start == pytest.approx([math.log(2), -math.log(2), 0])


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_weights_that_a_query_made_are_found_exact(n: int, d: int, seed: int) -> None:
    dice = np.random.default_rng(seed)
    keys, query = dice.normal(size=(n, d)), dice.normal(size=d)
    made = weights_of(keys, query)
    solution = solve_weights(keys, made)
    assert solution.verdict == "exact"
    assert solution.path is not None
    assert weights_of(keys, solution.path.start) == pytest.approx(made, abs=1e-9)
    assert np.linalg.norm(solution.path.start) <= np.linalg.norm(query) + 1e-9


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6))
def test_weights_of_a_query_on_a_face_are_found_in_the_limit(seed: int) -> None:
    """*attention* 1.2: the query is q₀ + t·u.

    Two facets of a box: three corners and a point between them share one highest score.
    """
    dice = np.random.default_rng(seed)
    face = np.column_stack([dice.normal(size=(5, 2)), np.ones(5)])
    keys = np.vstack([face, np.column_stack([dice.normal(size=(3, 2)), -dice.random(3)])])
    keys = keys @ np.linalg.qr(dice.normal(size=(3, 3)))[0] + dice.normal(size=3)
    target = np.append(weights_of(keys[:5], dice.normal(size=3)), np.zeros(3))
    solution = solve_weights(keys, target)
    assert solution.verdict == "limit"
    assert follows(solution, keys, 1e-5)


def test_the_true_error_is_below_the_bound_and_falls_along_the_path() -> None:
    keys = cse517().keys
    solution = solve_weights(keys, distribution(4, [0.7, 0.3, 0, 0]))
    assert solution.path is not None
    scales = np.linspace(0, 30, 61)
    errors = [solution.path.error(t) for t in scales]
    assert errors == sorted(errors, reverse=True)
    for scale, error in zip(scales, errors, strict=True):
        weights = weights_of(keys, solution.path.query(scale))
        assert weights[2:].sum() == pytest.approx(error, abs=1e-12)
        assert np.abs(weights - solution.target).max() <= error + 1e-12
        assert error <= solution.path.bound(scale) + 1e-15


@pytest.mark.parametrize("error", [0.0, 1.0, -0.1, math.nan])
def test_an_impossible_error_is_refused(error: float) -> None:
    solution = solve_weights(cse517().keys, select(4, 0))
    assert solution.path is not None
    with pytest.raises(UserError, match="is not possible: between 0 and 1"):
        solution.path.scale_for(error)


def test_a_key_inside_the_others_hull_is_never_selected() -> None:
    keys = interior().keys
    solution = solve_weights(keys, select(4, 3))
    assert solution.verdict == "never"
    assert proved(solution, keys)
    assert solution.certificate is not None
    assert solution.certificate.dependency == pytest.approx([0.5, 0.25, 0.25, -1])
    assert solution.certificate.reason == "key 3 is a mean of other keys"


def test_no_query_gives_an_inner_key_more_than_its_certificate_says() -> None:
    keys = interior().keys
    certificate = solve_weights(keys, select(4, 3)).certificate
    assert certificate is not None
    assert certificate.most_weight is not None
    best = minimize(lambda q: -weights_of(keys, q)[3], np.zeros(2), tol=1e-12)
    assert -best.fun <= certificate.most_weight + 1e-12
    assert -best.fun == pytest.approx(certificate.most_weight, abs=1e-6)  # attained for a simplex


def test_a_long_key_does_not_hide_a_vertex() -> None:
    keys = unequal().keys
    assert int((keys @ keys[0]).argmax()) != 0  # S·k0 selects another
    assert solve_weights(keys, select(4, 0)).verdict == "limit"


def test_the_identity_is_as_hard_as_its_hardest_row() -> None:
    assert worst(solve_identity(orthonormal().keys)) == "limit"
    assert [row.verdict for row in solve_identity(interior().keys)] == ["limit"] * 3 + ["never"]
    assert worst(solve_identity(interior().keys)) == "never"
    assert worst(solve_identity(np.array([[3.0, 1.0]]))) == "exact"


def test_log_weights_that_are_not_affine_are_out_of_reach() -> None:
    """*attention* 1.2: log p must be affine in the keys of the support."""
    keys = np.array([[0.0], [1.0], [2.0]])
    solution = solve_weights(keys, distribution(3, [0.25, 0.5, 0.25]))
    assert proved(solution, keys)
    assert solve_weights(keys, distribution(3, [1 / 7, 2 / 7, 4 / 7])).verdict == "exact"


class TestDegenerateKeys:
    def test_a_duplicate_key_is_never_selected_alone(self) -> None:
        """*attention* 1.2: a key that another one equals is never selected."""
        keys = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
        for token in (0, 1):
            solution = solve_weights(keys, select(3, token))
            assert proved(solution, keys)
            assert solution.certificate is not None
            assert solution.certificate.most_weight == pytest.approx(0.5)
        assert solve_weights(keys, average(3, [0, 1])).verdict == "limit"

    def test_duplicates_have_equal_weights(self) -> None:
        keys = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
        assert proved(solve_weights(keys, distribution(3, [0.6, 0.4, 0])), keys)
        assert solve_weights(keys, distribution(3, [0.4, 0.4, 0.2])).verdict == "exact"

    def test_collinear_keys_select_their_ends_alone(self) -> None:
        keys = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]])
        assert [s.verdict for s in solve_identity(keys)] == ["limit", "never", "limit"]
        assert proved(solve_weights(keys, select(3, 1)), keys)
        assert proved(solve_weights(keys, average(3, [0, 2])), keys)  # the middle scores between
        assert proved(solve_weights(keys, average(3, [0, 1])), keys)
        assert solve_weights(keys, average(3, range(3))).verdict == "exact"

    def test_a_point_on_an_edge_belongs_to_the_edge(self) -> None:
        """*attention* 1.2: a subset can be averaged if it is all keys of an exposed face."""
        keys = midpoint().keys
        assert proved(solve_weights(keys, average(4, [0, 1])), keys)
        assert solve_weights(keys, average(4, [0, 1, 2])).verdict == "limit"

    def test_two_vertices_that_share_no_edge(self) -> None:
        """*attention* 1.2: a subset that is no exposed face cannot be averaged."""
        square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        assert proved(solve_weights(square, average(4, [0, 2])), square)
        assert solve_weights(square, average(4, [0, 1])).verdict == "limit"
        assert proved(solve_weights(square, average(4, [0, 1, 2])), square)

    def test_a_single_key_has_all_the_weight(self) -> None:
        solution = solve_weights(np.array([[3.0, -4.0]]), select(1, 0))
        assert solution.verdict == "exact"
        assert solution.path is not None
        assert solution.path.scale_for(0.1) == solution.path.bound(0.0) == 0
        assert solution.path.error(0.0) == 0
        assert solution.path.margin == math.inf

    @pytest.mark.parametrize("height", [0.0, 2.5, 1e9])
    def test_equal_keys_share_equally_and_do_nothing_else(self, height: float) -> None:
        keys = np.full((3, 2), height)
        assert solve_weights(keys, average(3, range(3))).verdict == "exact"
        assert proved(solve_weights(keys, select(3, 1)), keys)
        assert proved(solve_weights(keys, average(3, [0, 1])), keys)
        assert proved(solve_weights(keys, distribution(3, [0.5, 0.3, 0.2])), keys)

    @pytest.mark.parametrize("size", [1e-40, 1e-6, 1e6, 1e40])
    def test_the_verdict_does_not_depend_on_the_size_or_place_of_the_keys(
        self, size: float
    ) -> None:
        for keys in (interior().keys * size, (interior().keys + 50) * size):
            assert [row.verdict for row in solve_identity(keys)] == ["limit"] * 3 + ["never"]
            assert all(s.verdict == "limit" or proved(s, keys) for s in solve_identity(keys))


def margin_by_linear_programme(keys: np.ndarray, subset: list[int]) -> float:
    """Find the largest margin of a direction within the unit box that scores the subset alike."""
    others = [i for i in range(len(keys)) if i not in subset]
    d = keys.shape[1]
    equal = np.array([np.append(keys[i] - keys[subset[0]], 0) for i in subset[1:]]).reshape(
        -1, d + 1
    )
    below = np.array([np.append(keys[j] - keys[subset[0]], 1) for j in others])
    done = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=below,
        b_ub=np.zeros(len(others)),
        A_eq=equal if len(equal) else None,
        b_eq=np.zeros(len(equal)) if len(equal) else None,
        bounds=[(-1, 1)] * d + [(None, 1)],
    )
    return float(-done.fun)


def random_rational_keys(dice: np.random.Generator) -> np.ndarray:
    n, d = int(dice.integers(2, 8)), int(dice.integers(1, 4))
    denominator = int(dice.integers(1, 8))
    fractions = [
        [Fraction(int(x), denominator) for x in row] for row in dice.integers(-9, 10, (n, d))
    ]
    return np.array(fractions, dtype=float)


def distance_by_descent(keys: np.ndarray, subset: list[int]) -> float:
    """Descend towards the mean on a subset; give the divergence from it that no query undercuts.

    Independent of any linear programme or certificate: Newton's steps on a convex function, halved
    until they go down.
    """
    target = average(len(keys), subset)
    centred = (keys - keys.mean(axis=0)) / (spread(keys) or 1.0)
    wanted = target @ centred

    def divergence(query: np.ndarray) -> float:
        scores = centred @ query
        log_total = scores.max() + math.log(np.exp(scores - scores.max()).sum())
        return float(log_total - wanted @ query - math.log(len(subset)))

    query, height = np.zeros(keys.shape[1]), divergence(np.zeros(keys.shape[1]))
    for _ in range(60):
        scores = centred @ query
        weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
        mean = weights @ centred
        bend = (centred.T * weights) @ centred - np.outer(mean, mean)
        step = np.linalg.solve(bend + 1e-10 * np.eye(len(query)), wanted - mean)
        while (lower := divergence(query + step)) > height and np.abs(step).max() > 1e-9:
            step = step / 2
        if lower >= height - 1e-9:
            break
        query, height = query + step, lower
    return height


@pytest.mark.parametrize("instances", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_rational_instances_agree_with_other_methods(instances: int) -> None:
    """The verdict against a linear programme, and its consequence against direct optimization."""
    dice = np.random.default_rng(20240209)
    verdicts: Counter[str] = Counter()
    while verdicts.total() < instances:
        keys = random_rational_keys(dice)
        n = len(keys)
        subset = sorted(dice.choice(n, size=int(dice.integers(1, n)), replace=False).tolist())
        margin = margin_by_linear_programme(keys, subset)
        if 1e-9 < margin < 1e-3:
            continue
        solution = solve_weights(keys, average(n, subset))
        assert solution.verdict == ("limit" if margin >= 1e-3 else "never"), (keys, subset)
        distance = distance_by_descent(keys, subset)
        if solution.verdict == "limit":
            assert follows(solution, keys, 1e-4)
            assert distance < 1e-3
        else:
            assert proved(solution, keys)
            assert distance > 3e-3
        verdicts[solution.verdict] += 1
    assert min(verdicts.values()) > instances / 5


def test_selectable_keys_are_the_vertices_that_qhull_finds() -> None:
    dice = np.random.default_rng(5)
    tried = 0
    for _ in range(150):
        keys = dice.integers(-6, 7, (int(dice.integers(4, 9)), int(dice.integers(2, 4)))) / 4
        distinct, where, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        try:
            vertices = set(ConvexHull(distinct).vertices.tolist())
        except (QhullError, ValueError):  # flat keys have no full hull
            continue
        found = [row.verdict == "limit" for row in solve_identity(keys)]
        expected = [int(w) in vertices and counts[w] == 1 for w in where.ravel()]
        assert found == expected, keys
        tried += 1
    assert tried > 100
