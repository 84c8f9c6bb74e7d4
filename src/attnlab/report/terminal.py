"""Runs on a terminal: a table of many, the story of one."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from attnlab.config import flatten
from attnlab.runs.directory import Run


def runs_table(runs: Sequence[Run]) -> RenderableType:
    """Show one run a row."""
    table = _table(Column("run", no_wrap=True), "job", "state", "scores")
    for run in runs:
        _add(table, run.name, run.config["job"], run_state(run), scores_text(run))
    return table


def run_state(run: Run) -> str:
    """Say how far a run is."""
    if run.finished:
        return "finished"
    total = run.config["resolved"].get("steps")
    logged = [line["step"] for line in run.metrics() if "step" in line]
    return f"step {logged[-1]:,} of {total:,}" if logged and total else "begun"


def scores_text(run: Run) -> str:
    """Write the scores of a finished run, a line a split."""
    if not run.finished:
        return ""
    scores = run.record["scores"].items()
    return "\n".join(f"{split} {percent(score)}" for split, score in scores)


def percent(score: dict[str, Any]) -> str:
    """Write an accuracy with its interval and n."""
    low, high = score["interval"]
    return f"{score['accuracy']:.1%} [{low:.1%}, {high:.1%}], n = {score['n']}"


def run_story(run: Run) -> RenderableType:
    """Show one run: what it was asked, how far it is, what came out."""
    config = run.config
    table = _table()
    _add(table, "run", str(run.path))
    _add(table, "job", config["job"])
    _add(table, "state", run_state(run))
    for key, value in config["resolved"].items():
        _add(table, key, _plain(value))
    if run.finished:
        record = run.record
        for name in ("best_step", "tokens", "training_seconds", "commit"):
            if record.get(name) is not None:
                _add(table, name.replace("_", " "), _plain(record[name]))
    settings = _table("setting", "value")
    for key, value in flatten(config["settings"]):
        _add(settings, key, _plain(value))
    parts: list[RenderableType] = [table]
    if run.finished:
        parts += ["", scores_table(run)]
    return Group(*parts, "", settings)


def scores_table(run: Run) -> RenderableType:
    """Show the scores of a finished run beside what guessing gives."""
    table = _table("split", "accuracy", "95 % interval", "n", "guessing")
    for split, score in run.record["scores"].items():
        low, high = score["interval"]
        baseline = score["baseline"]
        _add(
            table,
            split,
            f"{score['accuracy']:.1%}",
            f"{low:.1%} – {high:.1%}",
            str(score["n"]),
            f"{baseline['accuracy']:.1%} (always {baseline['always']})",
        )
    return table


def answers(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show questions with the model's answers, right or wrong."""
    table = _table("question", "answer", "sure", "")
    for row in rows:
        right = row["prediction"] == row["gold"]
        verdict = Text("right", "green") if right else Text(f"wrong: {row['gold']}", "red")
        sure = f"{row['confidence']:.0%}"
        _add(table, row["question"], row["prediction"], sure, verdict)
    return table


def _table(*columns: Column | str) -> Table:
    return Table(*columns, box=None, pad_edge=False, header_style="bold", show_header=bool(columns))


def _add(table: Table, *cells: str | Text) -> None:
    """Add a row as it is: what a user or a model wrote is no markup."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items()) or "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
