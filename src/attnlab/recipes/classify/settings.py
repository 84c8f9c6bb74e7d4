"""Settings of the classification lab. Loads no torch."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Gt, Interval, Len

from attnlab.assets.catalogue import DEFAULT_DATA, DEFAULT_MODEL
from attnlab.assets.datasets import DatasetReference
from attnlab.assets.model_lists import named_models
from attnlab.assets.models import ModelReference
from attnlab.config import Checked
from attnlab.runs.lookup import RunReference
from attnlab.runs.memory import read_bytes
from attnlab.runs.model_kind import CLASSIFIER_FOLDER
from attnlab.runs.references import FileReference
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from attnlab.tuning.settings import TuningSettings

MODEL = CLASSIFIER_FOLDER
"""The folder in a run that holds its model in the hub's layout."""
FINE_TUNING = TrainingSettings(
    length="3 epochs",
    optimizer=OptimizerSettings(
        "adamw", lr=3e-5, options={"weight_decay": 0.01, "betas": [0.9, 0.999]}
    ),
    schedule=ScheduleSettings("linear", warmup=0.1),
    evaluate_every=50,
    log_every=1,  # so that an epoch's training accuracy has all of its steps
)


@dataclass(frozen=True)
class MaskedSettings:
    """Masked language modelling on unlabelled text, trained jointly with the classifier."""

    text: Annotated[str, FileReference()] = ""
    """File of unlabelled text, one per line; without it, only the classifier is trained."""
    alpha: Annotated[float, Interval(ge=0, le=1e6)] = 0.5
    """Weight of the masked-token loss relative to the classification loss; 0 turns it off."""
    share: Annotated[float, Interval(gt=0, lt=1)] = 0.15
    """Share of the tokens to predict."""
    block: Annotated[int, Ge(3)] = 128
    """Maximum tokens per row, including special tokens."""
    line_by_line: bool = True
    """Make each line a row; otherwise join all lines and cut them into rows."""


@dataclass(frozen=True)
class ClassifySettings:
    """Everything about ``attnlab classify train``."""

    model: Annotated[str, ModelReference()] = DEFAULT_MODEL
    """Folder of a pretrained BERT in the hub's layout, or its name: `attnlab assets list` shows
    those that need no hub."""
    train: Annotated[str, DatasetReference()] = DEFAULT_DATA
    """File of labelled text: .csv (label, text), .tsv (text, label) or .jsonl; or a dataset of
    `attnlab assets list`."""
    dev: Annotated[str, DatasetReference()] = ""
    """File of labelled text that chooses which step is kept. Without one, the dataset's own dev,
    else a share of the training texts."""
    dev_share: Annotated[float, Interval(ge=0, le=0.5)] = 0.1
    """Share of the training texts to set aside as dev if there is no other; 0 trains on all."""
    test: Annotated[str, DatasetReference()] = ""
    """File of text, with or without labels; evaluated once, at the end. Without one, the dataset's
    own test."""
    test_share: Annotated[float, Interval(ge=0, le=0.5)] = 0.0
    """Share of the training texts to set aside as test if there is no other: always the same."""
    read_test: bool = True
    """Evaluate on test at the end; false leaves it unread, for a later run that resumes from this
    one."""
    resume_from: Annotated[str, RunReference()] = ""
    """Finished run to go on from, with its optimizer: the same training for longer, or with test
    read."""
    columns: tuple[str, ...] = ()
    """Columns of .csv and .tsv files, if neither a header nor their number identifies them: label,
    text, pair, or - to skip one."""
    text_column: str = ""
    """What the files' header, or their JSON keys, call the text; without it, the usual names."""
    label_column: str = ""
    """What they call the label."""
    pair_column: str = ""
    """What they call the second text of a pair."""
    labels: Annotated[int, Ge(0)] = 0
    """Number of labelled training texts to use, in proportion to the classes; 0 uses all."""
    overfit: Annotated[int, Ge(0)] = 0
    """Number of texts to learn by heart, as a test of the training itself: they also take the place
    of dev and test; 0 trains as usual."""
    max_len: Annotated[int, Ge(3)] = 128
    """Maximum tokens per text, including special tokens; longer texts are cut."""
    batch_size: Annotated[int, Gt(0)] = 32
    """Texts per step, labelled and unlabelled each."""
    pooler: bool = False
    """Put a dense layer with tanh before the classifier, as transformers does."""
    tuning: TuningSettings = TuningSettings()
    masked: MaskedSettings = MaskedSettings()
    training: TrainingSettings = FINE_TUNING


@dataclass(frozen=True)
class PredictSettings:
    """Everything about ``attnlab classify predict``."""

    run: Annotated[str, RunReference()] = ""
    """The finished run whose classifier to use."""
    texts: Annotated[str, DatasetReference()] = ""
    """File of texts, with or without labels; a dataset's split, as boolq:dev; - for one text per
    line on standard input."""
    columns: tuple[str, ...] = ()
    """Columns of the file, as in training."""
    text_column: str = ""
    """What the file calls the text; without any of the three, what the run's files called them."""
    label_column: str = ""
    """What it calls the label."""
    pair_column: str = ""
    """What it calls the second text of a pair."""


