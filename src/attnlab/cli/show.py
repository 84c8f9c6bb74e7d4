"""What a person sees of a job that is done: scores, some answers, where everything is."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.cli.options import process_rank

if TYPE_CHECKING:
    from rich.console import Console

    from attnlab.runs.directory import Run
    from attnlab.runs.study import Study

ANSWERS = 3
PROMPT_WORDS = 3
SHOWN_FIRST = ("test", "dev", "held_out")


def runner(job: str, *, runs: Path, name: str | None) -> "Callable[[Any], Run | Study]":
    """Return what runs a job's settings there; called by the caller, it adds no frame."""
    from rich.console import Console

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    return partial(find_job(job).run, place=RunPlace(runs, name), console=Console(stderr=True))


def show(done: "Run | Study") -> None:
    """Print what a finished run or study came to."""
    from attnlab.runs.directory import Run

    if process_rank() == 0:
        if isinstance(done, Run):
            _show_run(done)
        else:
            _show_study(done)


def _show_run(run: "Run") -> None:
    """Print what a finished run came to."""
    from rich.console import Console

    from attnlab.report import terminal

    console, record = Console(), run.record
    if record["scores"]:
        console.print(terminal.scores_view(run))
        if record.get("test") == "none":
            console.print("test: none")
        console.print()
    _show_answers(run, console)
    _show_how_to_write(run, console)
    console.print(str(run.path), highlight=False, soft_wrap=True)


def _show_study(study: "Study") -> None:
    """Print what came out, some answers of one run, and the path of the page with everything."""
    from rich.console import Console

    from attnlab.recipes.reporting import report_on, section_of
    from attnlab.report.terminal import blocks_view

    console, runs = Console(), study.opened()
    console.print(blocks_view(section_of([study.path]).summary(runs)))
    console.print()
    for run in runs:
        if run.name == study.featured:
            _show_answers(run, console)
            question = run.predictions("test")[0]["input"]
            told = f'Ask it yourself: attnlab knowledge ask {run.path} "{question}"\n'
            console.print(told, highlight=False, soft_wrap=True)
    page = report_on([study.path], as_markdown=False)
    console.print(str(page), highlight=False, soft_wrap=True)


def _show_how_to_write(run: "Run", console: "Console") -> None:
    """After plain text, print a command that writes on from how its held-out end begins."""
    from attnlab.evaluation.held_out_text import SPLIT

    if run.has_predictions(SPLIT):
        prompt = " ".join(run.predictions(SPLIT)[0]["input"].split()[:PROMPT_WORDS])
        told = f"Let it write: attnlab knowledge write {run.path} {shlex.quote(prompt)}\n"
        console.print(told, highlight=False, soft_wrap=True, markup=False)


def _show_answers(run: "Run", console: "Console") -> None:
    """Print some answers, and what confidence is worth where that was examined."""
    from attnlab.report import terminal
    from attnlab.report.calibration import sentences

    split = next((s for s in SHOWN_FIRST if run.has_predictions(s)), None)
    if split:
        console.print(terminal.answers(run.predictions(split)[:ANSWERS]))
        console.print()
    told = sentences(run.record.get("confidence") or {"splits": {}})
    for sentence in told:
        console.print(sentence, highlight=False)
    if told:
        console.print()
