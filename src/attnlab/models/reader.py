"""A reader: which of the candidates in a text answers a question.

A linear model of the candidates' features, with a softmax over all candidates of a question. An
answer may be mentioned several times: its probability is the sum over its mentions, and the loss is
the negative log of that sum. It is fitted with L-BFGS to its minimum, which takes seconds, so there
is no seed and nothing to resume.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from attnlab.data.answer_candidates import Candidate

PENALTY = 0.1
"""Weight of the squared norm, in the sum over all questions."""
MOST_STEPS = 200


class Example(NamedTuple):
    """The candidates of a question, and its answer."""

    candidates: Sequence[Candidate]
    answer: str


class Reader:
    """Picks answers; made by ``Reader.fit``."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights

    @classmethod
    def fit(cls, examples: Sequence[Example]) -> "Reader":
        """Learn from questions whose answer is among their candidates; others teach nothing."""
        from scipy.optimize import minimize

        learnable = [one for one in examples if _matches(one).any()]
        if not learnable:
            return cls({})
        features = _Features(learnable)
        found = minimize(
            features.loss,
            np.zeros(len(features.columns)),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MOST_STEPS},
        )
        return cls(dict(zip(features.columns, found.x.tolist(), strict=True)))

    def probabilities(self, candidates: Sequence[Candidate]) -> dict[str, float]:
        """Return the probability of every answer that the candidates offer, the likeliest first."""
        weigh = self.weights.get
        scores = np.array([sum(weigh(f, 0.0) for f in one.features) for one in candidates], float)
        shares = np.exp(scores - scores.max(initial=-np.inf))
        found = defaultdict[str, float](float)
        for candidate, share in zip(candidates, (shares / shares.sum()).tolist(), strict=True):
            found[candidate.text] += share
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))


class _Features:
    """The features of all candidates as a sparse matrix, and which candidates are right."""

    def __init__(self, examples: Sequence[Example]) -> None:
        from scipy.sparse import csr_matrix

        self.columns: dict[str, int] = {}
        flat = [
            [self.columns.setdefault(feature, len(self.columns)) for feature in one.features]
            for example in examples
            for one in example.candidates
        ]
        self.starts: Int[np.ndarray, " Q"] = np.cumsum(
            [0, *(len(example.candidates) for example in examples)]
        )[:-1]
        self.sizes = np.array([len(example.candidates) for example in examples])
        self.is_right: Bool[np.ndarray, " N"] = np.concatenate([_matches(one) for one in examples])
        ends = np.cumsum([0, *map(len, flat)])
        places = np.concatenate([np.array(row, dtype=np.int64) for row in flat])
        ones = np.ones(len(places))
        self.matrix: Any = csr_matrix((ones, places, ends), shape=(len(flat), len(self.columns)))

    def loss(self, weights: Float[np.ndarray, " F"]) -> tuple[float, Float[np.ndarray, " F"]]:
        """Return the loss and its gradient."""
        scores = self.matrix @ weights
        shares = np.exp(scores - self._spread(np.maximum.reduceat(scores, self.starts)))
        shares /= self._spread(np.add.reduceat(shares, self.starts))
        right = np.where(self.is_right, shares, 0.0)
        hits = np.add.reduceat(right, self.starts)
        gradient = self.matrix.T @ (shares - right / self._spread(hits))
        total = -np.log(hits).sum() + 0.5 * PENALTY * weights @ weights
        return float(total), gradient + PENALTY * weights

    def _spread(self, per_question: Float[np.ndarray, " Q"]) -> Float[np.ndarray, " N"]:
        return np.repeat(per_question, self.sizes)


def _matches(example: Example) -> Bool[np.ndarray, " N"]:
    """Which candidates are the answer."""
    return np.array([one.text == example.answer for one in example.candidates], dtype=bool)
