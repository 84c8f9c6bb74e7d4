"""Tables of scores, the same on a terminal, on a page and in Markdown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attnlab.evaluation.held_out_text import repeats_warning
from attnlab.evaluation.ledger import ledger_notes
from attnlab.evaluation.metrics import Metric, metric_called
from attnlab.report.document import Table
from attnlab.runs.directory import Run

if TYPE_CHECKING:
    from attnlab.evaluation.comparison import Comparison
    from attnlab.evaluation.failures import FailedCondition

LONGEST = 300


def scores_table(run: Run) -> Table:
    """Show the scores of a finished run, and what guessing would score."""
    rows = []
    for split, score in run.record["scores"].items():
        metric = metric_called(score["metric"])
        value, interval = metric.write(score["value"]), _interval(metric, score["interval"])
        guess = baseline_text(metric, score.get("baseline"))
        rows.append(
            [split_title(run, split), metric.title, value, interval, f"{score['n']:,}", guess]
        )
    return Table(["split", "metric", "score", "95 % interval", "n", "guessing"], rows)


def split_title(run: Run, split: str) -> str:
    """Name a split of a run, with what a reader should know of it."""
    note = run.record.get("split_notes", {}).get(split)
    return f"{split} ({note})" if note else split


def comparison_table(comparison: "Comparison") -> Table:
    """Show every condition with its interval; with seeds, also their number and range."""
    metric = comparison.metric
    several = any(len(condition.runs) > 1 for condition in comparison.conditions)
    rows = []
    for condition in comparison.conditions:
        span = _interval(metric, (min(condition.scores), max(condition.scores)))
        rows.append(
            [
                condition.name,
                *([str(len(condition.runs))] if several else []),
                metric.write(condition.score),
                *([span] if several else []),
                _interval(metric, condition.interval),
                baseline_text(metric, condition.baseline),
            ]
        )
    runs, spread = (["runs"], ["range"]) if several else ([], [])
    columns = ["condition", *runs, metric.title, *spread, "95 % interval", "guessing"]
    return Table(columns, rows, one_line=True, texts=(0, len(columns) - 1))


def failures_table(failed: Sequence["FailedCondition"]) -> Table:
    """Show every condition that has failed, and in a word why."""
    return Table(["condition", "result"], [[one.name, one.result] for one in failed], one_line=True)


def why_failed(failed: Sequence["FailedCondition"]) -> list[str]:
    """Say in full why conditions have failed."""
    return [f"{one.name}: {one.message}" for one in failed]


def standings_table(comparison: "Comparison", group: str) -> Table | None:
    """Show the conditions of one group with score, interval and difference to the best."""
    metric = comparison.metric
    by_name = {condition.name: condition for condition in comparison.conditions}
    rows = []
    for one in comparison.standings:
        if one.group != group:
            continue
        condition = by_name[one.name]
        apart = " to ".join(metric.write_signed(bound) for bound in one.interval)
        test = [f"{metric.write_signed(one.difference)} ({apart})", f"{one.corrected_p:.2g}"]
        rows.append(
            [
                one.name
                if len(condition.runs) == 1
                else f"{one.name} ({len(condition.runs)} seeds)",
                metric.write(condition.score),
                _interval(metric, condition.interval).replace(" %", ""),
                *(test if one.method else ["–", "–"]),
            ]
        )
    columns = [group, metric.title, "95 %", "to best (95 %)", "p"]
    return Table(columns, rows, one_line=True) if rows else None


def short(text: Any) -> str:
    """Cut a long text, so that a page stays a page."""
    text = str(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def warnings_of(run: Run) -> list[str]:
    """List what makes a run's scores doubtful."""
    scores = run.record["scores"].items()
    found = [f"{warning}." for warning in run.record.get("warnings") or ()]
    found += [f"{split}: {score['verdict']}." for split, score in scores if score.get("verdict")]
    found += [f"{split}: {note}." for split, score in scores if (note := repeats_warning(score))]
    if ledger := run.record.get("ledger"):
        found += [f"{note}." for note in ledger_notes(ledger, about=run.record["scores"].keys())]
    leak = run.record.get("leak")
    if leak and leak["largest_change"] != 0:
        found.append(f"It sees the future: {leak['sentence']}. Its losses cannot be trusted.")
    return found


def _interval(metric: Metric, interval: Any) -> str:
    low, high = interval
    return f"{metric.write(low)} – {metric.write(high)}"


def baseline_text(metric: Metric, baseline: Mapping[str, Any] | None) -> str:
    """Write what guessing scores and how it guesses."""
    return f"{metric.write(baseline['value'])} ({baseline['name']})" if baseline else "–"
