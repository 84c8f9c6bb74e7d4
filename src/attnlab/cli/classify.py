"""``attnlab classify …``: fine-tune a pretrained encoder to tell classes of text."""

from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import (
    Assignments,
    ConfigFile,
    Device,
    Length,
    RunName,
    RunsFolder,
    Seed,
    ShowSettings,
    names,
    numbers,
    path_text,
    process_rank,
    settled,
)
from attnlab.cli.show import show_run, show_study
from attnlab.errors import UserError

app = typer.Typer(
    help="Fine-tune a pretrained encoder to tell classes of text.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ALL = "all"

Model = Annotated[
    str | None,
    typer.Option(help="Folder of a pretrained BERT, or its name on the hub.", metavar="MODEL"),
]
Train = Annotated[
    Path | None,
    typer.Argument(help="Labelled text: .csv (label, text), .tsv (text, label) or .jsonl."),
]
Dev = Annotated[Path | None, typer.Option(help="The same; chooses the step that is kept.")]
Test = Annotated[Path | None, typer.Option(help="The same; asked once, at the end.")]
MaskedText = Annotated[
    Path | None,
    typer.Option(
        "--mlm-text", help="Unlabelled text, one a line, whose masked tokens are learned beside."
    ),
]
BatchSize = Annotated[int | None, typer.Option(help="Texts a step.")]
LearningRate = Annotated[float | None, typer.Option("--lr", help="Highest learning rate.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="What the columns of the files are, as label,text,- : - is left out.",
        metavar="NAMES",
    ),
]
MaxLen = Annotated[int | None, typer.Option(help="Most tokens of a text; longer ones are cut.")]


@app.command(
    epilog="Example: attnlab classify train train.csv --dev dev.csv --model models/tinybert"
    " --mlm-text unlabelled.txt --alpha 0.5 --labels 50"
)
def train(
    texts: Train = None,
    dev: Dev = None,
    test: Test = None,
    columns: Columns = None,
    model: Model = None,
    labels: Annotated[
        int | None, typer.Option(help="Labelled texts to use, of every class its share; 0: all.")
    ] = None,
    mlm_text: MaskedText = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of the masked tokens' loss beside the classes'.")
    ] = None,
    max_len: MaxLen = None,
    batch_size: BatchSize = None,
    lr: LearningRate = None,
    length: Length = None,
    seed: Seed = None,
    device: Device = None,
    config: ConfigFile = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Learn to tell classes of text, and keep the step that is best on dev.

    The same command goes on with a run that was stopped, and shows one that is finished.
    """
    from attnlab.recipes.classify.settings import ClassifySettings

    flags = {
        "train": path_text(texts),
        "dev": path_text(dev),
        "test": path_text(test),
        "columns": names(columns),
        "model": model,
        "labels": labels,
        "masked.text": path_text(mlm_text),
        "masked.alpha": alpha,
        "max_len": max_len,
        "batch_size": batch_size,
        "training.optimizer.lr": lr,
        "training.length": length,
        "training.seed": seed,
        "training.device": device,
    }
    settings = settled(ClassifySettings(), file=config, flags=flags, sets=sets, show=show_settings)
    if alpha and not settings.masked.text:
        raise UserError(
            f"--alpha {alpha:g} needs unlabelled text to learn from: give --mlm-text FILE."
        )

    from rich.console import Console

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    job = find_job("classify-train")
    show_run(job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True)))


@app.command(epilog="Example: attnlab classify predict runs/NAME new.csv --outputs classes.txt")
def predict(
    run: Annotated[Path, typer.Argument(help="Finished run whose classifier is asked.")],
    texts: Annotated[Path, typer.Argument(help="Texts, with labels or without.")],
    columns: Columns = None,
    outputs: Annotated[
        Path | None, typer.Option(help="Also write the classes there, one a line.", metavar="FILE")
    ] = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Tell the classes of a file's texts, and score them if the file has labels."""
    from rich.console import Console

    from attnlab.recipes.classify.settings import PredictSettings
    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace
    from attnlab.runs.files import replace_file

    settings = PredictSettings(str(run), str(texts), tuple(names(columns) or ()))
    job = find_job("classify-predict")
    found = job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True))
    if outputs and process_rank() == 0:
        classes = [str(row["prediction"]) for row in found.predictions("test")]
        replace_file(outputs, "".join(f"{one}\n" for one in classes).encode())
    show_run(found)


@app.command(
    "label-budget",
    epilog="Example: attnlab classify label-budget train.csv --dev dev.csv --model models/tinybert"
    " --mlm-text unlabelled.txt --labels 10,50,all --alpha 0,0.5 --seeds 3",
)
def label_budget(
    texts: Train = None,
    dev: Dev = None,
    test: Test = None,
    columns: Columns = None,
    model: Model = None,
    labels: Annotated[
        str | None, typer.Option(help="Numbers of labelled texts, or all, with commas between.")
    ] = None,
    mlm_text: MaskedText = None,
    alpha: Annotated[
        str | None, typer.Option(help="Weights of the masked tokens' loss, with commas between.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Runs of every cell.")] = None,
    max_len: MaxLen = None,
    batch_size: BatchSize = None,
    lr: LearningRate = None,
    length: Length = None,
    seed: Seed = None,
    device: Device = None,
    config: ConfigFile = None,
    sets: Assignments = None,
    name: RunName = None,
    runs: RunsFolder = Path("runs"),
    show_settings: ShowSettings = False,
) -> None:
    """Study how few labels will do, with and without learning from unlabelled text beside.

    Cells that are done are not run again; the same command goes on with what was stopped.
    """
    from attnlab.recipes.classify.settings import LabelBudgetSettings

    flags = {
        "base.train": path_text(texts),
        "base.dev": path_text(dev),
        "base.test": path_text(test),
        "base.columns": names(columns),
        "base.model": model,
        "labels": None if labels is None else _budgets(labels),
        "base.masked.text": path_text(mlm_text),
        "alphas": None if alpha is None else numbers(alpha, "--alpha", float),
        "seeds": seeds,
        "base.max_len": max_len,
        "base.batch_size": batch_size,
        "base.training.optimizer.lr": lr,
        "base.training.length": length,
        "base.training.seed": seed,
        "base.training.device": device,
    }
    settings = settled(
        LabelBudgetSettings(), file=config, flags=flags, sets=sets, show=show_settings
    )

    from rich.console import Console

    from attnlab.recipes.jobs import find_job
    from attnlab.runs.directory import RunPlace

    job = find_job("classify-label-budget")
    show_study(job.run(settings, place=RunPlace(runs, name), console=Console(stderr=True)))


def _budgets(text: str) -> list[int]:
    """Read numbers of labels; `all` is 0."""
    parts = [part.strip() for part in text.split(",")]
    return numbers(",".join("0" if part == ALL else part for part in parts), "--labels", int)
