"""What a job or study will take, and what its numbers will be able to show: a plan in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attnlab.evaluation.intervals import percent
from attnlab.evaluation.metrics import ACCURACY
from attnlab.evaluation.power import APART, SPREAD, detectable
from attnlab.report.document import Block, Sentences, Table

MOST_CELLS = 40
COMPARED = ("dev", "test", "held_out")


@dataclass(frozen=True)
class PlannedCell:
    """One run that is to come."""

    name: str
    steps: int = 0
    seconds: float = 0.0
    note: str = ""
    """Why there is no time, where there is none."""
    is_timed: bool = True
    step_seconds: float = 0.0
    """Of one step alone; a run also prepares, evaluates and saves."""


@dataclass(frozen=True)
class Plan:
    """What a job or study will take, and what it can tell apart."""

    cells: Sequence[PlannedCell]
    parallel: int
    threads: int
    """Threads that the steps were timed with; 0 if none were."""
    sizes: Mapping[str, int]
    """Examples by split that conditions are compared on."""
    seeds: int
    """Runs of each condition."""
    conditions: int

    @property
    def seconds(self) -> float:
        """How long it will take, as far as that is known."""
        return sum(cell.seconds for cell in self.cells) / self.parallel


def plan_blocks(plan: Plan) -> Iterator[Block]:
    """Show the cells with their steps and time, the sum, and the smallest difference."""
    shown = plan.cells[:MOST_CELLS]
    yield Table(["cell", "steps", "time", ""], [_row(cell) for cell in shown], one_line=True)
    if more := len(plan.cells) - len(shown):
        yield Sentences([f"{more} more cells are not shown."])
    yield Sentences([_sum(plan), *_what_it_shows(plan)])


def _row(cell: PlannedCell) -> list[str]:
    if not cell.is_timed:
        return [cell.name, "?", "?", cell.note]
    return [cell.name, f"{cell.steps:,}", in_words(cell.seconds), cell.note]


def _sum(plan: Plan) -> str:
    steps, n = sum(cell.steps for cell in plan.cells), len(plan.cells)
    cells = "1 cell" if n == 1 else f"{n} cells"
    if not plan.threads:
        return f"{cells}; nothing to train."
    how = "one after the other" if plan.parallel == 1 else f"{plan.parallel} at a time"
    threads = "1 thread" if plan.threads == 1 else f"{plan.threads} threads"
    timed = f"{cells}, {steps:,} steps, about {in_words(plan.seconds)}"
    timed += f", {how}" if n > 1 else ""
    timed += f", from a few steps timed here with {threads}"
    unknown = sum(not cell.is_timed for cell in plan.cells)
    return f"{timed}; {unknown} cannot be timed yet." if unknown else f"{timed}."


def _what_it_shows(plan: Plan) -> Iterator[str]:
    """Say which difference in accuracy is found four times in five."""
    comparisons = max(1, plan.conditions - 1)
    found = {
        split: ACCURACY.write_difference(detectable(n, seeds=plan.seeds, comparisons=comparisons))
        for split, n in plan.sizes.items()
        if split in COMPARED and n
    }
    if not found:
        return
    listed = ", ".join(
        f"{size} on {split} (n = {plan.sizes[split]:,})" for split, size in found.items()
    )
    corrected = f" after Holm's correction for {comparisons} comparisons" if comparisons > 1 else ""
    seeds, luck = "one run each", ""
    if plan.seeds > 1:
        seeds = f"{plan.seeds} seeds each"
        luck = f", and if scores spread by {100 * SPREAD:g} point over seeds"
    yield (
        f"The smallest difference in accuracy that it shows four times in five, {seeds}{corrected}:"
        f" {listed}; if two models answer {percent(APART)} of the examples differently{luck}."
    )


def in_words(seconds: float) -> str:
    """Write a time in the unit that fits: 40 seconds, 12 minutes, 3.5 hours."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
