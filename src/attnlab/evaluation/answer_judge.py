"""All signals about an answer together: the probability that it is right.

A logistic regression with few weights, fitted on people whose truth is known: held-out training
people, and invented ones, about whom every answer is made up. A signal that an answer lacks counts
as average. Answers that a judge was fitted on are judged by one that was fitted on the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

Row = Mapping[str, Any]
CALIBRATED = "calibrated"
"""The column of an answer that holds its judged probability."""
PENALTY, FOLDS = 1.0, 10
SMALLEST = 1e-4
"""Probabilities closer to 0 or 1 than this are all the same."""


@dataclass(frozen=True)
class AnswerJudge:
    """What a signal means: where it is centred, how far it spreads, how much it weighs."""

    signals: Mapping[str, Sequence[float]]
    """By name: centre, spread and weight."""
    bias: float

    @classmethod
    def fit(cls, rows: Sequence[Row], is_right: Sequence[bool]) -> "AnswerJudge":
        """Fit it on answers whose truth is known."""
        names = sorted(set.intersection(*(set(_signals(row)) for row in rows)))
        table = np.array([[_signals(row)[name] for name in names] for row in rows])
        centre, spread = table.mean(0), table.std(0)
        spread[spread == 0] = 1.0
        weights = _logistic((table - centre) / spread, np.array(is_right, bool))
        columns = zip(centre.tolist(), spread.tolist(), weights[1:].tolist(), strict=True)
        return cls(dict(zip(names, columns, strict=True)), float(weights[0]))

    def probability(self, row: Row) -> float:
        """Return how likely an answer is to be right."""
        found, score = _signals(row), self.bias
        for name, (centre, spread, weight) in self.signals.items():
            score += weight * (found.get(name, centre) - centre) / spread
        return float(1 / (1 + np.exp(-score)))

    def judge(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return answers with their probability of being right."""
        return [{**row, CALIBRATED: self.probability(row)} for row in rows]


def judge_each_by_others(rows: Sequence[Row], is_right: Sequence[bool]) -> list[dict[str, Any]]:
    """Judge the answers that a judge is fitted on, each by one that has not seen it."""
    judged: list[dict[str, Any]] = [{}] * len(rows)
    for fold in range(FOLDS):
        others = [i for i in range(len(rows)) if i % FOLDS != fold]
        own = range(fold, len(rows), FOLDS)
        judge = AnswerJudge.fit([rows[i] for i in others], [is_right[i] for i in others])
        for i, row in zip(own, judge.judge([rows[i] for i in own]), strict=True):
            judged[i] = row
    return judged


def _signals(row: Row) -> dict[str, float]:
    """Return what speaks for an answer, on scales on which a sum makes sense."""
    found = {"confidence": _log_odds(row["confidence"])}
    if "agreement" in row:
        found["agreement"] = row["agreement"]
        found["lead"] = row["confidence"] - row["runner_up_probability"]
    if "reader_probability" in row:
        found["reader"] = _log_odds(row["reader_probability"])
        found["reader_lead"] = row["reader_probability"] - row["reader_runner_up"]
    if "known_ngrams" in row:
        found["known_ngrams"] = row["known_ngrams"]
    return found


def _log_odds(probability: float) -> float:
    within = min(max(probability, SMALLEST), 1 - SMALLEST)
    return float(np.log(within / (1 - within)))


def _logistic(
    table: Float[np.ndarray, "N S"], is_right: Bool[np.ndarray, " N"]
) -> Float[np.ndarray, " S+1"]:
    """Return the bias and the weights of the most likely logistic regression, with a penalty."""
    from scipy.optimize import minimize
    from scipy.special import expit

    with_bias = np.column_stack([np.ones(len(table)), table])
    sign, penalty = np.where(is_right, 1.0, -1.0), np.full(with_bias.shape[1], PENALTY)
    penalty[0] = 0.0

    def loss(weights: Float[np.ndarray, " S"]) -> tuple[float, Float[np.ndarray, " S"]]:
        margin = sign * (with_bias @ weights)
        slope = -with_bias.T @ (sign * expit(-margin))
        total = np.logaddexp(0, -margin).sum() + 0.5 * penalty @ weights**2
        return float(total), slope + penalty * weights

    found = minimize(loss, np.zeros(with_bias.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)
