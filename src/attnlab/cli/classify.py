"""``attnlab classify …``: fine-tune a pretrained encoder to classify text."""

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

app = group("Fine-tune a pretrained encoder to classify text.")

COLUMNS = Flag(
    "columns",
    "Columns of the files, such as label,text,- where - skips one.",
    metavar="NAMES",
)
TEXTS = [
    PathArgument(
        "train", "Labelled text: .csv (label, text), .tsv (text, label) or .jsonl.", name="texts"
    ),
    PathFlag("dev"),
    PathFlag("test", "Labelled or unlabelled text to evaluate once, at the end."),
    COLUMNS,
    Flag("model", "Folder of a pretrained BERT, or its name on the hub.", metavar="MODEL"),
    PathFlag(
        "masked.text",
        "Unlabelled text, one per line, for masked language modelling.",
        name="mlm-text",
    ),
    Flag("max_len", "Maximum tokens per text; longer texts are cut."),
    Flag("batch_size", "Texts per step."),
    Flag("training.optimizer.lr", "Peak learning rate."),
    *TRAINING,
]
"""What one run and the runs of a study have in common."""


def _refuse_alpha_alone(request: Request) -> Any:
    """Refuse a weight of the masked loss without text to mask."""
    settings = request.settings()
    alpha = request.flags.get("masked.alpha")
    if alpha and alpha.value and not settings.masked.text:
        raise UserError(
            f"{alpha.origin} needs unlabelled text to learn from: give --mlm-text FILE."
        )
    return settings


job_command(
    app,
    "classify-train",
    [
        *TEXTS,
        Flag("labels", "Number of labelled texts to use, in proportion to the classes; 0: all."),
        Flag(
            "masked.alpha", "Weight of the masked-token loss relative to the classification loss."
        ),
    ],
    about="""Train a classifier, and keep the step that is best on dev.

    Example: attnlab classify train train.csv --dev dev.csv --model models/tinybert
    --mlm-text unlabelled.txt --alpha 0.5 --labels 50
    """,
    prepare=_refuse_alpha_alone,
)
job_command(
    app,
    "classify-predict",
    [
        PathArgument("run", is_required=True),
        PathArgument("texts", is_required=True),
        COLUMNS,
    ],
    about="""Classify the texts of a file, and score the answers if the file has labels.

    Example: attnlab classify predict runs/NAME new.csv --outputs classes.txt
    """,
    options=(*RUN_OPTIONS, "outputs"),
)
job_command(
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
        Flag("seeds", "Number of runs per cell."),
    ],
    about="""Study how few labels are enough, with and without unlabelled text.

    Example: attnlab classify label-budget train.csv --dev dev.csv --model models/tinybert
    --mlm-text unlabelled.txt --labels 10,50,all --alpha 0,0.5 --seeds 3
    """,
)
