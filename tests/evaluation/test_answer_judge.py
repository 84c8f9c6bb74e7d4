"""All signals together: what a judge of answers learns, and whom it may judge."""

from typing import Any

import numpy as np
import pytest

from attnlab.evaluation.answer_judge import CALIBRATED, AnswerJudge, judge_each_by_others
from attnlab.evaluation.confidence import roc_area


def answers(n: int, *, noise: float) -> tuple[list[dict[str, Any]], list[bool]]:
    """Answers whose confidence says little, and a reader's probability that says more."""
    draw = np.random.default_rng(0)
    is_right = (draw.random(n) < 0.6).tolist()
    rows = [
        {
            "confidence": float(draw.uniform(0.01, 0.99)),
            "reader_probability": float(np.clip(good + noise * draw.normal(), 0.01, 0.99)),
            "reader_runner_up": 0.0,
        }
        for good in is_right
    ]
    return rows, is_right


def area(rows: list[dict[str, Any]], signal: str, is_right: list[bool]) -> float:
    found = roc_area([row[signal] for row in rows], is_right)
    assert found
    return found.value


def test_signals_together_tell_right_from_wrong_better_than_the_confidence() -> None:
    rows, is_right = answers(200, noise=0.5)
    judged = judge_each_by_others(rows, is_right)
    assert area(judged, "confidence", is_right) < 0.6
    assert area(judged, CALIBRATED, is_right) > 0.85


def test_its_probabilities_are_calibrated() -> None:
    rows, is_right = answers(400, noise=0.5)
    judged = [row[CALIBRATED] for row in judge_each_by_others(rows, is_right)]
    assert np.mean(judged) == pytest.approx(np.mean(is_right), abs=0.03)


def test_answers_are_never_judged_by_what_was_fitted_on_them() -> None:
    """Where signals say nothing, a judge looks good on the answers that it was fitted on alone."""
    own, honest = [], []
    for seed in range(10):
        rows, is_right = meaningless(seed)
        own.append(area(AnswerJudge.fit(rows, is_right).judge(rows), CALIBRATED, is_right))
        honest.append(area(judge_each_by_others(rows, is_right), CALIBRATED, is_right))
    assert np.mean(own) > 0.62
    assert np.mean(honest) < 0.55


def meaningless(seed: int) -> tuple[list[dict[str, Any]], list[bool]]:
    draw = np.random.default_rng(seed)
    names = ("confidence", "agreement", "runner_up_probability", "known_ngrams")
    rows = [dict(zip(names, draw.random(4).tolist(), strict=True)) for _ in range(24)]
    return rows, (draw.random(24) < 0.5).tolist()


def test_a_signal_that_an_answer_lacks_counts_as_average() -> None:
    rows, is_right = answers(100, noise=0.3)
    judge = AnswerJudge.fit(rows, is_right)
    average = {"confidence": 0.5, "reader_probability": 0.5, "reader_runner_up": 0.0}
    low = judge.probability(average | {"reader_probability": 0.02})
    missing = judge.probability({"confidence": 0.5})
    high = judge.probability(average | {"reader_probability": 0.98})
    assert low < missing < high


def test_a_signal_that_never_varies_changes_nothing() -> None:
    rows, is_right = answers(60, noise=0.3)
    judge = AnswerJudge.fit(rows, is_right)
    constant = AnswerJudge.fit([row | {"known_ngrams": 1.0} for row in rows], is_right)
    assert constant.probability(rows[0]) == pytest.approx(judge.probability(rows[0]), abs=1e-3)
