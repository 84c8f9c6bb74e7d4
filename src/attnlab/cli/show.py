"""What a command prints: JSON, a view, or what came out of a job."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from attnlab.environment import process_rank
from attnlab.guard import MOST_LINES, escaped, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from attnlab.console import Console
    from attnlab.runs.directory import Run
    from attnlab.runs.study import Study

ANSWERS = 3
PROMPT_WORDS, TEXT_WORDS = 3, 8


def print_json(value: Any) -> None:
    """Print a value for a program to read."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_view(view: "RenderableType") -> None:
    """Print a value for a person to read."""
    from attnlab.console import Console

    Console().print(view)


def say_problems(problems: list[str]) -> None:
    """Say what is wrong with some runs among others, one line each; of many, the first ones."""
    shown = problems if len(problems) <= MOST_LINES else problems[: MOST_LINES - 1]
    for problem in shown:
        say("attnlab", escaped(problem))
    if left := len(problems) - len(shown):
        say("attnlab", f"… and {left} more; `attnlab runs check RUN` says what is wrong with one.")


def say_next(command: str) -> None:
    """End with a command to try next, on a terminal alone: what is piped stays clean."""
    from rich.text import Text

    from attnlab.console import Console
    from attnlab.phases import is_quiet

    console = Console()
    if console.is_terminal and not is_quiet():
        console.print(Text(f"Next: {command}", "dim"), soft_wrap=True)


def say_next_of(done: "Run | Study") -> None:
    """Say what the table of jobs names to try after a job, filled in from what came out."""
    from string import Formatter

    from attnlab.evaluation.held_out_text import SPLIT
    from attnlab.recipes.jobs import JOBS
    from attnlab.runs.directory import Run
    from attnlab.runs.lookup import as_typed
    from attnlab.runs.predictions import shown_split

    job = JOBS.get(str(done.config["job"] if isinstance(done, Run) else done.job))
    asked = done if isinstance(done, Run) else _featured(done)
    known = {"run": as_typed(done.path)}
    if asked:
        known["asked"] = as_typed(asked.path)
        if split := shown_split(asked):
            known["input"] = str(asked.predictions(split)[0]["input"])
            if not asked.record.get("has_pairs"):  # the second text is not stored
                known["words"] = " ".join(known["input"].split()[:TEXT_WORDS])
        if asked.has_predictions(SPLIT):
            words = str(asked.predictions(SPLIT)[0]["input"]).split()
            known["prompt"] = " ".join(words[:PROMPT_WORDS])
    for text in job.next if job else ():
        if {name for _, name, _, _ in Formatter().parse(text) if name} <= known.keys():
            say_next(text.format(**{name: shlex.quote(value) for name, value in known.items()}))
            return


def _featured(study: "Study") -> "Run | None":
    return next((run for run in study.opened() if run.name == study.featured), None)


def show(done: "Run | Study", *, outputs: Path | None = None) -> None:
    """Print what a finished run or study came to; also write a run's answers to a file."""
    from attnlab.runs.directory import Run

    if process_rank() != 0:
        return
    if not isinstance(done, Run):
        _show_study(done)
    else:
        if outputs:
            _write_answers(done, outputs)
        _show_run(done)
    say_next_of(done)


def _write_answers(run: "Run", path: Path) -> None:
    """Write the answers on the scored file."""
    from attnlab.runs.answers_file import write_answers
    from attnlab.runs.predictions import shown_split

    write_answers(run.predictions(shown_split(run) or "test"), path)


def _show_run(run: "Run") -> None:
    """Print what a finished run came to."""
    from attnlab.console import Console
    from attnlab.report import terminal

    console, record = Console(), run.record
    if record["scores"]:
        console.print(terminal.scores_view(run))
        test = record.get("test", "none")
        if test != "evaluated once" and "file_split" not in record:
            console.print(f"test: {test}")
        console.print()
    if record.get("dev") == "none":
        console.print("dev: none")
        console.print()
    _show_classes(run, console)
    _show_answers(run, console)
    console.print(str(run.path), highlight=False, soft_wrap=True)


def _show_study(study: "Study") -> None:
    """Print what came out, some answers of one run, and the path of the page with everything."""
    from attnlab.console import Console
    from attnlab.recipes.reporting import report_on, section_of
    from attnlab.report.sections.comparison import COMPARISON
    from attnlab.report.terminal import blocks_view

    console, runs = Console(), study.opened()
    console.print(blocks_view(section_of(study.job, COMPARISON).summary(runs)))
    console.print()
    if featured := _featured(study):
        _show_answers(featured, console)
    page = report_on([study.path], as_markdown=False)
    console.print(str(page), highlight=False, soft_wrap=True)


def _show_classes(run: "Run", console: "Console") -> None:
    """After a classifier, print how each class fares and the surest mistakes."""
    from attnlab.report.sections.classifier import short_blocks
    from attnlab.report.terminal import blocks_view

    if blocks := list(short_blocks(run)):
        console.print(blocks_view(blocks))
        console.print()


def _show_answers(run: "Run", console: "Console") -> None:
    """Print some answers and, where it was examined, what their confidence is worth."""
    from attnlab.report import terminal
    from attnlab.report.calibration import sentences
    from attnlab.runs.predictions import shown_split

    if split := shown_split(run):
        rows = run.predictions(split)
        console.print(f"{min(ANSWERS, len(rows))} of {len(rows):,} shown", highlight=False)
        console.print(terminal.answers(rows[:ANSWERS]))
        console.print()
    if said := sentences(run.record.get("confidence") or {"splits": {}}):
        console.print(*said, "", sep="\n", highlight=False)