@dataclass(frozen=True)
class LabelBudgetSettings:
    """Everything about ``attnlab classify label-budget``."""

    labels: Annotated[tuple[Annotated[int, Ge(0)], ...], Len(1)] = (10, 50, 0)
    """Numbers of labelled training texts; 0 means all."""
    alphas: Annotated[tuple[Annotated[float, Interval(ge=0, le=1e6)], ...], Len(1)] = (0.0, 0.5)
    """Weights of the masked-token loss; 0 trains the classifier alone."""
    seeds: Annotated[int, Interval(ge=1, le=1000)] = 3
    """Number of runs per cell; each seed draws its own labelled texts."""
    least_steps: Annotated[int, Ge(1)] = 200
    """Minimum steps per run if its length is in epochs; small sets need more epochs."""
    base: ClassifySettings = ClassifySettings()
    """Settings that all cells share."""


GRID_TRAINING = replace(
    FINE_TUNING,
    schedule=ScheduleSettings("constant", warmup=0.1),  # so that runs can go on from shorter ones
    evaluate_every=0,  # a number of epochs is the model after the last of them
    keep_last=1,
)
LearningRate = Annotated[float, Interval(gt=0, le=1e6)]


@dataclass(frozen=True)
class SelectSettings:
    """Everything about ``attnlab classify select``."""

    lrs: Annotated[tuple[LearningRate, ...], Len(1)] = (3e-5, 1e-4, 3e-4)
    """Learning rates."""
    epochs: Annotated[tuple[Annotated[int, Interval(ge=1, le=10_000)], ...], Len(1)] = (1, 2, 3)
    """Numbers of epochs; the model after the last one is evaluated."""
    batch_sizes: tuple[Annotated[int, Gt(0)], ...] = ()
    """Texts per step; without any, base.batch_size."""
    optimizers: tuple[str, ...] = ()
    """Optimizers by name; without any, base.training.optimizer. Any other uses torch's default
    options."""
    tunings: tuple[str, ...] = ()
    """Tuning methods by name; without any, base.tuning. Any other uses its default options."""
    seeds: Annotated[int, Interval(ge=1, le=1000)] = 1
    """Number of runs per cell."""
    base: ClassifySettings = ClassifySettings(training=GRID_TRAINING)
    """Settings that all cells share."""


OVERFITTING_TRAINING = replace(
    FINE_TUNING,
    schedule=ScheduleSettings("constant", warmup=0.1),
    keep_last=1,
)


@dataclass(frozen=True)
class ProbeSettings:
    """Everything about ``attnlab run classify-probe``: does training with a batch fit?"""

    memory_bytes: Annotated[int, Ge(0)] = 0
    """Memory that training may take, in bytes; 0 means nine tenths of what is free."""
    base: ClassifySettings = ClassifySettings()
    """The training, with the batch size to try."""


@dataclass(frozen=True)
class BatchSizeSettings:
    """Everything about ``attnlab classify batch-size``."""

    memory: Annotated[str, Checked(read_bytes)] = ""
    """Memory that training may take, such as 2GB or 800MiB; without it, nine tenths of what is
    free."""
    start: Annotated[int, Gt(0)] = 32
    """Batch size to try first: if it fits, it is doubled, else halved."""
    effective_batch: Annotated[int, Ge(0)] = 0
    """Texts per optimizer step, whatever fits: smaller batches are accumulated to it. 0 takes the
    largest batch that fits."""
    epochs: Annotated[int, Interval(ge=1, le=10_000)] = 30
    """Epochs to train for."""
    base: ClassifySettings = ClassifySettings(training=OVERFITTING_TRAINING)
    """Settings of the training."""


class EachModel(ModelReference):
    """Marks a setting that names several models."""

    def absolute(self, value: Any, runs: Path) -> Any:
        """Write every path so that it is found from any folder, and a list by what is in it."""
        names = [one for name in value for one in named_models(name)]
        return tuple(super(EachModel, self).absolute(one, runs) for one in names)


@dataclass(frozen=True)
class CompareSettings:
    """Everything about ``attnlab classify compare``."""

    models: Annotated[tuple[str, ...], Len(1), EachModel()] = (DEFAULT_MODEL,)
    """Models to compare, by folder or name; or the list boolq-course, in which models of `attnlab
    assets list` stand in for those that are not available."""
    tunings: tuple[str, ...] = ()
    """Tuning methods to compare; without any, base.tuning."""
    optimizers: tuple[str, ...] = ()
    """Optimizers to compare; without any, base.training.optimizer."""
    lrs: Annotated[tuple[LearningRate, ...], Len(1)] = (3e-5,)
    """Learning rates; of several, dev chooses one for each that is compared."""
    epochs: Annotated[tuple[Annotated[int, Interval(ge=1, le=10_000)], ...], Len(1)] = (3,)
    """Numbers of epochs; of several, dev chooses one for each that is compared."""
    batch_sizes: tuple[Annotated[int, Gt(0)], ...] = ()
    """Texts per step; without any, base.batch_size. Of several, dev chooses."""
    seeds: Annotated[int, Interval(ge=1, le=1000)] = 1
    """Number of runs per cell."""
    base: ClassifySettings = ClassifySettings(training=GRID_TRAINING)
    """Settings that all share."""
