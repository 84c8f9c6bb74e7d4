"""``attnlab classify …``: fine-tune a pretrained encoder to classify text."""

from dataclasses import replace
from typing import Any

from attnlab.cli.assets import complete_data, complete_model
from attnlab.cli.flags import (
    RUN_OPTIONS,
    STUDY_OPTIONS,
    TRAINING,
    Flag,
    PathArgument,
    PathFlag,
    Request,
    below,
    job_command,
)
from attnlab.cli.options import completing, group
from attnlab.cli.predict import predict_or_settings
from attnlab.errors import UserError

app = group("Fine-tune a pretrained encoder to classify text.")


complete_tuning = completing("attnlab.tuning:TUNING")
complete_tunings = completing("attnlab.tuning:TUNING", several=True)
complete_optimizers = completing("attnlab.training.optimizers:OPTIMIZERS", several=True)
complete_schedule = completing("attnlab.training.schedules:SCHEDULES")
BY_HEART_LENGTH = "100 steps"
COLUMNS = [
    Flag("columns", metavar="NAMES"),
    Flag("text_column", metavar="NAME"),
    Flag("label_column", metavar="NAME"),
    Flag("pair_column", metavar="NAME"),
]
SPLITS = [
    PathArgument("train", name="texts", complete=complete_data),
    PathFlag("dev"),
    Flag("dev_share"),
    PathFlag("test"),
    Flag("test_share"),
    *COLUMNS,
    Flag("max_len"),
]
"""What every job has that trains on texts."""
DEV_CHOOSES = (
    "File of labelled text that chooses among the runs. Without one, the dataset's own dev, else a"
    " share of the training texts."
)
GRID_SPLITS = below(
    "base", [replace(flag, help=DEV_CHOOSES) if flag.key == "dev" else flag for flag in SPLITS]
)
EVALUATED_ON = {
    "dev": "File of labelled text to evaluate on after every epoch. Without one, the dataset's own"
    " dev, else a share of the training texts.",
    "test_share": "Share of the training texts to leave out, as test elsewhere: always the same.",
}
ONE_MODEL = Flag("model", metavar="MODEL", complete=complete_model)
GRID = [
    Flag("lrs", name="lr", metavar="NUMBERS"),
    Flag("epochs", metavar="NUMBERS"),
    Flag("batch_sizes", name="batch-size", metavar="NUMBERS"),
    Flag("optimizers", name="optimizer", metavar="NAMES", complete=complete_optimizers),
    Flag("tunings", name="tuning", metavar="METHODS", complete=complete_tunings),
    Flag("seeds"),
    Flag("base.labels"),
    Flag(
        "base.training.schedule.name",
        name="schedule",
        metavar="NAME",
        complete=complete_schedule,
    ),
    Flag("base.training.seed"),
    Flag("base.training.device"),
]
"""What studies of hyperparameters have."""
TEXTS = [
    *SPLITS,
    ONE_MODEL,
    Flag("tuning.name", name="tuning", metavar="METHOD", complete=complete_tuning),
    PathFlag("masked.text", name="mlm-text"),
    Flag("batch_size"),
    Flag("training.optimizer.lr"),
    *TRAINING,
]
"""What one run and the runs of a study have in common."""


def _train_settings(request: Request) -> Any:
    """Refuse a weight of the masked loss without text to mask."""
    settings = request.settings()
    alpha = request.flags.get("masked.alpha")
    if alpha and alpha.value and not settings.masked.text:
        raise UserError(
            f"{alpha.origin} needs unlabelled text to learn from: give --mlm-text FILE."
        )
    if settings.overfit and "training.length" not in request.flags:
        # three epochs of ten texts are three steps
        settings = replace(settings, training=replace(settings.training, length=BY_HEART_LENGTH))
    _name_defaults(request, settings)
    return settings


def _study_settings(request: Request) -> Any:
    settings = request.settings()
    _name_defaults(request, settings.base, "base.")
    return settings


def _compare_settings(request: Request) -> Any:
    settings = request.settings()
    _name_defaults(request, replace(settings.base, model=""), "base.")
    return settings


