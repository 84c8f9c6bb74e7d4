"""``attnlab knowledge …``: pretrain on text, then ask for what stood in it."""

from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.ask import ask
from attnlab.cli.options import (
    Assignments,
    Attention,
    ConfigFile,
    Device,
    Length,
    PositionScheme,
    RunName,
    RunsFolder,
    Seed,
    ShowSettings,
    path_text,
    process_rank,
    settled,
)
from attnlab.cli.show import show_run
from attnlab.cli.studies import demo, extraction

app = typer.Typer(
    help="Pretrain on text, then ask for what stood in it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command(epilog="Example: attnlab knowledge demo --seed 1 --set world.people=300")(demo)
app.command(epilog='Example: attnlab knowledge ask runs/reader "Where was Anders Lund born?"')(ask)
app.command(epilog="Example: attnlab knowledge extraction --set world.people=300")(extraction)


def _complete_recipe(incomplete: str) -> list[str]:
    """Offer the recipes to the shell."""
    from attnlab.recipes.knowledge.settings import RECIPES

    return [name for name in RECIPES if name.startswith(incomplete)]


Recipe = Annotated[
    str,
    typer.Option(
        help="recall: byte pairs, salient spans, n-gram table; course: characters, span corruption",
        autocompletion=_complete_recipe,
    ),
]
Size = Annotated[
    str | None, typer.Option(help="Size of the model by name: course, small.", metavar="NAME")
]
Dev = Annotated[Path | None, typer.Option(help="Questions to report on; they choose nothing.")]
Test = Annotated[Path | None, typer.Option(help="Questions to ask once, at the end.")]
Unseen = Annotated[
    Path | None, typer.Option(help="Questions about people of whom nothing is in the corpus.")
]
HeldOut = Annotated[
    float | None, typer.Option(help="Share of the training questions to choose settings on.")
]


@app.command(
    epilog="Example: attnlab knowledge pretrain world/wiki.txt"
    " --questions world/birth_places_train.tsv --dev world/birth_dev.tsv --length '60 seconds'"
)
def pretrain(
    corpus: Annotated[Path | None, typer.Argument(help="Text, a document a line.")] = None,
    questions: Annotated[
        Path | None, typer.Option(help="Training questions to mix in, question<TAB>answer.")
    ] = None,
    dev: Dev = None,
    test: Test = None,
    unseen: Unseen = None,
    recipe: Recipe = "recall",
    size: Size = None,
    held_out: HeldOut = None,
    attention: Attention = None,
    positions: PositionScheme = None,
    length: Length = None,
    seed: Seed = None,
    device: Device = None,
    config: ConfigFile = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Read a corpus, and answer questions about what stood in it.

    The same command goes on with a run that was stopped, and shows one that is finished.
    """
    from attnlab.recipes.knowledge.settings import pretrain_recipe

    flags = {
        "corpus": path_text(corpus),
        "questions": path_text(questions),
        "dev": path_text(dev),
        "test": path_text(test),
        "unseen": path_text(unseen),
        "held_out": held_out,
        "model.attention.name": attention,
        "model.attention.positions": positions,
        "training.length": length,
        "training.seed": seed,
        "training.device": device,
    }
    settings = settled(
        pretrain_recipe(recipe, size), file=config, flags=flags, sets=sets, show=show_settings
    )

    from rich.console import Console

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    job = find_job("knowledge-pretrain")
    show_run(job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True)))


@app.command(
    epilog="Example: attnlab knowledge finetune world/birth_places_train.tsv"
    " --start runs/pretrained --dev world/birth_dev.tsv"
)
def finetune(
    questions: Annotated[
        Path | None, typer.Argument(help="Training questions, question<TAB>answer.")
    ] = None,
    start: Annotated[Path | None, typer.Option(help="Pretrained run to go on from.")] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Without --start: text that the tokenizer is made from.")
    ] = None,
    dev: Dev = None,
    test: Test = None,
    unseen: Unseen = None,
    recipe: Recipe = "recall",
    size: Size = None,
    held_out: HeldOut = None,
    length: Length = None,
    seed: Seed = None,
    device: Device = None,
    config: ConfigFile = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Learn to answer questions, from a pretrained model or from nothing.

    The same command goes on with a run that was stopped, and shows one that is finished.
    """
    from attnlab.recipes.knowledge.settings import finetune_recipe

    flags = {
        "questions": path_text(questions),
        "start": path_text(start),
        "corpus": path_text(corpus),
        "dev": path_text(dev),
        "test": path_text(test),
        "unseen": path_text(unseen),
        "held_out": held_out,
        "training.length": length,
        "training.seed": seed,
        "training.device": device,
    }
    settings = settled(
        finetune_recipe(recipe, size), file=config, flags=flags, sets=sets, show=show_settings
    )

    from rich.console import Console

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    job = find_job("knowledge-finetune")
    show_run(job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True)))


@app.command(epilog="Example: attnlab knowledge evaluate runs/pretrained world/birth_test.tsv")
def evaluate(
    run: Annotated[
        Path, typer.Argument(help="Finished run whose model is asked, or a .params file.")
    ],
    questions: Annotated[Path, typer.Argument(help="Questions, with answers or without.")],
    unseen: Unseen = None,
    corpus: Annotated[
        Path | None, typer.Option(help="For a .params file: the text that it was trained on.")
    ] = None,
    samples: Annotated[
        int, typer.Option(min=0, help="Answers to draw a question, to see whether they agree.")
    ] = 16,
    outputs: Annotated[
        Path | None, typer.Option(help="Also write the answers there, one a line.", metavar="FILE")
    ] = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Ask a run's model the questions of a file, and score it if the file has the answers."""
    from rich.console import Console

    from attnlab.recipes.jobs import find_job
    from attnlab.recipes.knowledge.settings import EvaluateSettings
    from attnlab.runs.directory import RunPlace
    from attnlab.runs.files import replace_file

    settings = EvaluateSettings(
        str(run),
        str(questions),
        unseen=str(unseen or ""),
        samples=samples,
        corpus=str(corpus or ""),
    )
    job = find_job("knowledge-evaluate")
    found = job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True))
    if outputs and process_rank() == 0:
        answers = [" ".join(row["prediction"].splitlines()) for row in found.predictions("test")]
        replace_file(outputs, "".join(f"{answer}\n" for answer in answers).encode())
    show_run(found)


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
    from attnlab.data.settings import WorldSettings

    flags = {"people": people, "biographies": biographies, "seed": seed}
    settings = settled(WorldSettings(), file=config, flags=flags, sets=sets, show=show_settings)

    from attnlab.recipes.knowledge.world import write_world

    for line in write_world(settings, folder):
        typer.echo(line)
