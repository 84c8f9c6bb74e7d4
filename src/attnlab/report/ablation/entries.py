"""The conditions of an ablation with all that is known of each, read from its run directories."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from attnlab.attention.conditions import (
    CONTROL,
    cell_name,
    condition_name,
    condition_of,
    is_on_coins,
)
from attnlab.attention.topics import Topic
from attnlab.errors import UserError
from attnlab.evaluation.budgets import LENGTH, refuse_mixed_budgets
from attnlab.evaluation.comparison import Comparison, Condition, compare
from attnlab.evaluation.examined import AS_TRAINED, WITHOUT_FUTURE, examined
from attnlab.evaluation.held_out_text import SPLIT
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER
from attnlab.evaluation.pairs import Pair
from attnlab.evaluation.significance import SIGNIFICANT
from attnlab.runs.directory import RECORD, Run
from attnlab.runs.study import STUDY, read_study

WINDOW = 5
"""Logged steps that a smoothed training loss is the mean of."""
COST = "cost"
MARGIN = 0.02
"""Bits per character; conditions that are nearer to each other count as alike."""


class Stretch(NamedTuple):
    """Some positions of a text, and the perplexity of their tokens."""

    first: int
    last: int
    perplexity: float


@dataclass(frozen=True)
class Entry:
    """One condition: its runs, what they score, and what was examined of them."""

    name: str
    runs: tuple[Run, ...]
    bits: Condition
    """Bits per character on the held-out text."""
    pair: Pair | None
    """Against the control; None for the control itself."""
    examined: tuple[Mapping[str, Any], ...]
    """One per run that was examined."""

    def mean(self, name: str) -> float | None:
        """Average a number of the records."""
        found = [run.record[name] for run in self.runs if name in run.record]
        return fmean(found) if found else None

    def mean_examined(self, name: str) -> float | None:
        """Average a number that was examined."""
        found = [value for one in self.examined if (value := one.get(name)) is not None]
        return fmean(found) if found else None

    def by_position(self) -> list[Stretch]:
        """Return the perplexity by position, averaged over the seeds; nothing if it cannot read."""
        tables = [one["by_position"] for one in self.examined if one.get("by_position")]
        return [
            Stretch(
                parts[0]["first"],
                parts[0]["last"],
                fmean(math.exp(part["loss"]) for part in parts),
            )
            for parts in zip(*tables, strict=True)
        ]

    @property
    def perplexity(self) -> float:
        """On the held-out text, averaged over the seeds."""
        return fmean(run.record["scores"][SPLIT]["value"] for run in self.runs)

    @property
    def tokens_per_second(self) -> float | None:
        """Speed of the training."""
        tokens, seconds = self.mean("tokens"), self.mean("training_seconds")
        return tokens / seconds if tokens and seconds else None

    @property
    def training_perplexity(self) -> float | None:
        """Smoothed, at the end of the training."""
        found = [losses[-1] for run in self.runs if (losses := smoothed(logged(run, "loss")))]
        return fmean(found) if found else None

    @property
    def leak_bits(self) -> float | None:
        """By how much a random future in place of the real one raises the loss; None for no leak.

        In bits per token, averaged over the runs that leak; at every cut if they were examined.
        """
        records = [run.record.get("leak") for run in self.runs]
        measured = [one["leak"] for one in self.examined if "leak" in one] or records
        found = [float(leak["bits"]) for leak in measured if leak and leak["largest_change"] != 0]
        return fmean(found) if found else None

    def on_same_windows(self, how: str) -> float | None:
        """Return the perplexity on the windows that a leaking model also reads without a future."""
        found = [one[how]["perplexity"] for one in self.examined if how in one]
        return fmean(found) if found else None

    @property
    def without_future(self) -> float | None:
        """The perplexity on these windows if nothing follows; a causal model's is as ever."""
        how = AS_TRAINED if self.leak_bits is None else WITHOUT_FUTURE
        return self.on_same_windows(how)

    @property
    def counts_pairs(self) -> bool:
        """Whether counting which token follows which is as good."""
        pairs = self.mean_examined("counting_pairs")
        return pairs is not None and self.perplexity >= pairs

    @property
    def did_not_learn(self) -> bool:
        """Whether knowing how often each token occurs is as good."""
        return all(run.record["scores"][SPLIT].get("verdict") for run in self.runs)

    @property
    def outcome(self) -> str:
        """Better or worse than the control, alike, or undecided.

        A difference that is not found is not shown to be small: alike are two whose difference lies
        within the margin with all of its interval.
        """
        if self.pair is None:
            return "alike"
        if self.pair.corrected_p < SIGNIFICANT:
            return "better" if self.pair.difference < 0 else "worse"
        return "alike" if max(map(abs, self.pair.interval)) <= MARGIN else "undecided"


