"""The collapse verdict."""

import pytest

from attnlab.evaluation.collapse import collapse_verdict, identical_scores


def test_a_constant_predictor_did_not_learn() -> None:
    verdict = collapse_verdict(["a", "b", "a"], ["b", "b", "b"])
    assert verdict == "did not learn: it answers 'b' to all 3 examples (1 right)"


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (["a", "b", "a"], ["a", "b", "a"]),
        (["a", "a"], ["a", "a"]),
        (["a", "b", "a"], ["b", "a", "b"]),
    ],
    ids=["all right", "only one class", "all wrong"],
)
def test_others_are_not_accused(gold: list[str], predicted: list[str]) -> None:
    assert collapse_verdict(gold, predicted) is None


def test_scores_that_are_equal_to_the_last_bit_are_grouped() -> None:
    scores = {"a": 0.1 + 0.2, "b": 0.3, "c": 0.1 + 0.2}
    assert identical_scores(scores) == [["a", "c"]]
