"""Conditions that have failed: a run of theirs ran out of memory, or its loss became nan."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.evaluation.comparison import conditions_of
from attnlab.runs.directory import Run

NAN = "nan"


@dataclass(frozen=True)
class FailedCondition:
    """One or more runs that differ only in the seed, of which at least one has failed."""

    name: str
    runs: tuple[str, ...]
    kind: str
    """In a word, how the first of them failed: memory, nan, failed."""
    message: str
    n_failed: int

    @property
    def result(self) -> str:
        """What stands where the score would."""
        word = f"collapsed: {self.kind}" if self.kind == NAN else f"0, {self.kind}"
        several = f" ({self.n_failed} of {len(self.runs)} seeds)" if len(self.runs) > 1 else ""
        return word + several


def part_failed(runs: Sequence[Run]) -> tuple[list[Run], list[FailedCondition]]:
    """Part the runs that can be compared from the conditions that have failed.

    A condition fails with any of its seeds: those that survive would flatter it.
    """
    found: list[FailedCondition] = []
    for name, group in conditions_of(runs).items() if runs else ():
        failures = [failure for run in group if (failure := run.failure)]
        if failures:
            kind, message = failures[0]["kind"], failures[0]["message"]
            names = tuple(run.name for run in group)
            found.append(FailedCondition(name, names, kind, message, len(failures)))
    gone = {name for condition in found for name in condition.runs}
    return [run for run in runs if run.name not in gone], found
