"""Many conditions at a glance: the best, those not distinguishable from it, and the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.evaluation.intervals import Interval
from attnlab.evaluation.pairs import Pair
from attnlab.evaluation.significance import SIGNIFICANT

BEST, ALIKE, WORSE, NOT_LEARNED = "best", "indistinguishable from best", "worse", "did not learn"
ORDER = (BEST, ALIKE, WORSE, NOT_LEARNED)


@dataclass(frozen=True)
class Standing:
    """One condition relative to the best."""

    name: str
    group: str
    difference: float = 0.0
    """To the best: its score minus the best one's."""
    interval: Interval = Interval(0.0, 0.0)
    corrected_p: float = 1.0
    method: str = ""


def standings(
    names: Sequence[str], best: str, pairs: Sequence[Pair], constant: Sequence[str]
) -> list[Standing]:
    """Group the conditions by their paired test against the best, nearest to the best first.

    ``constant`` are those that give one answer to everything, whatever that scores.
    """
    found = [Standing(best, NOT_LEARNED if best in constant else BEST)]
    for pair in pairs:
        if best not in (pair.first, pair.second):
            continue
        sign = 1 if pair.first == best else -1
        name = pair.second if pair.first == best else pair.first
        low, high = sorted(sign * bound for bound in pair.interval)
        is_alike = pair.corrected_p >= SIGNIFICANT
        group = NOT_LEARNED if name in constant else ALIKE if is_alike else WORSE
        found.append(
            Standing(
                name,
                group,
                sign * pair.difference,
                Interval(low, high),
                pair.corrected_p,
                pair.method,
            )
        )
    assert {one.name for one in found} == set(names), "every condition has a standing"
    return sorted(found, key=lambda one: (ORDER.index(one.group), abs(one.difference)))
