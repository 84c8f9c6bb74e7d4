"""``attnlab knowledge …``: pretrain on text, then ask questions about it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from attnlab.cli.ask import ask
from attnlab.cli.flags import (
    RUN_OPTIONS,
    SETTINGS_OPTIONS,
    TRAINING,
    Flag,
    PathArgument,
    PathFlag,
    Request,
    job_command,
)
from attnlab.cli.options import (
    complete_attention,
    complete_positions,
    group,
)
from attnlab.cli.write import write

app = group("Pretrain on text, then ask questions about it.")

UNSEEN = PathFlag("unseen", "Questions about people of whom nothing is in the corpus.")
REPORTED = [
    PathFlag("dev", "Questions to report on; they choose nothing."),
    PathFlag("test", "Questions to evaluate once, at the end."),
    UNSEEN,
    Flag("held_out", "Share of the training questions to choose settings on."),
]


def _complete_recipe(incomplete: str) -> list[str]:
    """Offer the recipes to the shell."""
    from attnlab.recipes.knowledge.settings import RECIPES

    return [name for name in RECIPES if name.startswith(incomplete)]


RECIPE = typer.Option(
    help="recall: byte pairs, salient spans, n-gram table; course: characters, span corruption;"
    " original: the course's hyper-parameters too; text: byte pairs, running text. Defaults here"
    " are recall's.",
    metavar="NAME",
    autocompletion=_complete_recipe,
)
Recipe = Annotated[str, RECIPE]
UsualRecipe = Annotated[str | None, RECIPE]
Size = Annotated[
    str | None,
    typer.Option(
        help="Size of the model: course, small. Without it, the recipe's.", metavar="NAME"
    ),
]


@job_command(
    app,
    "knowledge-demo",
    TRAINING,
    example="attnlab knowledge demo --seed 1 --set world.people=300",
)
def demo(request: Request) -> Any:
    """Let models read made-up biographies, and ask them where people were born.

    Compares always answering the same, learning from questions alone, and two models that have read
    about the people: one with attention, one with a synthesizer. Repeat the command to resume,
    or to show what is finished.
    """
    return request.settings()


app.command(epilog='Example: attnlab knowledge ask runs/reader "Where was Anders Lund born?"')(ask)


app.command(epilog='Example: attnlab knowledge write runs/reader "ROMEO:" --top-k 40')(write)


@job_command(
    app,
    "knowledge-extraction",
    [],
    example="attnlab knowledge extraction --set world.people=300",
)
def extraction(request: Request) -> Any:
    """Study what lets a model say what it has read: more biographies, other words, celebrities.

    Physics of Language Models 3.1 at a laptop's size. Repeat the command to resume, or to show what
    is finished.
    """
    return request.settings()


@job_command(
    app,
    "knowledge-pretrain",
    [
        PathArgument("corpus", "Text file, one document per line."),
        PathFlag("questions", "Training questions to mix in, question<TAB>answer."),
        *REPORTED,
        Flag(
            "model.attention.name",
            "A variant, see attnlab attention list, or your own: path/to/file.py:Name.",
            name="attention",
            metavar="NAME",
            complete=complete_attention,
        ),
        Flag(
            "model.attention.positions",
            "How tokens learn where they stand: alibi, learned, none, rotary, sinusoidal.",
            metavar="NAME",
            complete=complete_positions,
        ),
        *TRAINING,
    ],
    example="attnlab knowledge pretrain world/wiki.txt --questions world/birth_places_train.tsv"
    " --dev world/birth_dev.tsv --length '60 seconds'",
)
def pretrain(request: Request, recipe: UsualRecipe = None, size: Size = None) -> Any:
    """Read a corpus and answer questions about it; or learn to write like any text.

    Without --recipe, a corpus whose lines do not begin `Name. Text` is read with the recipe text,
    and perplexity is measured on its end. Repeat the command to resume an interrupted run or to
    show a finished one.
    """
    from attnlab.recipes.knowledge.settings import pretrain_recipe

    return request.settings(pretrain_recipe(recipe or _usual_recipe(request), size))


def _usual_recipe(request: Request) -> str:
    """Look into the corpus, wherever it was named."""
    from attnlab.recipes.knowledge.recipe_choice import recipe_for
    from attnlab.recipes.knowledge.settings import pretrain_recipe

    return recipe_for(request.resolved(pretrain_recipe("recall")).corpus)


@job_command(
    app,
    "knowledge-finetune",
    [
        PathArgument("questions", "Training questions, question<TAB>answer."),
        PathFlag("start", "Pretrained run to go on from."),
        PathFlag("corpus", "Without --start: text that the tokenizer is made from."),
        *REPORTED,
        *TRAINING,
    ],
    example="attnlab knowledge finetune world/birth_places_train.tsv --start runs/pretrained"
    " --dev world/birth_dev.tsv",
)
def finetune(request: Request, recipe: Recipe = "recall", size: Size = None) -> Any:
    """Learn to answer questions, from a pretrained model or from nothing.

    Repeat the command to resume an interrupted run or to show a finished one.
    """
    from attnlab.recipes.knowledge.settings import finetune_recipe

    return request.settings(finetune_recipe(recipe, size))


@job_command(
    app,
    "knowledge-evaluate",
    [
        PathArgument(
            "run", "Finished run whose model is asked, or a .params file.", is_required=True
        ),
        PathArgument("questions", is_required=True),
        UNSEEN,
        PathFlag("corpus", "For a .params file: the text that it was trained on."),
        Flag("samples", "Answers to sample per question, to see whether they agree."),
    ],
    example="attnlab knowledge evaluate runs/pretrained world/birth_test.tsv",
    options=(*RUN_OPTIONS, "outputs"),
)
def evaluate(request: Request) -> Any:
    """Ask a run's model the questions of a file, and score it if the file has the answers."""
    return request.settings()


@job_command(
    app,
    "knowledge-world",
    [
        Flag("people", "How many people there are."),
        Flag("biographies", "Biographies of everybody, or of each celebrity."),
        Flag("seed", "Seed of the world."),
    ],
    example="attnlab knowledge world worlds/big --people 10000",
    options=SETTINGS_OPTIONS,
)
def world(
    request: Request,
    folder: Annotated[
        Path, typer.Argument(help="Where the files go; may be new.", metavar="FOLDER")
    ] = Path("world"),
) -> None:
    """Make up people and write their biographies and questions as the course's files.

    Writes wiki.txt, birth_places_train.tsv, birth_dev.tsv, birth_test_inputs.tsv, birth_test.tsv,
    birth_unseen.tsv and world.json, and never over a file of another world.
    """
    settings = request.settings()

    from attnlab.recipes.knowledge.world import write_world

    for line in write_world(settings, folder):
        typer.echo(line)