def _name_defaults(request: Request, settings: Any, section: str = "") -> None:
    """Say which data and model are used where the user named none."""
    from attnlab.assets.catalogue import ASSETS, DEFAULT_DATA, DEFAULT_MODEL
    from attnlab.phases import messages

    used = [
        f"no {what} given: {name}, {ASSETS[name].what}"
        for key, what, name in (("train", "data", DEFAULT_DATA), ("model", "model", DEFAULT_MODEL))
        if f"{section}{key}" not in request.flags and getattr(settings, key) == name
    ]
    if used:
        messages().print("; ".join(used), highlight=False, soft_wrap=True)


job_command(
    app,
    "classify-train",
    [*TEXTS, Flag("labels"), Flag("overfit"), Flag("masked.alpha")],
    about="""Train a classifier, and keep the step that is best on dev.

    Without arguments it uses a dataset and a model from the package index. Without
    --dev, some of the texts are set aside and not trained on.

    Example: attnlab classify train train.csv --dev dev.csv --model models/tinybert
    --mlm-text unlabelled.txt --alpha 0.5 --labels 50
    """,
    prepare=_train_settings,
)
job_command(
    app,
    "classify-predict",
    [PathArgument("run", is_required=True), PathArgument("texts"), *COLUMNS],
    about="""Classify the texts of a file, and score the answers if the file has labels.

    Texts given with --text, or one per line on standard input (-), are classified without leaving a
    run behind.

    Example: attnlab classify predict runs/NAME new.csv --outputs classes.csv
    """,
    options=(*RUN_OPTIONS, "outputs"),
    prepare=predict_or_settings,
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
    options=STUDY_OPTIONS,
    prepare=_study_settings,
)
job_command(
    app,
    "classify-select",
    [*GRID_SPLITS, *below("base", [ONE_MODEL]), *GRID],
    about="""Choose hyperparameters on dev, and read the test set once with the chosen model.

    Every combination is a run. With a constant schedule, the longest run also serves every smaller
    number of epochs. Combinations that cannot be told apart, or that did not learn, are named.

    Example: attnlab classify select boolq --test-share 0.1 --lr 1e-4,5e-4,1e-3 --epochs 5,7,9
    --parallel 2
    """,
    options=STUDY_OPTIONS,
    prepare=_study_settings,
)
job_command(
    app,
    "classify-batch-size",
    [
        *below(
            "base",
            [
                replace(flag, help=EVALUATED_ON.get(flag.key, flag.help))
                for flag in (*SPLITS, ONE_MODEL)
                if flag.key != "test"  # which is left unread
            ],
        ),
        Flag("memory", metavar="SIZE"),
        Flag("start"),
        Flag("effective_batch"),
        Flag("epochs"),
        *below(
            "base",
            [
                Flag("tuning.name", name="tuning", metavar="METHOD", complete=complete_tuning),
                Flag("labels"),
                Flag("training.optimizer.lr"),
                Flag("training.seed"),
                Flag("training.device"),
            ],
        ),
    ],
    about="""Find the largest batch that fits into memory, and train with it until dev turns down.

    Each batch size is tried in a separate process, for two steps on the longest texts: if memory
    runs out, the system kills that process and not this command. Then the model is trained and
    evaluated epoch by epoch; the result says whether and when dev turned down.

    Example: attnlab classify batch-size boolq --memory 2GB --effective-batch 64 --epochs 30
    """,
    options=STUDY_OPTIONS,
    prepare=_study_settings,
)
job_command(
    app,
    "classify-compare",
    [
        *GRID_SPLITS,
        Flag("models", metavar="MODELS", complete=complete_model),
        *GRID,
    ],
    about="""Compare models, tuning methods or optimizers, each with the settings that dev chose.

    With several --lr, --epochs or --batch-size, each is run at its own best on dev. The test set is
    read once by each, afterwards.

    Example: attnlab classify compare boolq --test-share 0.1 --models models/tinybert,models/mini
    --tuning full,lora --lr 1e-4,1e-3
    """,
    options=STUDY_OPTIONS,
    prepare=_compare_settings,
)
