"""Hand-made attention in words: each sentence by its numbers."""

import math

import numpy as np
import pytest

from attnlab.geometry.certificates import Certificate
from attnlab.geometry.examples import cse517, example
from attnlab.geometry.explain.answer import scale_words, stretch_words
from attnlab.geometry.scale import Ray, error_curve
from attnlab.geometry.targets import average, select
from attnlab.geometry.words import (
    combination,
    exponential,
    listed,
    number,
    proof,
    target_words,
    vector,
)


def test_a_power_of_e_is_written_however_large_it_is() -> None:
    assert exponential(math.log(3.26)) == "3.26"
    assert exponential(1e6 * math.log(10)) == "10^1e+06"


def test_a_vector_can_be_given_back() -> None:
    assert vector(np.array([1.0, -2.5, 1e-15])) == "[1, -2.5, 0]"
    assert vector(np.arange(20.0)).endswith("11, …]")
    assert vector(np.array([1 / 3]), 9) == "[0.333333333]"


def test_small_numbers_are_told_briefly() -> None:
    assert number(0.0) == "0"
    assert number(3.4e-16) == "3.4e-16"
    assert number(0.26117) == "0.2612"


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ([0.3, 0.7, 0], "0.3·k0 + 0.7·k1"),
        ([1, 0, -1], "k0 - k2"),
        ([-2, 0, 1e-15], "-2·k0"),
        ([0, 0, 0], "0"),
    ],
)
def test_a_combination_is_written_as_one_would(shares: list[float], text: str) -> None:
    assert combination(shares, ["k0", "k1", "k2"]) == text


def test_a_list_ends_with_and() -> None:
    assert [listed([]), listed([1]), listed([1, 2]), listed([1, 2, 3])] == [
        "", "1", "1 and 2", "1, 2 and 3",
    ]  # fmt: skip


def test_targets_by_their_kind() -> None:
    assert target_words(select(4, 2)) == "all weight on token 2"
    assert target_words(average(4, [0, 2])) == "equal weight on tokens 0 and 2, none elsewhere"
    assert target_words(average(3, range(3))) == "equal weight on all 3 tokens"
    assert target_words(np.array([0.25, 0.75])) == "weights [0.25, 0.75]"


def test_the_three_proofs() -> None:
    inside = proof(Certificate(np.array([0.3, 0.7, -1]), "key 2 is a mean"), select(3, 2))
    assert inside.startswith("k2 = 0.3·k0 + 0.7·k1: key 2 is a mean. Whatever the query")
    assert inside.endswith(f"never exceeds {1 / (1 + 0.3**-0.3 * 0.7**-0.7):.4g}.")
    face = proof(Certificate(np.array([-0.5, -0.5, 1]), "so"), average(3, [0, 1]))
    assert "k2 = 0.5·k0 + 0.5·k1: so." in face
    assert "log a2 = 0.5·log a0 + 0.5·log a1" in face
    assert face.endswith("log 0 = -∞ and the right side finite.")
    ratios = proof(Certificate(np.array([1.0, -2, 1]), "so"), np.array([0.5, 0.25, 0.25]))
    assert ratios.endswith(f"the two sides differ by {math.log(2):.4g}.")


def test_a_stretch_is_rounded_inwards() -> None:
    assert stretch_words((1.3947, 87.16)) == "from S = 1.4 to 87.1"
    assert stretch_words((1.4, 2.0)) == "from S = 1.4 to 2"
    assert stretch_words((3.457, math.inf)) == "from S = 3.46 on"
    assert stretch_words((0.0, 2.389)) == "for every S > 0 up to 2.38"
    assert stretch_words((0.0, math.inf)) == "for every S > 0"


def test_the_error_against_the_scale_in_words() -> None:
    cse = cse517()
    for direction, target, said in (
        (cse.keys[0], select(4, 0), "is within 0.05 from S = 3.46 on"),
        (cse.keys[0], select(4, 1), "is not within 0.05 for any S > 0"),
        (cse.keys[0] + cse.keys[1], average(4, [0, 1]), "least at S = 3.92 (0.0021)"),
        (cse.keys[0] / 1e6, select(4, 0), "is within 0.05 from S = 3.46e+06 on"),
        (1e6 * cse.keys[0], select(4, 0), "is within 0.05 from S = 3.46e-06 on"),
        (cse.keys.mean(axis=0), average(4, range(4)), "least as S → 0 (0), within 0.05 for every"),
    ):
        curve = error_curve(cse, direction, target=target)
        assert said in scale_words(Ray("k", 1.0, 1.0, curve))


def test_a_query_across_all_differences_has_no_scale() -> None:
    orthonormal = example("orthonormal")
    curve = error_curve(orthonormal, np.ones(5), target=average(5, range(5)))
    said = scale_words(Ray("sum(K)", 1.0, 1.0, curve))
    assert said == "S·sum(K) has the same error for every S > 0 (0): it scores all keys alike."


@pytest.mark.parametrize(
    ("direction", "name"),
    [
        ("k0+k1", "S·(k0+k1)"),
        ("(k0+k1)", "S·(k0+k1)"),
        ("(k0)+(k1)", "S·((k0)+(k1))"),
        ("(k0+k1)/2", "S·(k0+k1)/2"),
        ("-k0", "S·(-k0)"),
        ("mean(K)", "S·mean(K)"),
        ("k0 − k1", "S·(k0 - k1)"),
    ],
)
def test_a_multiple_keeps_its_parentheses(direction: str, name: str) -> None:
    curve = error_curve(cse517(), np.ones(3), target=select(4, 0))
    assert Ray(direction, 1.0, 1.0, curve).name == name
