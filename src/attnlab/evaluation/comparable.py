"""Which runs may be compared: finished, of one task, on exactly the same examples."""

from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.errors import UserError
from attnlab.evaluation.held_out_text import SPLIT as HELD_OUT_TEXT
from attnlab.evaluation.metrics import METRICS, Answers, Metric, check_answers, metric_called
from attnlab.runs.directory import Run

SIZES = ("tokens", "characters")
"""Columns that say what a loss is summed over; it must be the same in two runs."""


def refuse_unfinished_and_double(runs: Sequence[Run]) -> None:
    """Refuse a run that is not over, and one that is given twice."""
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            raise UserError(f"the run {run.name} is given more than once, or two share that name.")
        if not run.finished:
            raise UserError(
                f"the run {run.name} is not finished; give its command again to finish it."
            )


def common_metric(
    runs: Sequence[Run], splits: Mapping[str, str], name: str | None = None
) -> Metric:
    """Return the metric of that name; without one, the metric that all runs were scored by."""
    if name is not None:
        return metric_called(name)
    found = {run.name: run.record["scores"][splits[run.name]]["metric"] for run in runs}
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{name}: {metric}" for name, metric in found.items())
        raise UserError(f"these runs are different tasks, with different metrics ({listed}).")
    return metric_called(str(next(iter(found.values()))))


def aligned_answers(
    runs: Sequence[Run], metric: Metric, splits: Mapping[str, str]
) -> dict[str, Answers]:
    """Read every run's answers in the first one's order; different examples are not compared."""
    answers: dict[str, Answers] = {}
    for run in runs:
        split = splits[run.name]
        rows, score = run.predictions(split), run.record["scores"][split]
        if metric.name != score["metric"]:
            _refuse_missing_columns(run, rows, metric, split)
        check_answers(rows, metric, n=score["n"], place=f"{run.name}/predictions/{split}.jsonl")
        first = answers.get(runs[0].name, rows)
        found = _in_order_of(first, rows, metric)
        if found is None:
            raise _different_examples((runs[0], first), (run, rows), splits)
        answers[run.name] = found
    return answers


def _in_order_of(first: Answers, rows: Answers, metric: Metric) -> Answers | None:
    """Put rows in the order in which others hold the same examples; None if they are not."""

    def example(row: Mapping[str, Any]) -> tuple[str, ...]:
        sizes = [str(row[column]) for column in SIZES if column in metric.columns]
        return (_text(row), str(row.get("gold")), *sizes)

    places = sorted(range(len(first)), key=lambda place: example(first[place]))
    same = sorted(rows, key=example)
    if [example(first[place]) for place in places] != [example(row) for row in same]:
        return None
    by_place = dict(zip(places, same, strict=True))
    return [by_place[place] for place in range(len(first))]


def _text(row: Mapping[str, Any]) -> str:
    """Return what an example is known by in any file: its text, whatever the white space."""
    return " ".join(str(row.get("input", row["id"])).split())


def _refuse_missing_columns(run: Run, rows: Answers, metric: Metric, split: str) -> None:
    """Refuse a metric that a run was not scored by and has not stored the columns for."""
    there = set().union(*rows)
    missing = [column for column in metric.columns if column not in there]
    if missing:
        possible = [name for name, other in METRICS.items() if other.columns.keys() <= there]
        raise UserError(
            f"the run {run.name} has no {metric.name} on {split!r}: its predictions have no column"
            f" {' or '.join(map(repr, missing))}. Possible: {', '.join(possible) or 'none'}."
        )


def _different_examples(
    one: tuple[Run, Answers], other: tuple[Run, Answers], splits: Mapping[str, str]
) -> UserError:
    """Build the error for two runs that did not answer the same examples."""
    (first, _), (run, _) = one, other
    split, own = splits[first.name], splits[run.name]
    ours, theirs = ({_text(row) for row in rows} for _, rows in (one, other))
    if first.config["job"] != run.config["job"] and not ours & theirs:
        return UserError(
            f"{first.name} ({first.config['job']}) and {run.name} ({run.config['job']}) are"
            f" different tasks: they have no example of {split} in common."
        )
    called = f"both called {split!r}" if split == own else f"called {split!r} and {own!r}"
    windows = (
        " Text is held out in windows of tokens, so runs need the same tokenizer and block."
        if split == HELD_OUT_TEXT
        else ""
    )
    return UserError(
        f"{first.name} and {run.name} were scored on different data, {called}:"
        f" {len(ours):,} and {len(theirs):,} texts, {len(ours & theirs):,} in common, and"
        f" their answers or lengths may differ. Scores on different sets are not compared.{windows}"
    )
