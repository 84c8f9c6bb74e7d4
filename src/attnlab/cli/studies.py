"""``attnlab knowledge demo`` and ``extraction``: several runs, compared."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.cli.options import (
    Assignments,
    ConfigFile,
    Device,
    Length,
    RunName,
    RunsFolder,
    Seed,
    ShowSettings,
    process_rank,
    settled,
)

if TYPE_CHECKING:
    from attnlab.runs.study import Study

QUESTIONS = 3


def demo(
    config: ConfigFile = None,
    length: Length = None,
    seed: Seed = None,
    device: Device = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Let models read made-up biographies, and ask them where people were born.

    Compares always answering the same, learning from questions alone, and two models that have read
    about the people: one with attention, one with a synthesizer. The same command goes on with what
    was stopped, and shows what is finished.
    """
    from attnlab.recipes.knowledge.settings import DemoSettings

    flags = {"training.length": length, "training.seed": seed, "training.device": device}
    settings = settled(DemoSettings(), file=config, flags=flags, sets=sets, show=show_settings)

    from rich.console import Console

    from attnlab.recipes.knowledge.demo import run_demo
    from attnlab.runs.directory import RunPlace

    study = run_demo(settings, place=RunPlace(runs, name), console=Console(stderr=True))
    if process_rank() == 0:
        _show_study(study, answers_of="recall")


def extraction(
    config: ConfigFile = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Study what lets a model say what it has read: more biographies, other words, celebrities.

    Physics of Language Models 3.1 at a laptop's size. The same command goes on with what was
    stopped, and shows what is finished.
    """
    from attnlab.recipes.knowledge.settings import ExtractionSettings

    settings = settled(ExtractionSettings(), file=config, sets=sets, show=show_settings)

    from rich.console import Console

    from attnlab.recipes.knowledge.extraction import run_extraction
    from attnlab.runs.directory import RunPlace

    study = run_extraction(settings, place=RunPlace(runs, name), console=Console(stderr=True))
    if process_rank() == 0:
        _show_study(study, answers_of="many-permuted")


def _show_study(study: "Study", *, answers_of: str) -> None:
    """Print the comparison, some answers of one run, and the path of the page with everything."""
    from rich.console import Console

    from attnlab.evaluation.comparison import compare
    from attnlab.report import terminal
    from attnlab.report.comparison import comparison_view
    from attnlab.report.doubt import sentences
    from attnlab.report.write import write_report

    runs, console = {run.name: run for run in study.opened()}, Console()
    console.print(comparison_view(compare(list(runs.values()))))
    console.print()
    shown = runs[answers_of]
    first = shown.predictions("test")[0]
    console.print(terminal.answers(shown.predictions("test")[:QUESTIONS]))
    console.print()
    for sentence in sentences(shown.record.get("confidence", {"splits": {}})):
        console.print(sentence, highlight=False)
    console.print(
        f'Ask it yourself: attnlab knowledge ask {shown.path} "{first["question"]}"',
        highlight=False,
        soft_wrap=True,
    )
    console.print()
    page = write_report([study.path], None, as_markdown=False)
    console.print(str(page), highlight=False, soft_wrap=True)
