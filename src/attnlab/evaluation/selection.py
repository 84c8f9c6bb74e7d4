"""Selection: the best condition of many, and what keeps it from being called the best."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.evaluation.comparison import Comparison, Condition, compare
from attnlab.evaluation.standings import ALIKE, NOT_LEARNED
from attnlab.runs.directory import Run

DEV = "dev"


@dataclass(frozen=True)
class Selection:
    """What a split chooses among conditions, and which of them it cannot tell from the choice."""

    comparison: Comparison
    chosen: Condition
    """The highest score; of equal ones the first."""
    tied: tuple[str, ...]
    """Others that score exactly the same."""
    alike: tuple[str, ...]
    """Others that a paired test does not distinguish from it, tied ones included."""
    constant: tuple[str, ...]
    """Conditions that give one answer to everything."""
    at_majority: tuple[str, ...]
    """Others whose interval reaches what always giving the most common answer scores."""

    @property
    def collapsed(self) -> tuple[str, ...]:
        """Conditions that have not been shown to learn anything."""
        return (*self.constant, *self.at_majority)


def select_best(runs: Sequence[Run], *, split: str = DEV) -> Selection:
    """Choose the condition with the highest score; runs that differ in the seed are one."""
    comparison = compare(runs, split=split, all_pairs=False)
    conditions = comparison.conditions
    chosen = max(conditions, key=lambda condition: condition.score)  # the first of equal ones
    groups = {standing.name: standing.group for standing in comparison.standings}
    others = [condition for condition in conditions if condition is not chosen]
    constant = tuple(one.name for one in conditions if groups[one.name] == NOT_LEARNED)
    return Selection(
        comparison,
        chosen,
        tied=tuple(one.name for one in others if one.score == chosen.score),
        alike=tuple(one.name for one in others if groups[one.name] == ALIKE),
        constant=constant,
        at_majority=tuple(
            one.name
            for one in conditions
            if one.name not in constant
            and one.baseline
            and one.interval.low <= one.baseline["value"]
        ),
    )
