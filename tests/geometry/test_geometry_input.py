"""Bad input is one clear sentence; subspaces and small settings are checked where they enter."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnlab.errors import UserError
from attnlab.geometry.examples import EXAMPLES, cse517, example
from attnlab.geometry.explain.answer import Request
from attnlab.geometry.explain.heads import explain_heads
from attnlab.geometry.explain.weights import explain_weights
from attnlab.geometry.instance import make_instance, vector
from attnlab.geometry.kqv import construction, rate_in_beta
from attnlab.geometry.noise import noisy_heads
from attnlab.geometry.scale import error_curve
from attnlab.geometry.sharpness import mass_at, smallest_beta, weight_of_plain_sum
from attnlab.geometry.subspaces import extraction, extraction_error
from attnlab.geometry.targets import average, distribution, select


@pytest.mark.parametrize(
    ("keys", "values", "problem"),
    [
        ([[1, 2], [3, 4]], [[1, 2]], "there are 2 keys and 1 values: each key needs one value"),
        ([[1, 2], [3]], None, "keys: row 1 has 1 numbers, row 0 has 2"),
        ([[1, 2]], [[math.nan]], r"values\[0\]\[0\] = nan is not possible"),
        ([[1, 2], [3, math.inf]], None, r"keys\[1\]\[1\] = inf is not possible: only numbers"),
        ([[1e101]], None, r"keys\[0\]\[0\] = 1e\+101 is not possible"),
        ([], None, "keys is no table of numbers"),
        ([[]], None, "keys is no table of numbers"),
        ([1, 2], None, "keys is no table of numbers. Give one row a token"),
        ("ab", None, "keys is no table of numbers"),
        (3, None, "keys is no table of numbers"),
        ([["a", 1]], None, "keys holds something that is no number"),
        ([[None, 1]], None, "keys holds something that is no number|nan"),
        (np.zeros((2, 0)), None, "keys is no table of numbers"),
        (np.zeros(3), None, "keys is no table of numbers"),
    ],
)
def test_bad_keys_and_values_are_refused(keys: Any, values: Any, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        make_instance(keys, values)


def test_a_table_with_a_third_level_is_refused() -> None:
    with pytest.raises(UserError, match="keys has 3 levels of lists: 2 are allowed"):
        make_instance([[[1.0]], [[2.0]]])


def test_a_coordinate_whose_square_would_vanish_is_0() -> None:
    keys = [[1e-300, -1e6], [0.0, 1e6]]
    instance = make_instance(keys)
    assert instance.keys.tolist() == [[0, -1e6], [0, 1e6]]
    found = explain_weights(instance, average(2, [0, 1]), request=Request())
    assert found.verdict == "exact"


def test_without_values_the_output_is_the_weights() -> None:
    assert make_instance([[1, 2], [3, 4], [5, 6]]).values.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        (4, "token 4 is not there: the 4 tokens are counted 0 … 3"),
        (-1, "token -1 is not there"),
        ("k0", "token 'k0' is no whole number: tokens are counted 0 … 3"),
        (1.5, "token 1.5 is no whole number"),
    ],
)
def test_a_token_that_is_not_there_is_refused(index: Any, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        select(4, index)


def test_bad_subsets_are_refused() -> None:
    with pytest.raises(
        UserError, match="the subset is empty: name at least one of the tokens 0 … 3"
    ):
        average(4, [])
    with pytest.raises(UserError, match=r"the subset \[1, 1\] names a token twice"):
        average(4, [1, 1])


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ([0.5, 0.4], "the weights sum to 0.9, not to 1: divide them by their sum"),
        ([1.5, -0.5], r"weights\[1\] = -0.5 is negative: a weight is from 0 to 1"),
        ([1.0], r"weights = \[1.0\] must be a list of 2 numbers"),
        ([math.nan, 1], r"weights\[0\] = nan is not possible"),
        (None, "weights = None must be a list of 2 numbers"),
    ],
)
def test_weights_that_are_no_distribution_are_refused(weights: Any, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        distribution(2, weights)


def test_a_vector_is_read() -> None:
    assert vector([1, 2], "output", length=2).tolist() == [1, 2]


def test_an_unknown_example_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"no example is called 'cse571'. Did you mean 'cse517'"):
        example("cse571")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_a_value_for_each_key(name: str) -> None:
    instance = example(name)
    assert len(instance.keys) == len(instance.values) == instance.n_tokens


class TestSubspaces:
    A, B = np.eye(5)[:2], np.eye(5)[2:4]

    @pytest.mark.parametrize("share", [1.0, 0.5])
    def test_the_projection_extracts_from_orthogonal_subspaces(self, share: float) -> None:
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
        a, b = self.A @ turn, self.B @ turn
        found = extraction(a, b, share=share)
        assert found.matrix == pytest.approx(a.T @ a / share, abs=1e-12)  # 2 A Aᵀ for a mean
        assert found.error < 1e-12
        v_a, v_b = np.array([2.0, -1.0]) @ a, np.array([0.5, 3.0]) @ b
        assert found.matrix is not None
        assert found.matrix @ (share * (v_a + v_b)) == pytest.approx(v_a)

    def test_subspaces_at_other_angles_need_another_matrix(self) -> None:
        dice = np.random.default_rng(1)
        a, b = dice.normal(size=(2, 5)), dice.normal(size=(3, 5))
        assert extraction(a, b).error < 1e-9
        orthonormal = np.linalg.qr(a.T)[0].T
        assert extraction_error(orthonormal.T @ orthonormal, a, second=b) > 0.1

    def test_subspaces_that_share_a_vector_cannot_be_told_apart(self) -> None:
        for a, b in ((self.A, np.eye(5)[1:3]), (np.eye(3)[:2], np.eye(3)[1:])):
            found = extraction(a, b)
            assert found.matrix is None
            assert found.shared is not None
            for basis in (a, b):
                assert np.linalg.norm(found.shared @ basis.T) == pytest.approx(1)

    def test_the_sums_matrix_gives_half_of_what_the_mean_needs(self) -> None:
        """The bug: A Aᵀ where 2 A Aᵀ is asked for."""
        assert extraction_error(self.A.T @ self.A, self.A, second=self.B, share=0.5) == 0.5

    def test_bad_bases_are_refused(self) -> None:
        with pytest.raises(UserError, match="a basis of zero vectors spans nothing"):
            extraction(np.zeros((1, 5)), self.B)
        with pytest.raises(UserError, match="a share of 0 leaves nothing"):
            extraction(self.A, self.B, share=0)


def test_draws_that_are_all_left_out_have_no_deviation() -> None:
    drawn = noisy_heads(n_tokens=3, draws=2)
    ignored = replace(drawn, ignored=np.array([True, True]))
    assert math.isnan(ignored.deviation(1, without_ignored=True))
    assert ignored.deviation(1) == drawn.deviation(1)
    assert "nan" in str(explain_heads(ignored, drawn).parts[1])


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(UserError, match="1 tokens and 10 draws are not enough"):
        noisy_heads(n_tokens=1, draws=10)
    with pytest.raises(UserError, match="alpha = -1"):
        noisy_heads(alpha=-1)
    with pytest.raises(UserError, match="a mass of 1 cannot be reached"):
        smallest_beta(1.0, n_tokens=5)
    with pytest.raises(UserError, match="3 wanted of 2 keys is not possible"):
        mass_at(1.0, n_tokens=2, wanted=3)
    with pytest.raises(UserError, match="5 keys of width 4 are not possible: at most as many"):
        weight_of_plain_sum(4, n_tokens=5)
    with pytest.raises(UserError, match=r"betas = \[2, 1\] must be two or more rising numbers"):
        rate_in_beta(construction(), betas=[2, 1])
    with pytest.raises(UserError, match=r"scales from 10\^2 to 10\^1 are no range"):
        error_curve(cse517(), np.ones(3), target=select(4, 0), decades=(2, 1))
