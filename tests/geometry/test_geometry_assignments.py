"""The assignments' printed answers, and what they are truly worth."""

import math

import numpy as np
import pytest
from scipy.special import softmax

from attnlab.geometry.answers import Exercise, attempt, check_answer
from attnlab.geometry.argmax import argmax_attention
from attnlab.geometry.diagnosis import diagnose
from attnlab.geometry.examples import (
    ARGMAX_QUERY,
    argmax,
    cse517,
    example,
    word_tokens,
    word_vectors,
)
from attnlab.geometry.instance import Instance, output_error, weights_of
from attnlab.geometry.kqv import (
    Matrices,
    construction,
    context_errors,
    identity_matrices,
    rate_in_beta,
    self_attention,
    wanted_contexts,
)
from attnlab.geometry.noise import _weights, ignored_probability, noisy_heads
from attnlab.geometry.outputs import solve_output
from attnlab.geometry.repair import repair_key, with_key
from attnlab.geometry.scale import error_curve
from attnlab.geometry.sharpness import mass_at, smallest_beta, weight_of_plain_sum
from attnlab.geometry.targets import average, select
from attnlab.geometry.weights import solve_weights

CSE = cse517()
K0, K1 = CSE.keys[:2]
FIRST_TWO = average(4, [0, 1])


class TestAveraging:
    def test_the_mean_of_the_keys_passes_only_because_it_is_short(self) -> None:
        """*attention* 1.3.1: the mean of the keys is off by .0201; only q = 0 is exact."""
        query, target = CSE.keys.mean(axis=0), average(4, range(4))
        assert weights_of(CSE.keys, query) == pytest.approx(
            [0.2282, 0.2858, 0.2396, 0.2464], abs=5e-5
        )
        assert output_error(CSE, query, target=target) == pytest.approx(0.0201, abs=5e-5)
        assert weights_of(CSE.keys, 10 * query)[1] == pytest.approx(0.66, abs=5e-3)
        assert output_error(CSE, np.zeros(3), target=target) < 1e-15

    @pytest.mark.parametrize(("scale", "error"), [(10, 0.0058), (5, 0.0029)])
    def test_the_sum_of_two_keys(self, scale: float, error: float) -> None:
        """*attention* 1.3.2: the reported .0029 belongs to 5·(k₀+k₁), not to 10·(k₀+k₁)."""
        assert output_error(CSE, scale * (K0 + K1), target=FIRST_TWO) == pytest.approx(
            error, abs=5e-5
        )

    def test_the_error_of_the_sum_is_not_monotone_in_its_scale(self) -> None:
        """*attention* 1.3.2: a larger S is not better; beyond 87.1 it is wrong."""
        curve = error_curve(CSE, K0 + K1, target=FIRST_TWO)
        assert not curve.is_monotone
        assert curve.best_scale == pytest.approx(3.9, abs=0.05)
        assert curve.best_error == pytest.approx(0.0021, abs=5e-5)
        ((low, high),) = curve.inside
        assert math.ceil(100 * low) / 100 == 1.40  # the first two decimals inside
        assert math.floor(10 * high) / 10 == 87.1
        assert curve.end == (1,)
        assert curve.end_error == pytest.approx(0.27, abs=1e-6)

    def test_why_the_sum_is_off_and_how_it_is_mended(self) -> None:
        """*attention* 1.3.2: without the part along k₀−k₁ the error is 1.4e-8."""
        found = diagnose(CSE, 10 * (K0 + K1), target=FIRST_TWO)
        assert found.mass_outside < 1e-7  # the others are left out well enough;
        assert found.unequal == pytest.approx(10 * abs((K0 + K1) @ (K0 - K1)))  # the two differ
        assert found.mended / 10 == pytest.approx([1.1095, 1.1504, 0.0135], abs=5e-5)
        assert found.mended_error == pytest.approx(1.4e-8, abs=5e-10)

    def test_the_mended_direction_only_gets_better(self) -> None:
        mended = diagnose(CSE, K0 + K1, target=FIRST_TWO).mended
        assert error_curve(CSE, mended, target=FIRST_TWO, decades=(-2, 2)).is_monotone


