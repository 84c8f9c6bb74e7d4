"""``attnlab knowledge …``: pretrain on text, then ask questions about it."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from attnlab.cli.ask import ask
from attnlab.cli.flags import (
    RUN_OPTIONS,
    SETTINGS_OPTIONS,
    STUDY_OPTIONS,
    TRAINING,
    Flag,
    PathArgument,
    PathFlag,
    Request,
    below,
    job_command,
)
from attnlab.cli.options import complete_attention, completing, group
from attnlab.cli.show import say_next
from attnlab.cli.write import write

app = group("Pretrain on text, then ask questions about it.")

REPORTED = [PathFlag("dev"), PathFlag("test"), PathFlag("unseen"), Flag("held_out")]


RECIPE = typer.Option(
    help="recall: byte pairs, salient spans (first those that a reader picks, trained on the"
    " training questions), n-gram table; synthetic: recall, and questions about everyone that this"
    " reader answers; course: characters, span corruption;"
    " original: the course's hyperparameters too; text: byte pairs, running text. Defaults here"
    " are recall's.",
    metavar="NAME",
    autocompletion=completing("attnlab.recipes.knowledge.settings:RECIPES"),
)
Recipe = Annotated[str, RECIPE]
Size = Annotated[
    str | None,
    typer.Option(
        help="Size of the model: course, small. Without it, the recipe's.", metavar="NAME"
    ),
]


def _with_recipe(request: Request, recipe: Recipe = "recall", size: Size = None) -> Any:
    """Start from a recipe's settings for fine-tuning."""
    from attnlab.recipes.knowledge.settings import find_recipe

    return request.settings(find_recipe(recipe, size).finetune)


def _with_fitting_recipe(
    request: Request, recipe: Annotated[str | None, RECIPE] = None, size: Size = None
) -> Any:
    """Start from the given recipe, or from the one that fits the corpus."""
    from attnlab.recipes.knowledge.recipe_choice import fitted_to, recipe_for
    from attnlab.recipes.knowledge.settings import PretrainSettings, find_recipe

    corpus = request.resolved(PretrainSettings()).corpus
    chosen = find_recipe(recipe or recipe_for(corpus), size).pretrain
    return request.settings(fitted_to(corpus, chosen))


def _write_world(
    request: Request,
    folder: Annotated[
        Path, typer.Argument(help="Where to write the files; may be new.", metavar="FOLDER")
    ] = Path("world"),
) -> None:
    """Write a world to a folder that the user names; it is not a run."""
    settings = request.settings()

    from attnlab.recipes.knowledge.world import write_world

    for line in write_world(settings, folder):
        typer.echo(line)
    files = f"{shlex.quote(str(folder))}/"
    say_next(
        f"attnlab knowledge pretrain {files}wiki.txt --questions {files}birth_places_train.tsv"
        f" --dev {files}birth_dev.tsv"
    )


job_command(
    app,
    "knowledge-demo",
    TRAINING,
    about="""Let models read made-up biographies, and ask them where people were born.

    Compares always giving the same answer, learning from questions alone, and two models that have
    read about the people: one with attention, one with a synthesizer.

    Example: attnlab knowledge demo --seed 1 --set world.people=300
    """,
    options=STUDY_OPTIONS,
)
app.command(epilog='Example: attnlab knowledge ask runs/reader "Where was Anders Lund born?"')(ask)
app.command(epilog='Example: attnlab knowledge write runs/reader "ROMEO:" --top-k 40')(write)
job_command(
    app,
    "knowledge-course",
    [
        PathArgument("base.corpus"),
        PathFlag("questions"),
        PathFlag("dev"),
        Flag("variant"),
        Flag("held_out"),
        *below("base", TRAINING),
    ],
    about="""Train the course's own model; held-out questions choose how to fine-tune it.

    Reads the corpus by span corruption, tries several ways of fine-tuning on the training questions
    that are not held out, lets the held-out ones choose, and evaluates on dev once.

    Example: attnlab knowledge course wiki.txt --questions birth_places_train.tsv
    --dev birth_dev.tsv --variant synthesizer
    """,
    options=STUDY_OPTIONS,
)
job_command(
    app,
    "knowledge-extraction",
    [Flag("seeds")],
    about="""Study what lets a model say what it has read.

    The conditions differ in the number of biographies, their wording, and whether there are
    celebrities: Physics of Language Models 3.1, at laptop size. Held-out training questions choose
    how each model is fine-tuned; linear probes show where it has the birthplaces.

    Example: attnlab knowledge extraction --set 'conditions=[one,many-permuted]' --seeds 3
    """,
    options=STUDY_OPTIONS,
)
job_command(
    app,
    "knowledge-pretrain",
    [
        PathArgument("corpus"),
        PathFlag("questions"),
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
            "Position scheme: alibi, learned, none, rotary, sinusoidal.",
            metavar="NAME",
            complete=completing("attnlab.attention.positions:POSITIONS"),
        ),
        *TRAINING,
    ],
    about="""Read a corpus and answer questions about it; or learn to write like any text.

    A corpus whose lines do not begin `Name. Text` is read as plain text, and perplexity is measured
    on its end: with the recipe text, or with the model, tokens and training of the one you name.

    Example: attnlab knowledge pretrain world/wiki.txt --questions world/birth_places_train.tsv
    --dev world/birth_dev.tsv --length '60 seconds'
    """,
    prepare=_with_fitting_recipe,
)
job_command(
    app,
    "knowledge-finetune",
    [
        PathArgument("questions"),
        PathFlag("start"),
        PathFlag("corpus"),
        Flag("accept_changed_code"),
        Flag(
            "tuning.name",
            name="tuning",
            metavar="METHOD",
            complete=completing("attnlab.tuning:TUNING"),
        ),
        *REPORTED,
        *TRAINING,
    ],
    about="""Learn to answer questions, from a pretrained model or from scratch.

    Example: attnlab knowledge finetune world/birth_places_train.tsv --start runs/pretrained
    --dev world/birth_dev.tsv
    """,
    prepare=_with_recipe,
)
job_command(
    app,
    "knowledge-evaluate",
    [
        PathArgument("run", is_required=True),
        PathArgument("questions", is_required=True),
        PathFlag("unseen"),
        PathFlag("corpus"),
        Flag("samples"),
        Flag("accept_changed_code"),
    ],
    about="""Ask a run's model the questions of a file, and score it if the file has the answers.

    Example: attnlab knowledge evaluate runs/pretrained world/birth_test.tsv
    """,
    options=(*RUN_OPTIONS, "outputs"),
)
job_command(
    app,
    "knowledge-world",
    [Flag("people"), Flag("biographies"), Flag("seed")],
    about="""Make up people, and write their biographies and questions as the course's files.

    Writes wiki.txt, birth_places_train.tsv, birth_dev.tsv, birth_test_inputs.tsv, birth_test.tsv,
    birth_unseen.tsv and world.json. Files of another world are never overwritten.

    Example: attnlab knowledge world worlds/big --people 10000
    """,
    options=SETTINGS_OPTIONS,
    prepare=_write_world,
)
