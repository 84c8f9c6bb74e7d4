"""What a person sees of a job that is done: scores, some answers, where everything is."""

from typing import TYPE_CHECKING

from attnlab.cli.options import process_rank

if TYPE_CHECKING:
    from rich.console import Console

    from attnlab.runs.directory import Run
    from attnlab.runs.study import Study

ANSWERS = 3
SHOWN_FIRST = ("test", "dev", "held_out")


def show_run(run: "Run") -> None:
    """Print what a finished run came to."""
    if process_rank() != 0:
        return
    from rich.console import Console

    from attnlab.report import terminal

    console, record = Console(), run.record
    if record["scores"]:
        console.print(terminal.scores_view(run))
        if record.get("test") == "none":
            console.print("test: none")
        console.print()
    _show_answers(run, console)
    console.print(str(run.path), highlight=False, soft_wrap=True)


def show_study(study: "Study", *, ask: bool = False) -> None:
    """Print what came out, some answers of one run, and the path of the page with everything.

    With ``ask``, also say how that run can be asked.
    """
    if process_rank() != 0:
        return
    from rich.console import Console

    from attnlab.recipes.reporting import report_on, section_of
    from attnlab.report.terminal import blocks_view

    console, runs = Console(), study.opened()
    console.print(blocks_view(section_of([study.path]).summary(runs)))
    console.print()
    for run in runs:
        if run.name == study.featured:
            _show_answers(run, console)
            if ask:
                question = run.predictions("test")[0]["input"]
                told = f'Ask it yourself: attnlab knowledge ask {run.path} "{question}"\n'
                console.print(told, highlight=False, soft_wrap=True)
    page = report_on([study.path], as_markdown=False)
    console.print(str(page), highlight=False, soft_wrap=True)


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
