"""``attnlab knowledge demo`` and ``extraction``: several runs, compared."""

from pathlib import Path

from attnlab.cli.options import (
    Assignments,
    ConfigFile,
    Device,
    Length,
    RunName,
    RunsFolder,
    Seed,
    ShowSettings,
    settled,
)
from attnlab.cli.show import show_study


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

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    job = find_job("knowledge-demo")
    study = job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True))
    show_study(study, ask=True)


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

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    job = find_job("knowledge-extraction")
    study = job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True))
    show_study(study, ask=True)
