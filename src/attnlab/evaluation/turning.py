"""Did dev turn down? The best epoch of a run against its last, on the same rows.

The best epoch is the best because dev was looked at after each of them. So the p-value of the
paired test is multiplied by the number of epochs that could have been the best instead
(Bonferroni): a fall that many looks at noise would find as well is not called one.
"""

from dataclasses import dataclass
from typing import Literal

from attnlab.evaluation.comparison import Comparison, Condition, compare
from attnlab.evaluation.selection import DEV
from attnlab.evaluation.significance import SIGNIFICANT
from attnlab.evaluation.standings import NOT_LEARNED
from attnlab.runs.directory import Run

Verdict = Literal["not learned", "still best", "down", "unclear"]


@dataclass(frozen=True)
class Turn:
    """How dev went from its best epoch to the last."""

    verdict: Verdict
    best: Condition
    last: Condition
    n: int
    n_others: int
    """Epochs that could have been the best instead."""
    p_value: float = 1.0
    """Of the paired test, corrected for them."""


def turn_of(best: Run, last: Run | None, *, epochs: int) -> Turn:
    """Compare the best epoch with the last on dev; None if that was the best."""
    comparison = compare([best, last] if last else [best], split=DEV)
    first, final = comparison.conditions[0], comparison.conditions[-1]
    others = epochs - 1
    if _has_not_learned(comparison, first):
        return Turn("not learned", first, final, comparison.n, others)
    if last is None:
        return Turn("still best", first, final, comparison.n, others)
    (pair,) = comparison.pairs
    p_value = min(1.0, pair.p_value * others)
    verdict: Verdict = "down" if pair.difference < 0 and p_value < SIGNIFICANT else "unclear"
    return Turn(verdict, first, final, comparison.n, others, p_value)


def _has_not_learned(comparison: Comparison, best: Condition) -> bool:
    groups = {one.name: one.group for one in comparison.standings}
    guessing = best.baseline["value"] if best.baseline else 0.0
    return groups[best.name] == NOT_LEARNED or best.interval.low <= guessing
