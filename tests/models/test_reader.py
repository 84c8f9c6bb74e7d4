"""The reader: what it learns, and the loss it minimises."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from attnlab.data.answer_candidates import Candidate
from attnlab.models.reader import Example, Reader, _Features


def candidate(text: str, *features: str) -> Candidate:
    return Candidate(text, features)


BORN = [
    Example([candidate("Hull", "after born"), candidate("Rome", "after died")], "Hull"),
    Example([candidate("May", "after in"), candidate("Lyon", "after born")], "Lyon"),
    Example([candidate("York", "after died"), candidate("Bath", "after born")], "Bath"),
]


def test_it_learns_which_features_an_answer_has() -> None:
    found = Reader.fit(BORN).probabilities(
        [candidate("Oslo", "after died"), candidate("Kyiv", "after born")]
    )
    assert list(found) == ["Kyiv", "Oslo"]
    assert found["Kyiv"] > 0.8
    assert sum(found.values()) == pytest.approx(1)


def test_an_answer_that_is_mentioned_twice_has_the_probability_of_both_mentions() -> None:
    found = Reader({}).probabilities([candidate("Hull"), candidate("Rome"), candidate("Hull")])
    assert found == pytest.approx({"Hull": 2 / 3, "Rome": 1 / 3})


def test_nothing_to_choose_from_gives_no_answer() -> None:
    assert Reader.fit(BORN).probabilities([]) == {}


def test_questions_whose_answer_is_not_there_teach_nothing() -> None:
    unknown = Example([candidate("Oslo", "after died"), candidate("Kyiv", "after in")], "Turin")
    assert Reader.fit([*BORN, unknown]).weights == Reader.fit(BORN).weights
    assert Reader.fit([unknown]).weights == {}


def test_the_gradient_is_that_of_the_loss() -> None:
    twice = Example([candidate("A", "x", "y"), candidate("B", "x"), candidate("A", "z")], "A")
    features = _Features([*BORN, twice])
    weights = np.random.default_rng(0).normal(size=len(features.columns))
    wrong_by = check_grad(lambda w: features.loss(w)[0], lambda w: features.loss(w)[1], weights)
    assert wrong_by < 1e-5
