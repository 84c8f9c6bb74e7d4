"""The change of one key that comes nearest, against every other change."""

import numpy as np
import pytest

from attnlab.errors import UserError
from attnlab.geometry.answers import Exercise, attempt
from attnlab.geometry.examples import cse517
from attnlab.geometry.instance import Instance, output_error
from attnlab.geometry.repair import Repair, repair_key, with_key
from attnlab.geometry.targets import average, select
from attnlab.geometry.words import vector

CSE = cse517()
QUERY = 10 * (CSE.keys[0] + CSE.keys[1])


def promised(instance: Instance, query: np.ndarray, made: Repair, target: np.ndarray) -> None:
    """Check what a repair says of itself."""
    repaired = with_key(instance, 2, made.key)
    assert output_error(repaired, query, target=target) == pytest.approx(made.error, abs=1e-9)
    assert np.linalg.norm(made.key - instance.keys[2]) == pytest.approx(made.moved)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("target", [average(4, [0, 1, 2]), select(4, 2)], ids=["average", "select"])
def test_no_other_key_comes_nearer(unit: bool, target: np.ndarray) -> None:
    made = repair_key(CSE, QUERY, token=2, target=target, unit=unit)
    assert made.attained
    assert made.error == pytest.approx(made.best_error, abs=1e-8)
    promised(CSE, QUERY, made, target)
    assert not unit or np.linalg.norm(made.key) == pytest.approx(1)
    dice = np.random.default_rng(0)
    for _ in range(2000):
        key = CSE.keys[2] + dice.normal(size=3) * dice.random() * 2
        key = key / np.linalg.norm(key) if unit else key
        error = output_error(with_key(CSE, 2, key), QUERY, target=target)
        assert error > made.error - 1e-9
        if np.linalg.norm(key - CSE.keys[2]) < 0.999 * made.moved:
            assert error > made.error + 1e-9


def test_a_key_that_is_best_stays() -> None:
    made = repair_key(CSE, QUERY, token=2, target=average(4, [0, 1, 2]))
    again = repair_key(with_key(CSE, 2, made.key), QUERY, token=2, target=average(4, [0, 1, 2]))
    assert again.moved == pytest.approx(0, abs=1e-9)
    level = Instance(CSE.keys, np.ones((4, 1)))  # every key gives the same output
    assert repair_key(level, QUERY, token=2, target=select(4, 2)).moved == 0


@pytest.mark.parametrize("unit", [False, True])
def test_the_printed_key_is_accepted_as_an_answer(unit: bool) -> None:
    for target in (average(4, [0, 1, 2]), select(4, 2)):
        made = repair_key(CSE, QUERY, token=2, target=target, unit=unit)
        task = Exercise(target[None], token=2, query="10*(k0+k1)", unit=unit)
        assert attempt(vector(made.key, 9), CSE, task=task).passes


def test_what_no_unit_key_can_do_is_said_with_the_best() -> None:
    query = QUERY / 2
    made = repair_key(CSE, query, token=2, target=select(4, 2), unit=True)
    assert not made.attained
    assert made.key == pytest.approx(query / np.linalg.norm(query), abs=1e-6)
    assert made.error == pytest.approx(made.best_error)
    assert made.best_error == pytest.approx(0.118, abs=5e-4)


def test_what_no_key_can_do_is_said_with_the_best() -> None:
    made = repair_key(CSE, QUERY, token=2, target=select(4, 3))
    assert not made.attained
    promised(CSE, QUERY, made, select(4, 3))
    scores = np.linspace(-60, 60, 2001)
    errors = [
        output_error(with_key(CSE, 2, s * QUERY / (QUERY @ QUERY)), QUERY, target=select(4, 3))
        for s in scores
    ]
    assert made.best_error <= min(errors) + 1e-9


def test_a_zero_query_cannot_be_helped_by_a_key() -> None:
    made = repair_key(CSE, np.zeros(3), token=2, target=select(4, 2))
    assert not made.attained
    assert made.moved == 0
    assert made.weight == pytest.approx(0.25)


def test_a_single_token_needs_no_repair() -> None:
    instance = Instance(np.array([[1.0, 2.0]]), np.array([[5.0]]))
    made = repair_key(instance, np.ones(2), token=0, target=np.ones(1))
    assert (made.moved, made.error, made.weight) == (0, 0, 1)


def test_a_key_of_zeros_or_along_the_query_can_be_turned() -> None:
    for key in (np.zeros(3), QUERY / np.linalg.norm(QUERY)):
        instance = with_key(CSE, 2, key)
        made = repair_key(instance, QUERY, token=2, target=average(4, [0, 1, 2]), unit=True)
        assert made.attained
        assert np.linalg.norm(made.key) == pytest.approx(1)


def test_random_repairs_keep_their_promise() -> None:
    dice = np.random.default_rng(1)
    attained = 0
    for draw in range(200):
        instance = Instance(dice.normal(size=(4, 3)), dice.normal(size=(4, 2)))
        query, target = dice.normal(size=3) * 3, dice.dirichlet(np.ones(4))
        made = repair_key(instance, query, token=2, target=target, unit=draw % 2 == 1)
        promised(instance, query, made, target)
        assert made.best_error <= made.error + 1e-9
        assert made.attained == (made.error <= 0.05 + 1e-9)
        attained += made.attained
    assert 0 < attained < 200


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(UserError, match="token 4 is not there: the 4 tokens are counted 0 … 3"):
        repair_key(CSE, QUERY, token=4, target=select(4, 2))
    with pytest.raises(UserError, match="a tolerance of 0 is not possible: it must be above 0"):
        repair_key(CSE, QUERY, token=2, target=select(4, 2), tolerance=0)
    line = Instance(np.array([[0.5], [1.0]]), np.eye(2))
    with pytest.raises(UserError, match="a key of one number and of unit length is 1 or -1"):
        repair_key(line, np.ones(1), token=0, target=select(2, 0), unit=True)
