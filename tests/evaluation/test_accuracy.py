"""The share of right answers beside what guessing gives."""

import pytest

from attnlab.evaluation.accuracy import score_answers, share_right
from attnlab.evaluation.intervals import wilson


def test_answers_are_scored_beside_the_commonest_training_answer() -> None:
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


def test_the_share_is_that_of_equal_answers() -> None:
    assert share_right(["Oslo", "Lima", "Riga", "Oslo"], ["Oslo", "Lima", "Oslo", "oslo"]) == 0.5


def test_a_share_needs_an_answer_to_each_question() -> None:
    with pytest.raises(ValueError, match="shorter"):
        share_right(["Oslo", "Lima"], ["Oslo"])
