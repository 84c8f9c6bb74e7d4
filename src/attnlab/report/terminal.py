"""Runs on a terminal: a table of many, the details of one."""

import re
from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from attnlab.config import flatten
from attnlab.evaluation.held_out_text import text_sentence
from attnlab.evaluation.intervals import percent
from attnlab.evaluation.metrics import metric_called
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.report.one_line import OneLineTable
from attnlab.report.run_list import progress, run_state
from attnlab.report.tables import scores_table, warnings_of
from attnlab.runs.directory import Run

if TYPE_CHECKING:  # listing runs must not wait for numpy
    from attnlab.evaluation.calibration import Answer

LONGEST_SHOWN = 100
NUMBER = re.compile(r"[-+±–≤≥<>(\[]*\d[\d.,:%e+×-]{0,20}[)\],;]*")
"""A number as tables write it, with its signs and brackets."""
VERDICT_COLORS = {"retrieved": "green", "unsure": "yellow", "made up": "red", "not checked": "red"}


def run_progress(run: Run) -> str:
    """Say how far a run is."""
    return run_state(run) if run.finished else f"{run_state(run)}, {progress(run)}"


def written(score: dict[str, Any]) -> str:
    """Write a score with its interval and n."""
    metric = metric_called(score["metric"])
    low, high = score["interval"]
    bounds = f"[{metric.write(low)}, {metric.write(high)}]"
    return f"{metric.write(score['value'])} {bounds}, n = {score['n']:,}"


def run_story(run: Run) -> RenderableType:
    """Show one run: settings, progress and results."""
    config = run.config
    table = table_of()
    add_row(table, "run", str(run.path))
    add_row(table, "job", config["job"])
    add_row(table, "state", run_progress(run))
    if failure := run.failure:
        add_row(table, "reason", Text(str(failure.get("message", "–")), "red"))
        add_row(table, "failed at", str(failure.get("time", "–")))
    for key, value in config["resolved"].items():
        add_row(table, key, _plain(value))
    if run.finished:
        record = run.record
        for name in ("best_step", "tokens", "training_seconds", "commit"):
            if record.get(name) is not None:
                add_row(table, name.replace("_", " "), _plain(record[name]))
    settings = table_of("setting", "value")
    for key, value in flatten(config["settings"]):
        add_row(settings, key, _plain(value))
    parts: list[RenderableType] = [table]
    if run.finished:
        parts += ["", scores_view(run)]
    return Group(*parts, "", settings)


def scores_view(run: Run) -> RenderableType:
    """Show the scores of a finished run, what guessing would score, and warnings."""
    sentences = (text_sentence(split, score) for split, score in run.record["scores"].items())
    notes = [Text(sentence) for sentence in sentences if sentence]
    warnings = [Text(doubt, "red") for doubt in warnings_of(run)]
    return Group(table_view(scores_table(run)), *notes, *warnings)


def answers(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show inputs with the model's answers, right or wrong where that is known."""
    table = table_of("input", "answer", "confidence", "")
    for row in rows:
        said, sure = beginning(row["prediction"]), percent(row["confidence"])
        add_row(table, beginning(row["input"]), said, sure, _verdict(row))
    return table


def labels_view(rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Show texts with their predicted labels."""
    table = table_of("text", "label", "confidence")
    for row in rows:
        text = " / ".join(filter(None, (row["input"], row.get("pair"))))
        add_row(table, beginning(text), beginning(row["prediction"]), percent(row["confidence"]))
    return table


def beginning(text: str) -> str:
    """Return the first words of a text on one line, or the first characters of a long word."""
    some = " ".join(text[: 10 * LONGEST_SHOWN].split())  # a megabyte would take its time
    words = shorten(some, LONGEST_SHOWN, placeholder=" …")
    return words if words.strip() != "…" else f"{some[: LONGEST_SHOWN - 2]} …"


def answer_view(answer: "Answer") -> RenderableType:
    """Show an answer with its verdict and the reason for it, then what else was likely."""
    verdict = Text(answer.verdict, style=VERDICT_COLORS[answer.verdict])
    sure, agree = percent(answer.probability), percent(answer.agreement)
    lines = [
        Text.assemble((answer.text or "(nothing)", "bold"), "   ", verdict, f": {answer.reason}"),
        Text(f"confidence {sure}; {agree} of the sampled answers agree{_certainty(answer)}"),
    ]
    if answer.runners_up:
        others = ", ".join(f"{text} {percent(likely)}" for text, likely in answer.runners_up)
        lines.append(Text(f"also sampled: {others}"))
    lines += [Text(f"warning: {warning}", "yellow") for warning in answer.warnings]
    return Group(*lines)


def _certainty(answer: "Answer") -> str:
    return (
        ""
        if answer.certainty is None
        else f"; certainty by all signals {percent(answer.certainty)}"
    )


def _verdict(row: dict[str, Any]) -> Text:
    if "gold" not in row:
        return Text()
    right = row["prediction"] == row["gold"]
    return Text("right", "green") if right else Text(f"wrong: {beginning(row['gold'])}", "red")


def blocks_view(blocks: Iterable[Block]) -> RenderableType:
    """Show a report's blocks without its figures; no blank line follows a heading."""
    parts: list[RenderableType] = []
    is_below_heading = True
    for block in blocks:
        if isinstance(block, Figure) or (isinstance(block, Sentences) and not block.lines):
            continue
        if not is_below_heading:
            parts.append(Text())
        is_below_heading = isinstance(block, Heading)
        match block:
            case Heading(text):
                parts.append(Text(text, "bold"))
            case Table():
                parts.append(table_view(block))
            case Sentences(lines, warning):
                mark, style = ("!", "red") if warning else ("•", "")
                parts += [Text(f"{mark} {line}", style) for line in lines]
    return Group(*parts)


def table_view(table_block: Table) -> RenderableType:
    """Show a table of a report."""
    if table_block.one_line:
        return OneLineTable(table_block.columns, table_block.rows, shrinkable=table_block.texts)
    table = table_of(*table_block.columns)
    for row in table_block.rows:
        add_row(table, *row)
    return table


def table_of(*columns: str) -> RichTable:
    """Return an empty table in the house's look; without columns it has no header."""
    table = RichTable(box=None, pad_edge=False, header_style="bold", show_header=bool(columns))
    for column in columns:
        table.add_column(Text(column), overflow="fold", min_width=_longest_number(column))
    return table


def add_row(table: RichTable, *cells: str | Text) -> None:
    """Add a row as it is: what a user or a model wrote is not markup."""
    texts = [Text(cell) if isinstance(cell, str) else cell for cell in cells]
    table.add_row(*texts)
    for column, text in zip(table.columns, texts, strict=False):
        # where the screen is narrow, texts give way and numbers do not
        column.overflow = "fold"
        column.min_width = max(column.min_width or 1, _longest_number(text.plain))


def _longest_number(text: str) -> int:
    return max((len(word) for word in text.split() if NUMBER.fullmatch(word)), default=1)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items()) or "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
