"""What the cited runs say about a claim, and what makes a recorded score worth nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from attnlab.config import flatten
from attnlab.evaluation.claims.quantities import BITS, LOSS, PERPLEXITY
from attnlab.evaluation.examined import WITHOUT_FUTURE, examined
from attnlab.evaluation.ledger import was_trained_on
from attnlab.runs.directory import Run

Verdict = Literal["supported", "contradicted", "open"]
OF_TEXT = {quantity.name for quantity in (PERPLEXITY, LOSS, BITS)}
"""Metrics that say nothing of a model that sees the future."""
OPTIMIZER, RATE = "optimizer.name", "optimizer.lr"
TURNED: dict[Verdict, Verdict] = {
    "supported": "contradicted",
    "contradicted": "supported",
    "open": "supported",  # what cannot be told apart is not better
}
_ADMITS_LEAK = re.compile(
    r"\bsee(?:s|ing)? the future|\blook\w* ahead|from the future|\bleak|\bcheat|not be trusted"
    r"|means nothing|meaningless|not causal",
    re.I,
)
_ADMITS_MEMORY = re.compile(r"were trained on|by heart|memori[sz]|memory", re.I)


@dataclass(frozen=True)
class Claim:
    """Something that a report says, and what the runs say about it."""

    line: int
    text: str
    """The words of the report."""
    runs: tuple[str, ...]
    """What it is about."""
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Judgement:
    """A verdict and its reason."""

    verdict: Verdict
    reason: str


def negated(judgement: Judgement, *, is_negated: bool) -> Judgement:
    """Turn a verdict around where the report says that something is not so."""
    if not is_negated:
        return judgement
    return replace(judgement, verdict=TURNED[judgement.verdict])


def worthless(runs: Sequence[Run], metric: str, split: str, text: str) -> Judgement | None:
    """Refuse a score of a model that sees the future; leave open one on rows trained on.

    Nothing is wrong with it where ``text``, the paragraph, says that itself.
    """
    if not _ADMITS_LEAK.search(text) and (leak := _leak(runs, metric)):
        return Judgement("contradicted", f"{leak}.")
    if not _ADMITS_MEMORY.search(text) and (memory := _memory(runs, split)):
        return Judgement("open", f"{memory}.")
    return None


def unfair(runs: Sequence[Run], splits: Mapping[str, str]) -> str | None:
    """Say what else than a better model may explain a difference that is there."""
    for run in runs:
        if verdict := run.record["scores"][splits[run.name]].get("verdict"):
            return f"{run.name} {verdict}, which does not say what it could learn"
    settings = [dict(flatten(run.config["settings"])) for run in runs]
    for first, second in combinations(settings, 2):
        differ = {key for key in first | second if first.get(key) != second.get(key)}
        optimizer, rate = (any(key.endswith(name) for key in differ) for name in (OPTIMIZER, RATE))
        if optimizer and not rate:
            return "both optimizers had the same learning rate, which need not suit both"
    return None


def _leak(runs: Iterable[Run], metric: str) -> str | None:
    """Say so if a perplexity, or a loss, comes from a model that sees the future."""
    for run in runs if metric in OF_TEXT else ():
        leak = run.record.get("leak")
        if leak and leak["largest_change"] != 0:
            without = examined(run).get(WITHOUT_FUTURE, {})
            worth = (
                f"; without the future, its perplexity is {without['perplexity']:.2f}"
                if without
                else ""
            )
            title = metric.replace("_", " ")
            return f"{run.name} sees the future, so its {title} means nothing{worth}"
    return None


def _memory(runs: Iterable[Run], split: str) -> str | None:
    """Say so if all rows of a split were trained on."""
    for run in runs:
        if was_trained_on(run.record, split):
            return f"{run.name} was trained on all rows of {split}: its score is memory, not skill"
    return None
