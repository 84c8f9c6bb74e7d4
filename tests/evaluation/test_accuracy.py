"""Accuracy alongside what guessing gives, and the verdict on a model that only guesses."""

import pytest

from attnlab.evaluation.accuracy import collapse_verdict, score_answers
from attnlab.evaluation.intervals import wilson


def test_answers_are_scored_alongside_the_commonest_training_answer() -> None:
    gold = ["Oslo", "Lima", "Riga", "Oslo", "Cairo"]
    predicted = ["Oslo", "Lima", "Oslo", "oslo", "Cairo"]
    score = score_answers(gold, predicted, train_gold=["Riga", "Lima", "Lima"])
    assert score == {
        "metric": "accuracy",
        "value": 0.6,
        "right": 3,
        "n": 5,
        "interval": list(wilson(3, 5)),
        "baseline": {"name": "always Lima", "answer": "Lima", "value": 0.2, "right": 1},
        "verdict": None,
    }


def test_guessing_takes_the_answer_from_train_and_not_from_the_gold() -> None:
    score = score_answers(["Oslo", "Oslo"], ["x", "y"], train_gold=["Riga"])
    assert score["value"] == 0
    assert score["baseline"] == {
        "name": "always Riga",
        "answer": "Riga",
        "value": 0.0,
        "right": 0,
    }


def test_an_answer_too_few_is_no_score() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_answers(["Oslo", "Lima"], ["Oslo"], train_gold=["Riga"])


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
