"""Several runs compared: scores, verdicts, and where their answers differ."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from attnlab.evaluation.common_splits import common_splits
from attnlab.evaluation.comparable import aligned_answers, common_metric
from attnlab.evaluation.comparison import FEW, Comparison, compare
from attnlab.evaluation.significance import SIGNIFICANT
from attnlab.evaluation.standings import ORDER
from attnlab.report import figures
from attnlab.report.calibration import calibration_blocks
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.report.sections import Section
from attnlab.report.sections.one_run import curves
from attnlab.report.tables import baseline_text, comparison_table, short, standings_table
from attnlab.runs.directory import Run

DIFFERING_SHOWN = 10
SETTINGS_SHOWN = 6


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Say what every condition scored, and which differences are real."""
    comparison = compare(runs, all_pairs=False)
    yield from comparison_blocks(comparison)
    caption = (
        f"Every condition's {comparison.metric.title} on {comparison.split} with its 95 % interval;"
        " dots are seeds, the red mark is what guessing would score."
    )
    yield Figure("scores", caption, figures.score_bars(comparison))


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Show how the runs went, where their answers differ, and what confidence is worth."""
    yield from curves(runs)
    yield from _disagreements(runs)
    for run in runs:
        if run.has_predictions("unseen"):
            yield from calibration_blocks(run)


def comparison_blocks(comparison: Comparison, *, all_pairs: bool = False) -> Iterator[Block]:
    """Say what differs, show the conditions, what can be said about them, then the doubts."""
    yield Sentences(_differing(comparison))
    yield Heading(f"{comparison.metric.title} on {comparison.split}, n = {comparison.n:,}")
    yield Sentences(_names_of_the_split(comparison))
    if len(comparison.conditions) <= FEW:
        yield comparison_table(comparison)
    else:
        yield from _groups(comparison)
    if all_pairs or len(comparison.conditions) <= FEW:
        yield Sentences([pair.verdict for pair in comparison.pairs])
    if comparison.notes:
        yield Sentences(comparison.notes, warning=True)


def _groups(comparison: Comparison) -> Iterator[Block]:
    for group in ORDER:
        if table := standings_table(comparison, group):
            yield table
    methods = " or ".join(dict.fromkeys(pair.method for pair in comparison.pairs))
    guessing = [baseline_text(comparison.metric, one.baseline) for one in comparison.conditions]
    yield Sentences(
        [
            f"Guessing scores {', '.join(dict.fromkeys(guessing))}.",
            f"Worse: p is below {SIGNIFICANT} against the best; paired test ({methods}), Holm's"
            f" correction for {len(comparison.pairs)}.",
        ]
    )


def _differing(comparison: Comparison) -> list[str]:
    names = [condition.name for condition in comparison.conditions]
    lines = [one.sentence(names) for one in comparison.differing]
    # two jobs have few settings in common: that they are two is what a reader needs to know
    shown = 1 if comparison.differing and comparison.differing[0].key == "job" else SETTINGS_SHOWN
    more = len(lines) - shown
    if more <= 0:
        return lines
    return [*lines[:shown], f"{more} more settings: attnlab runs diff A B"]


def _names_of_the_split(comparison: Comparison) -> list[str]:
    """Say which split of which run was matched, where they are not called the same."""
    runs: dict[str, list[str]] = {}
    for run, split in comparison.splits.items():
        runs.setdefault(split, []).append(run)
    if len(runs) == 1:
        return []
    listed = "; ".join(f"{split} of {', '.join(names)}" for split, names in runs.items())
    return [f"The same rows under different names: {listed}."]


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    return {
        "title": comparison.title,
        "differing": [asdict(one) for one in comparison.differing],
        "split": comparison.split,
        "splits": dict(comparison.splits),
        "n": comparison.n,
        "metric": comparison.metric.name,
        "conditions": [asdict(condition) for condition in comparison.conditions],
        "standings": [asdict(one) for one in comparison.standings],
        "pairs": [asdict(pair) for pair in comparison.pairs],
        "notes": list(comparison.notes),
    }


def _disagreements(runs: Sequence[Run]) -> Iterator[Block]:
    splits = common_splits(runs)
    tables = list(aligned_answers(runs, common_metric(runs, splits), splits).values())
    if "prediction" not in tables[0][0]:
        return
    together = zip(*tables, strict=True)
    apart = [rows for rows in together if len({row["prediction"] for row in rows}) > 1]
    yield Heading("Where the answers differ")
    yield Sentences([f"{len(apart):,} of {len(tables[0]):,} examples are answered differently."])
    if apart:
        yield Table(
            ["input", "truth", *(run.name for run in runs)],
            [
                [short(rows[0]["input"]), short(rows[0]["gold"])]
                + [short(row["prediction"]) for row in rows]
                for rows in apart[:DIFFERING_SHOWN]
            ],
        )


COMPARISON = Section(summary, details)