@dataclass(frozen=True)
class Ablation:
    """All conditions of a study, the control first."""

    control: Entry
    others: tuple[Entry, ...]
    comparison: Comparison
    coins: Mapping[str, tuple[Run, Mapping[str, Any]]]
    """Runs on coin flips and what was examined of them, by condition."""
    costs: Mapping[str, Any]
    """What layers cost by length, and from which length on they are cheaper."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every condition."""
        return (self.control, *self.others)

    def about(self, topic: Topic) -> "Ablation":
        """Leave out coin flips and costs that the topic does not ask for."""
        costs = {
            "costs": [one for one in self.costs.get("costs", ()) if one["name"] in topic.costs],
            "crossover": {
                name: at
                for name, at in self.costs.get("crossover", {}).items()
                if name in topic.costs
            },
        }
        return replace(self, coins=self.coins if topic.coins else {}, costs=costs)


def read_ablation(runs: Sequence[Run], *, control: str = CONTROL) -> Ablation:
    """Read the runs of a study, and compare every condition with the control."""
    runs = [run for run in runs if not is_on_coins(run.name)]
    folder = runs[0].path.parent
    by_flops = (folder / STUDY).exists() and _match(read_study(folder)) == "flops"
    refuse_mixed_budgets(runs, free=[LENGTH] if by_flops else [])
    first = next((r for r in runs if condition_of(r.name) == condition_name(control)), None)
    if first is None:
        raise UserError(
            f"{folder} has no finished run of the control {control} to compare with yet; repeat"
            " the command of the study to resume it."
        )
    found = compare(runs, split=SPLIT, metric=BITS_PER_CHARACTER.name, against=first.name)
    pairs = {pair.second: pair for pair in found.pairs}
    by_name = {run.name: run for run in runs}
    entries = [
        _entry(tuple(by_name[name] for name in one.runs), one, pairs.get(one.name))
        for one in found.conditions
    ]
    (of_control,) = (one for one in entries if one.name == condition_name(control))
    others = sorted((one for one in entries if one is not of_control), key=lambda e: e.bits.score)
    cost = folder / COST
    costs = Run.open(cost).record if (cost / RECORD).exists() else {}
    return Ablation(of_control, tuple(others), found, _coins(folder, entries), costs)


def logged(run: Run, key: str) -> list[float]:
    """Return a number that was logged on the way."""
    return [float(line[key]) for line in run.metrics() if key in line]


def smoothed(losses: Sequence[float]) -> list[float]:
    """Return the perplexity of the mean of the last few losses, at every logged step."""
    return [
        math.exp(fmean(losses[max(0, end - WINDOW) : end])) for end in range(1, len(losses) + 1)
    ]


def _entry(runs: tuple[Run, ...], bits: Condition, pair: Pair | None) -> Entry:
    found = tuple(one for run in runs if (one := examined(run)))
    return Entry(condition_of(runs[0].name), runs, bits, pair, found)


def _coins(folder: Path, entries: Sequence[Entry]) -> dict[str, tuple[Run, Mapping[str, Any]]]:
    """Find the runs on coin flips, which have the first seed of the study."""
    found = {}
    for entry in entries:
        seed = min(run.setting("training")["seed"] for run in entry.runs)
        path = folder / cell_name(entry.name, seed, on_coins=True)
        if (path / RECORD).exists():
            run = Run.open(path)
            found[entry.name] = (run, examined(run))
    return found


def _match(study: Mapping[str, Any]) -> str:
    return str((study.get("settings") or {}).get("match", ""))
