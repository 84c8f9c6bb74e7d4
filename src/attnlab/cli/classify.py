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

COLUMNS = Flag("columns", metavar="NAMES")
TEXTS = [
    PathArgument("train", name="texts"),
    PathFlag("dev"),
    PathFlag("test"),
    COLUMNS,
    Flag("model", metavar="MODEL"),
    PathFlag("masked.text", name="mlm-text"),
    Flag("max_len"),
    Flag("batch_size"),
    Flag("training.optimizer.lr"),
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
    [*TEXTS, Flag("labels"), Flag("masked.alpha")],
    about="""Train a classifier, and keep the step that is best on dev.

    Example: attnlab classify train train.csv --dev dev.csv --model models/tinybert
    --mlm-text unlabelled.txt --alpha 0.5 --labels 50
    """,
    prepare=_refuse_alpha_alone,
)
job_command(
    app,
    "classify-predict",
    [PathArgument("run", is_required=True), PathArgument("texts", is_required=True), COLUMNS],
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
        Flag("alphas", name="alpha", metavar="NUMBERS"),
        Flag("seeds"),
    ],
    about="""Study how few labels are enough, with and without unlabelled text.

    Example: attnlab classify label-budget train.csv --dev dev.csv --model models/tinybert
    --mlm-text unlabelled.txt --labels 10,50,all --alpha 0,0.5 --seeds 3
    """,
)