class TestRepair:
    FIRST_THREE = Exercise(average(4, [0, 1, 2])[None], token=2, query="10*(k0+k1)")

    def test_the_query_as_third_key_selects_instead_of_averaging(self) -> None:
        """*attention* 1.4.1: k₂ = q selects v₂; (k₀+k₁)/2 averages."""
        assert attempt("q", CSE, task=self.FIRST_THREE).error == pytest.approx(0.273, abs=5e-4)
        assert attempt("(k0+k1)/2", CSE, task=self.FIRST_THREE).error < 0.005

    @pytest.mark.parametrize(("scale", "error"), [(5, 0.118), (10, 0.031)])
    def test_the_unit_key_along_the_query(self, scale: int, error: float) -> None:
        """*attention* 1.4.2: q/|q| fails with the query of error .0029, passes with 10·(k₀+k₁)."""
        task = Exercise(select(4, 2)[None], token=2, query=f"{scale}*(k0+k1)", unit=True)
        found = attempt("q/norm(q)", CSE, task=task)
        assert found.error == pytest.approx(error, abs=5e-4)
        assert not found.breaks_length
        best = repair_key(CSE, scale * (K0 + K1), token=2, target=select(4, 2), unit=True)
        assert best.best_error == pytest.approx(found.error)  # no unit key does better
        assert best.attained == (scale == 10)


class TestSelection:
    def test_a_multiple_of_the_key_selects_keys_of_unit_length_alone(self) -> None:
        """*attention* 1.2: S·k_i is not general."""
        report = check_answer("S*k0", CSE, task=Exercise(select(4, 0)[None]))
        assert report.here.passes
        assert report.is_general is False
        unit, anything = report.elsewhere
        assert unit.passed == unit.tried
        assert anything.passed < anything.tried

    def test_large_differences_of_scores_leave_little(self) -> None:
        """*attention* 2.2: softmax[-20, -12, 20, 25] is not [.01, .02, .48, .49]."""
        assert softmax([-20, -12, 20, 25]) == pytest.approx([3e-20, 8e-17, 0.0067, 0.9933], rel=0.1)
        assert weights_of(np.array([[-20.0], [-12], [20], [25]]), np.ones(1))[2:] == pytest.approx(
            [0.0067, 0.9933], abs=5e-5
        )


def weight_by_length(lengths: np.ndarray, *, heads: int) -> np.ndarray:
    """Give the weight on v_a when k_a = length · μ_a and every other key is its mean."""
    along = np.zeros((len(lengths), 20, 2))
    along[:, 0, 0], along[:, 1, 1] = lengths, 1
    return _weights(along, beta=10.0)[heads - 1][:, 0]


class TestOrthogonalKeys:
    def test_keys_that_are_not_orthogonal_need_another_query(self) -> None:
        """*knowledge* 1(b)ii: "k_iᵀk_j for all i ≠ j" lacks its "= 0", which the answer needs."""
        dice, two = np.random.default_rng(0), average(4, [0, 1])
        keys = np.linalg.qr(dice.normal(size=(6, 4)))[0].T
        orthonormal = Instance(keys, dice.normal(size=(4, 3)))
        assert output_error(orthonormal, 30 * (keys[0] + keys[1]), target=two) < 1e-9
        slanted = keys.copy()
        slanted[2] = (keys[0] + keys[1]) / math.sqrt(2)  # of unit length, but not orthogonal
        instance = Instance(slanted, orthonormal.values)
        assert weights_of(slanted, 30 * (keys[0] + keys[1]))[2] > 0.999  # it takes all
        assert output_error(instance, 30 * (keys[0] + keys[1]), target=two) > 0.05

    def test_no_noise_no_deviation(self) -> None:
        """*knowledge* 1(c)i and 1(d)i: Σ = αI for all keys; the deviation vanishes with α."""
        deviations = [noisy_heads(alpha=a, length_variance=0, draws=500) for a in (0, 1e-6, 1e-4)]
        for heads in (1, 2):
            none, small, more = (drawn.deviation(heads) for drawn in deviations)
            assert none == 0 < small < more


class TestWhatCanBeSelected:
    def test_a_key_is_selected_if_it_is_a_corner_of_the_hull_that_no_other_equals(self) -> None:
        """*attention* 1.2: all weight on i needs a vertex; S·k_i is one query of many."""
        square = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.5], [1, 1]])
        found = [solve_weights(square, select(6, i)).verdict for i in range(6)]
        assert found == ["limit", "limit", "limit", "never", "never", "never"]

    def test_an_output_may_be_reached_although_its_weights_are_not(self) -> None:
        """*attention* 1.2: the two are decided apart."""
        instance = example("midpoint")
        assert solve_weights(instance.keys, select(4, 2)).verdict == "never"
        assert solve_output(instance, instance.values[2]).verdict == "limit"


