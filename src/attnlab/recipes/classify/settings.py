"""What can be set about classifying text. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Interval, Len

from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings

MODEL = "model"
"""The folder of a run that holds its model in the hub's layout."""
FINE_TUNING = TrainingSettings(
    length="3 epochs",
    optimizer=OptimizerSettings(
        "adamw", lr=3e-5, options={"weight_decay": 0.01, "betas": [0.9, 0.999]}
    ),
    schedule=ScheduleSettings("linear", warmup=0.1),
    evaluate_every=50,
)


@dataclass(frozen=True)
class MaskedSettings:
    """Filling in masked tokens of unlabelled text, learned beside the classes."""

    text: str = ""
    """File of unlabelled text, one a line; without it only the classes are learned."""
    alpha: Annotated[float, Ge(0)] = 0.5
    """Weight of this loss beside that of the classes; 0 leaves it out."""
    share: Annotated[float, Interval(gt=0, lt=1)] = 0.15
    """Share of the tokens that are to be filled in."""
    block: Annotated[int, Ge(3)] = 128
    """Most tokens of a row, with its marks."""
    line_by_line: bool = True
    """Whether a row is a line, or all lines are joined and cut into rows."""


@dataclass(frozen=True)
class ClassifySettings:
    """Everything about ``attnlab classify train``."""

    model: str = ""
    """Folder of a pretrained BERT in the hub's layout, or its name there."""
    train: str = ""
    """File of labelled text: .csv (label, text), .tsv (text, label) or .jsonl."""
    dev: str = ""
    """The same; chooses the step that is kept."""
    test: str = ""
    """The same, with labels or without; asked once, at the end."""
    columns: tuple[str, ...] = ()
    """What the columns of .csv and .tsv files are, if neither a header nor their number says it:
    label, text, pair, or - for one to leave out."""
    labels: Annotated[int, Ge(0)] = 0
    """How many labelled training texts to use, of every class its share; 0 uses all."""
    max_len: Annotated[int, Ge(3)] = 128
    """Most tokens of a text, with its marks; longer ones are cut."""
    batch_size: Annotated[int, Gt(0)] = 32
    """ClassifyTexts a step, from each of the two streams."""
    pooler: bool = False
    """Whether a dense layer with tanh stands before the classifier, as in transformers."""
    masked: MaskedSettings = MaskedSettings()
    training: TrainingSettings = FINE_TUNING


@dataclass(frozen=True)
class PredictSettings:
    """Everything about ``attnlab classify predict``."""

    run: str = ""
    """The finished run whose classifier is asked."""
    texts: str = ""
    """File of texts, with labels or without."""
    columns: tuple[str, ...] = ()
    """What its columns are, as in training."""


@dataclass(frozen=True)
class LabelBudgetSettings:
    """Everything about ``attnlab classify label-budget``."""

    labels: Annotated[tuple[Annotated[int, Ge(0)], ...], Len(1)] = (10, 50, 0)
    """Numbers of labelled training texts; 0 is all of them."""
    alphas: Annotated[tuple[Annotated[float, Ge(0)], ...], Len(1)] = (0.0, 0.5)
    """Weights of the masked tokens' loss; 0 learns the classes alone."""
    seeds: Annotated[int, Ge(1)] = 3
    """Runs of every cell; each seed draws its own labelled texts."""
    least_steps: Annotated[int, Ge(1)] = 200
    """Steps that a run has at least, if its length is in epochs: few texts need more of them."""
    base: ClassifySettings = ClassifySettings()
    """What all cells have in common."""
