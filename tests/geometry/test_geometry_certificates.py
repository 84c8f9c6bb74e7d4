"""Certificates: the check accepts true ones and catches each way of being wrong."""

import numpy as np
import pytest

from attnlab.geometry import faces
from attnlab.geometry.certificates import Certificate, no_face, not_affine, objections
from attnlab.geometry.examples import cse517, interior
from attnlab.geometry.faces import expose, separate, smallest_face_at_zero
from attnlab.geometry.instance import weights_of
from attnlab.geometry.targets import average, distribution, select
from attnlab.geometry.weights import solve_weights

INNER = [0.5, 0.25, 0.25, -1.0]
"""Key 3 of the example is this mean of the others."""


def test_a_true_certificate_has_no_objections() -> None:
    assert objections(Certificate(np.array(INNER), ""), interior().keys, select(4, 3)) == []


@pytest.mark.parametrize(
    ("numbers", "objection"),
    [
        pytest.param([-0.5, -0.25, -0.25, 1], "outside the support is negative", id="wrong sign"),
        pytest.param([0.25, 0.5, 0.25, -1], "the combination of the keys", id="swapped shares"),
        pytest.param([0.6, 0.25, 0.25, -1], "the numbers sum to 0.1, not to 0", id="wrong sum"),
        pytest.param([0, 0, 0, 0], "all zero or not finite", id="nothing"),
        pytest.param([np.nan, 0, 0, 0], "all zero or not finite", id="not a number"),
        pytest.param([1.5, 0.25, 0.25, -2], "the combination of the keys", id="wrong size"),
    ],
)
def test_a_wrong_certificate_is_caught(numbers: list[float], objection: str) -> None:
    certificate = Certificate(np.array(numbers, dtype=float), "")
    found = objections(certificate, interior().keys, select(4, 3))
    assert any(objection in text for text in found), found


def test_a_true_dependency_proves_nothing_about_weights_that_satisfy_it() -> None:
    made = weights_of(interior().keys, np.array([0.3, -0.2]))
    found = objections(Certificate(np.array(INNER), ""), interior().keys, made)
    assert found == ["the wanted weights satisfy the equation, so nothing is contradicted"]


def test_a_dependency_of_other_keys_proves_nothing_about_a_vertex() -> None:
    found = objections(Certificate(np.array(INNER), ""), interior().keys, select(4, 0))
    assert "a number outside the support is negative" in found


def test_a_certificate_for_other_keys_is_caught() -> None:
    moved = interior().keys
    moved[3] = [5.0, 5.0]
    assert objections(Certificate(np.array(INNER), ""), moved, select(4, 3))


def test_every_query_satisfies_the_equation_of_a_certificate() -> None:
    keys, dice = interior().keys, np.random.default_rng(1)
    for _ in range(20):
        logs = np.log(weights_of(keys, dice.normal(size=2)))
        assert logs @ INNER == pytest.approx(0, abs=1e-12)


def test_there_is_no_certificate_against_what_is_possible() -> None:
    keys = cse517().keys
    assert no_face(keys, average(4, [1, 3])) is None
    assert not_affine(keys, weights_of(keys, np.ones(3))) is None
    assert not_affine(interior().keys, distribution(4, [0.25] * 4)) is None


def misses(keys: np.ndarray, target: np.ndarray) -> float:
    """Say how far the weights are off, far out on the path that the solver gives."""
    path = solve_weights(keys, target).path
    assert path is not None
    return float(np.abs(weights_of(keys, path.query(50.0)) - target).max())


def test_a_solver_that_forgets_the_equal_scores_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bug: any direction may expose a face, also one along which its keys differ."""
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    tilted = square + np.array([[0.0, 0.1], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert misses(tilted, average(4, [0, 1])) < 1e-6
    monkeypatch.setattr(faces, "orthogonal_to_face", lambda keys, _: np.eye(keys.shape[1]))
    assert misses(tilted, average(4, [0, 1])) > 0.4


def test_the_direction_has_the_largest_margin() -> None:
    keys, face = cse517().keys, np.array([True, True, False, False])
    found = expose(keys, face)
    assert (keys[0] - keys[1]) @ found.direction == pytest.approx(0, abs=1e-12)
    across = np.linalg.svd((keys[0] - keys[1])[None])[2][1:]
    angles = np.linspace(0, 2 * np.pi, 100_001)
    directions = np.column_stack([np.cos(angles), np.sin(angles)]) @ across
    margins = ((keys[0] - keys[2:]) @ directions.T).min(axis=0)
    assert found.margin == pytest.approx(margins.max(), abs=1e-8)


def test_points_all_around_zero_cannot_be_separated_from_it() -> None:
    points = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    found = separate(points, size=1.0)
    assert not found.exists
    assert found.combination @ points == pytest.approx([0, 0], abs=1e-12)
    assert found.combination.sum() == pytest.approx(1)


def test_the_smallest_face_that_holds_zero() -> None:
    points = np.array([[-1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [3.0, 2.0]])
    inside, direction = smallest_face_at_zero(points)
    assert inside.tolist() == [True, True, False, False]
    assert points @ direction == pytest.approx([0, 0, *(points @ direction)[2:]], abs=1e-12)
    assert (points @ direction)[2:].min() > 0.1
