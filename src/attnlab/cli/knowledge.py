"""``attnlab knowledge …``: pretrain on text, then ask for what stood in it."""

from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import (
    Assignments,
    Attention,
    ConfigFile,
    PositionScheme,
    RunName,
    RunsFolder,
    ShowSettings,
    process_rank,
)

app = typer.Typer(
    help="Pretrain on text, then ask for what stood in it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

QUESTIONS = 3


@app.command(epilog="Example: attnlab knowledge demo --seed 1 --set world.people=300")
def demo(
    config: ConfigFile = None,
    length: Annotated[
        str | None, typer.Option(help="How long to train: '30 epochs', '500 steps', '60 seconds'.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    attention: Attention = None,
    positions: PositionScheme = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.")] = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Train a tiny GPT on made-up biographies and ask it where people were born.

    The same command goes on with a run that was stopped, and shows one that is finished.
    """
    from attnlab.config import resolve, to_yaml
    from attnlab.recipes.knowledge.settings import DemoSettings

    flags = {
        "model.attention.name": attention,
        "model.attention.positions": positions,
        "training.length": length,
        "training.seed": seed,
        "training.device": device,
    }
    settings = resolve(DemoSettings, file=config, flags=flags, sets=sets or ())
    if show_settings:
        typer.echo(to_yaml(settings), nl=False)
        return

    from rich.console import Console

    from attnlab.recipes.knowledge.demo import run_demo
    from attnlab.report import terminal
    from attnlab.runs.directory import RunPlace

    place = RunPlace(runs, name)
    run = run_demo(settings, place=place, console=Console(stderr=True))
    if process_rank() == 0:
        console = Console()
        console.print(terminal.scores_view(run))
        console.print()
        console.print(terminal.answers(run.predictions("test")[:QUESTIONS]))
        console.print(f"\n{run.path}", highlight=False, soft_wrap=True)


@app.command(epilog="Example: attnlab knowledge world worlds/big --people 10000")
def world(
    folder: Annotated[
        Path, typer.Argument(help="Where the files go; may be new.", metavar="FOLDER")
    ] = Path("world"),
    config: ConfigFile = None,
    people: Annotated[int | None, typer.Option(help="How many people there are.")] = None,
    biographies: Annotated[
        int | None, typer.Option(help="Biographies of everybody, or of each celebrity.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the world.")] = None,
    sets: Assignments = None,
    show_settings: ShowSettings = False,
) -> None:
    """Make up people and write their biographies and questions as the course's files.

    Writes wiki.txt, birth_places_train.tsv, birth_dev.tsv, birth_test_inputs.tsv, birth_test.tsv,
    birth_unseen.tsv and world.json, and never over a file of another world.
    """
    from attnlab.config import resolve, to_yaml
    from attnlab.data.settings import WorldSettings

    flags = {"people": people, "biographies": biographies, "seed": seed}
    settings = resolve(WorldSettings, file=config, flags=flags, sets=sets or ())
    if show_settings:
        typer.echo(to_yaml(settings), nl=False)
        return

    from attnlab.recipes.knowledge.world import write_world

    for line in write_world(settings, folder):
        typer.echo(line)