class TestNoisyKeys:
    def test_the_deviations_with_one_head_and_with_two(self) -> None:
        """*knowledge* 1(c)ii and 1(d)ii: .44 and .16; .43 and .113 without the ignored case."""
        drawn = noisy_heads(n_tokens=20, beta=10, draws=40_000)
        assert drawn.deviation(1) == pytest.approx(0.44, abs=5e-3)
        assert drawn.deviation(2) == pytest.approx(0.16, abs=5e-3)
        assert drawn.deviation(1, without_ignored=True) == pytest.approx(0.43, abs=6e-3)
        assert drawn.deviation(2, without_ignored=True) == pytest.approx(0.113, abs=2e-3)
        assert drawn.ignored.mean() == pytest.approx(0.079, abs=5e-3)

    def test_the_ignored_case_has_a_probability_of_eight_per_cent(self) -> None:
        """*knowledge* 1(d)ii: what it ignores happens in 7.9 % of the draws."""
        assert ignored_probability() == pytest.approx(0.079, abs=5e-4)

    def test_the_deviations_by_integration_instead_of_drawing(self) -> None:
        z = np.linspace(-8, 8, 40_001)
        density = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
        for heads, expected in ((1, 0.44), (2, 0.16)):
            weights = weight_by_length(1 + math.sqrt(0.5) * z, heads=heads)
            deviation = math.sqrt(density @ weights**2 - (density @ weights) ** 2)
            assert deviation == pytest.approx(expected, abs=5e-3)

    def test_short_and_long_keys_with_one_head_and_with_two(self) -> None:
        lengths = np.array([0.5, 1.0, 1.5])
        assert weight_by_length(lengths, heads=1) == pytest.approx([0, 0.5, 1], abs=0.01)
        assert weight_by_length(lengths, heads=2) == pytest.approx([0.44, 0.5, 0.5], abs=0.01)

    def test_the_drawn_keys_point_where_their_mean_points(self) -> None:
        drawn = noisy_heads(draws=500, alpha=1e-6)
        assert np.abs(drawn.keys_a[:, 1]).max() < 0.01
        assert drawn.keys_a[:, 0].std() == pytest.approx(math.sqrt(0.5), rel=0.1)
        assert drawn.one_head.sum(axis=1) == pytest.approx(np.ones(500))
        assert drawn.two_heads.sum(axis=1) == pytest.approx(np.ones(500))


class TestKeyQueryValue:
    @pytest.mark.parametrize("added", [None, 2, 3], ids=["nothing", "u_c", "u_d"])
    def test_without_matrices_the_second_token_never_gives_u_b(self, added: int | None) -> None:
        tokens, words = word_tokens(4.0), word_vectors(4.0)
        tokens[1] += 0 if added is None else words[added]
        outputs = self_attention(tokens, identity_matrices(4)).outputs
        assert outputs[1] == pytest.approx(tokens[1], abs=1e-5)  # it finds itself
        found = solve_output(Instance(tokens, tokens), words[1])
        assert found.verdict == "never"
        assert found.direction is not None
        assert ((tokens - words[1]) @ found.direction).min() > 1

    def test_the_matrices_work_for_long_words(self) -> None:
        rate = rate_in_beta(construction())
        assert rate.betas[0] == 1
        assert rate.errors[0] == pytest.approx([0.212, 0.424], abs=5e-4)
        assert rate.betas[-1] == 3
        assert rate.errors[-1].max() < 1e-3
        assert rate.rate == pytest.approx(1, abs=0.01)

    def test_in_other_coordinates_short_words_are_off_by_a_fifth_to_a_half(self) -> None:
        """The worst coordinate depends on where the words point: from .15 up to .48 at β = 1."""
        dice, found = np.random.default_rng(0), []
        for _ in range(300):
            turn = np.linalg.qr(dice.normal(size=(4, 4)))[0]
            made = construction()
            turned = Matrices(*(turn.T @ m @ turn for m in (made.key, made.query, made.value)))
            outputs = self_attention(word_tokens(1.0) @ turn, turned).outputs
            wanted = {t: context @ turn for t, context in wanted_contexts(1.0).items()}
            found += [np.abs(outputs[t] - context).max() for t, context in wanted.items()]
        assert 0.149 < min(found) < 0.18
        assert 0.46 < max(found) < 0.475

    def test_the_values_are_as_the_hint_says(self) -> None:
        words, tokens = word_vectors(2.0), word_tokens(2.0)
        values = tokens @ construction().value.T
        assert values == pytest.approx(np.stack([words[1], 0 * words[0], words[1] - words[2]]))

    def test_a_swapped_query_is_caught(self) -> None:
        """The bug: Q maps u_a to u_c and u_d to u_d, so that each token asks for the other."""
        a, _, c, d = word_vectors(3.0)
        right = construction()
        wrong = Matrices(right.key, (np.outer(c, a) + np.outer(d, d)) / 9, right.value)
        assert min(context_errors(3.0, wrong).values()) > 1


