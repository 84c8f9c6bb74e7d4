"""``attnlab classify …``: fine-tune a pretrained encoder to tell classes of text."""

from typing import Any

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
from attnlab.cli.options import group
from attnlab.errors import UserError

app = group("Fine-tune a pretrained encoder to tell classes of text.")

COLUMNS = Flag(
    "columns",
    "What the columns of the files are, as label,text,- : - is left out.",
    metavar="NAMES",
)
TEXTS = [
    PathArgument(
        "train", "Labelled text: .csv (label, text), .tsv (text, label) or .jsonl.", name="texts"
    ),
    PathFlag("dev"),
    PathFlag("test", "The same; evaluated once, at the end."),
    COLUMNS,
    Flag("model", "Folder of a pretrained BERT, or its name on the hub.", metavar="MODEL"),
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

    Repeat the command to resume an interrupted run or to show a finished one.
    """
    settings = request.settings()
    alpha = request.flags.get("masked.alpha")
    if alpha and alpha.value and not settings.masked.text:
        raise UserError(
            f"{alpha.origin} needs unlabelled text to learn from: give --mlm-text FILE."
        )
    return settings


@job_command(
    app,
    "classify-predict",
    [
        PathArgument("run", is_required=True),
        PathArgument("texts", is_required=True),
        COLUMNS,
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
    return request.settings()
