"""Which runs may be compared: finished, of one task, on exactly the same examples."""

from collections.abc import Mapping, Sequence

from attnlab.errors import UserError
from attnlab.evaluation.metrics import METRICS, Answers, Metric, check_answers, metric_called
from attnlab.runs.directory import Run

SPLITS = ("test", "dev", "held_out", "held_out_text")


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


def common_split(runs: Sequence[Run]) -> str:
    """Choose the split to compare on: test if all were scored on it, else dev, else held_out.

    Runs that score a file have a split of its name; they are compared if all scored such a file.
    """

    def scored(run: Run, split: str) -> bool:
        return split in run.record["scores"] and run.has_predictions(split)

    for split in (*SPLITS, *runs[0].record["scores"]):
        if all(scored(run, split) for run in runs):
            return str(split)
    without = [run.name for run in runs if not any(scored(run, s) for s in run.record["scores"])]
    raise UserError(
        f"there is nothing to compare: no split has stored predictions in all of"
        f" {', '.join(run.name for run in runs)}"
        + (f" (none at all in {', '.join(without)})." if without else ".")
    )


def common_metric(runs: Sequence[Run], split: str, name: str | None = None) -> Metric:
    """Return the metric of that name; without one, the metric that all runs were scored by."""
    for run in runs:
        if split not in run.record["scores"]:
            raise UserError(f"the run {run.name} has no score on {split!r}.")
    if name is not None:
        return metric_called(name)
    found = {run.name: run.record["scores"][split]["metric"] for run in runs}
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{name}: {metric}" for name, metric in found.items())
        raise UserError(f"these runs are different tasks, with different metrics ({listed}).")
    return metric_called(str(next(iter(found.values()))))


def aligned_answers(runs: Sequence[Run], metric: Metric, split: str) -> dict[str, Answers]:
    """Read every run's answers in the first one's order; different examples are not compared."""
    answers: dict[str, Answers] = {}
    for run in runs:
        rows, score = run.predictions(split), run.record["scores"][split]
        if metric.name != score["metric"]:
            _refuse_missing_columns(run, rows, metric, split)
        check_answers(rows, metric, n=score["n"], place=f"{run.name}/predictions/{split}.jsonl")
        by_id = {row["id"]: row for row in rows}
        order = [row["id"] for row in answers[runs[0].name]] if answers else list(by_id)
        if len(by_id) == len(rows) and by_id.keys() == set(order):
            rows = [by_id[name] for name in order]  # the same examples, perhaps in another order
        answers[run.name] = rows
        compared = ["id", "gold", *(["tokens"] if "tokens" in metric.columns else [])]
        _refuse_different_examples(runs[0], run, answers, split, compared)
    return answers


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


def _refuse_different_examples(
    first: Run, run: Run, answers: Mapping[str, Answers], split: str, columns: Sequence[str]
) -> None:
    asked = [
        [tuple(row.get(column) for column in columns) for row in answers[r.name]]
        for r in (first, run)
    ]
    hashes = {
        r.record["ledger"]["splits"].get(split, {}).get("sha256")
        for r in (first, run)
        if "ledger" in r.record
    }
    if asked[0] == asked[1] and len(hashes) <= 1:
        return
    ours, theirs = ({row[0] for row in rows} for rows in asked)
    if first.config["job"] != run.config["job"] and not ours & theirs:
        raise UserError(
            f"{first.name} ({first.config['job']}) and {run.name} ({run.config['job']}) are"
            f" different tasks: they have no example of {split} in common."
        )
    raise UserError(
        f"{first.name} and {run.name} were scored on different data, both called {split!r}:"
        f" {len(ours):,} and {len(theirs):,} examples, {len(ours & theirs):,} ids in common, and"
        " their texts, answers or lengths may differ. Scores on different sets are not compared."
    )