class TestSharpness:
    @pytest.mark.parametrize(("n", "weight"), [(3, 0.347), (10, 0.110), (64, 0.018)])
    def test_the_plain_sum_is_neither_exact_nor_close(self, n: int, weight: float) -> None:
        assert weight_of_plain_sum(64, n_tokens=n) == pytest.approx(weight, abs=5e-4)
        keys = np.eye(64)[:n]
        assert weights_of(keys, (keys[0] + keys[1]) / 8)[0] == pytest.approx(weight, abs=5e-4)

    @pytest.mark.parametrize("n", [3, 10, 64])
    def test_the_smallest_scale_for_99_per_cent(self, n: int) -> None:
        beta = smallest_beta(0.99, n_tokens=n)
        assert beta == pytest.approx(math.log(99 * (n - 2) / 2))
        assert mass_at(beta, n_tokens=n) == pytest.approx(0.99)
        keys = np.eye(64)[:n]
        query = beta * math.sqrt(64) * (keys[0] + keys[1])
        assert weights_of(keys, query / math.sqrt(64))[:2].sum() == pytest.approx(0.99)

    def test_nothing_is_needed_for_a_mass_that_is_there_already(self) -> None:
        assert smallest_beta(0.5, n_tokens=3) == 0
        assert smallest_beta(0.99, n_tokens=2) == 0


class TestArgmax:
    def test_the_assignments_query_returns_the_first_value(self) -> None:
        found = argmax_attention(argmax(), np.array(ARGMAX_QUERY))
        assert found.scores.tolist() == [3, 1, 1, -3]
        assert found.winners == (0,)
        assert found.output.tolist() == [3, 2, -4]

    def test_the_output_is_constant_within_the_radius_and_not_beyond(self) -> None:
        instance, query = argmax(), np.array(ARGMAX_QUERY)
        found = argmax_attention(instance, query)
        dice = np.random.default_rng(2)
        for _ in range(100):
            step = dice.normal(size=3)
            near = query + 0.999 * found.radius * step / np.linalg.norm(step)
            assert argmax_attention(instance, near).winners == found.winners
        gap = instance.keys[1:] - instance.keys[0]
        nearest = gap[np.argmin((3 - found.scores[1:]) / np.linalg.norm(gap, axis=1))]
        beyond = query + 1.001 * found.radius * nearest / np.linalg.norm(nearest)
        assert argmax_attention(instance, beyond).winners != found.winners

    def test_a_tie_gives_the_mean_that_softmax_tends_to(self) -> None:
        instance, query = argmax(), np.array([0.0, 1.0, 0.5])
        found = argmax_attention(instance, query)
        assert found.is_tie
        assert found.winners == (0, 1)
        assert found.radius == 0
        sharp = weights_of(instance.keys, 1000 * query) @ instance.values
        assert found.output == pytest.approx(sharp)

    def test_equal_keys_are_tied_wherever_the_query_is(self) -> None:
        instance = Instance(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.eye(3))
        found = argmax_attention(instance, np.array([2.0, 0.0]))
        assert found.winners == (0, 1)
        assert found.radius == pytest.approx(math.sqrt(2))


def test_a_replaced_key_leaves_the_others() -> None:
    changed = with_key(CSE, 2, np.zeros(3))
    assert changed.keys[2].tolist() == [0, 0, 0]
    assert CSE.keys[2].tolist() != [0, 0, 0]
    assert np.array_equal(np.delete(changed.keys, 2, 0), np.delete(CSE.keys, 2, 0))
