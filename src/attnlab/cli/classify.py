"""``attnlab classify …``: fine-tune a pretrained encoder to tell classes of text."""

from typing import Any

import typer

from attnlab.cli.assets import complete_data, complete_model
from attnlab.cli.flags import (
    RUN_OPTIONS,
    TRAINING,
    Flag,
    PathArgument,
    PathFlag,
    Request,
    below,
    job_command,
)
from attnlab.cli.options import group, process_rank
from attnlab.errors import UserError

app = group("Fine-tune a pretrained encoder to tell classes of text.")

COLUMNS = [
    Flag(
        "columns",
        "Columns of files without a header, as label,text,- : - is left out.",
        metavar="NAMES",
    ),
    Flag("text_column", "What the header or the JSON keys call the text.", metavar="NAME"),
    Flag("label_column", "What they call the label.", metavar="NAME"),
    Flag("pair_column", "What they call the second text of a pair.", metavar="NAME"),
]
TEXTS = [
    PathArgument(
        "train",
        "Labelled text: .csv (label, text), .tsv (text, label), .jsonl, or a dataset's name.",
        name="texts",
        complete=complete_data,
    ),
    PathFlag("dev", "The same; chooses which step is kept."),
    Flag("dev_share", "Share of the texts to set aside as dev if no dev is given."),
    PathFlag("test", "The same; evaluated once, at the end."),
    *COLUMNS,
    Flag(
        "model",
        "Folder of a pretrained BERT, or its name.",
        metavar="MODEL",
        complete=complete_model,
    ),
    PathFlag(
        "masked.text",
        "Unlabelled text, one per line, for masked language modelling.",
        name="mlm-text",
    ),
    Flag("max_len", "Most tokens of a text; longer ones are cut."),
    Flag("batch_size", "Texts per step."),
    Flag("training.optimizer.lr", "Highest learning rate."),
    *TRAINING,
]
"""What one run and the runs of a study have in common."""


@job_command(
    app,
    "classify-train",
    [
        *TEXTS,
        Flag("labels", "Labelled texts to use, of every class its share; 0: all."),
        Flag("masked.alpha", "Weight of the masked tokens' loss against the classes'."),
    ],
    example="attnlab classify train train.csv --dev dev.csv --model models/tinybert"
    " --mlm-text unlabelled.txt --alpha 0.5 --labels 50",
)
def train(request: Request) -> Any:
    """Learn to tell classes of text, and keep the step that is best on dev.

    Without arguments it learns from a dataset and a model that the package index has. Without
    --dev, some of the texts are set aside and not trained on.

    Repeat the command to resume an interrupted run or to show a finished one.
    """
    settings = request.settings()
    alpha = request.flags.get("masked.alpha")
    if alpha and alpha.value and not settings.masked.text:
        raise UserError(
            f"{alpha.origin} needs unlabelled text to learn from: give --mlm-text FILE."
        )
    _tell_defaults(request, settings)
    return settings


def _tell_defaults(request: Request, settings: Any, section: str = "") -> None:
    """Say which data and model are used where the user named none."""
    from attnlab.assets.catalogue import ASSETS, DEFAULT_DATA, DEFAULT_MODEL

    used = [
        f"no {what} given: {name}, {ASSETS[name].what}"
        for key, what, name in (("train", "data", DEFAULT_DATA), ("model", "model", DEFAULT_MODEL))
        if f"{section}{key}" not in request.flags and getattr(settings, key) == name
    ]
    if used and process_rank() == 0:
        typer.echo("; ".join(used), err=True)


@job_command(
    app,
    "classify-predict",
    [
        PathArgument("run", is_required=True),
        PathArgument("texts", is_required=True),
        *COLUMNS,
    ],
    example="attnlab classify predict runs/NAME new.csv --outputs classes.txt",
    options=(*RUN_OPTIONS, "outputs"),
)
def predict(request: Request) -> Any:
    """Tell the classes of a file's texts, and score them if the file has labels."""
    return request.settings()


@job_command(
    app,
    "classify-label-budget",
    [
        *below("base", TEXTS),
        Flag(
            "labels",
            "Numbers of labelled texts, or all, separated by commas.",
            metavar="NUMBERS",
            words={"all": 0},
        ),
        Flag(
            "alphas",
            "Weights of the masked loss, separated by commas.",
            name="alpha",
            metavar="NUMBERS",
        ),
        Flag("seeds", "Runs of every cell."),
    ],
    example="attnlab classify label-budget train.csv --dev dev.csv --model models/tinybert"
    " --mlm-text unlabelled.txt --labels 10,50,all --alpha 0,0.5 --seeds 3",
)
def label_budget(request: Request) -> Any:
    """Study how few labels are enough, with and without unlabelled text.

    Repeat the command to resume; finished cells are not run again.
    """
    settings = request.settings()
    _tell_defaults(request, settings.base, "base.")
    return settings
