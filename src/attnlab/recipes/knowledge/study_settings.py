"""Settings of the knowledge lab's studies, and the ways of fine-tuning they try. Loads no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple, get_args

from annotated_types import Gt, Interval, Len

from attnlab.attention.settings import AttentionSettings
from attnlab.data.settings import WorldSettings
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.knowledge.settings import (
    RECALL_TRAINING,
    RECIPES,
    File,
    FinetuneSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.runs.lookup import RunReference
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from attnlab.tuning.settings import TuningSettings


class Finetuning(NamedTuple):
    """A way of fine-tuning: for how long, how fast, and which parameters."""

    length: str
    optimizer: OptimizerSettings
    tuning: TuningSettings = TuningSettings()


def _adamw(lr: float) -> OptimizerSettings:
    return OptimizerSettings("adamw", lr=lr)


def _muon(lr: float, adamw_lr: float) -> OptimizerSettings:
    return OptimizerSettings("muon", lr=lr, options={"adamw_lr": adamw_lr})


Way = Literal[
    "adamw-5e-5",
    "adamw-1e-4",
    "adamw-3e-4",
    "query-key",
    "norms-biases",
    "muon-0.002",
    "muon-0.005",
]
FINETUNINGS: Mapping[Way, Finetuning] = {
    "adamw-5e-5": Finetuning("5 epochs", _adamw(5e-5)),
    "adamw-1e-4": Finetuning("3 epochs", _adamw(1e-4)),
    "adamw-3e-4": Finetuning("2 epochs", _adamw(3e-4)),
    "query-key": Finetuning("2 epochs", _adamw(3e-3), TuningSettings("projections")),
    "norms-biases": Finetuning("2 epochs", _adamw(3e-3), TuningSettings("bitfit", {"norms": True})),
    "muon-0.002": Finetuning("2 epochs", _muon(0.002, 3e-4)),
    "muon-0.005": Finetuning("20 epochs", _muon(0.005, 1e-3)),
}
"""From gentle to rough: all parameters with small steps, some of them alone, and Muon."""

Reading = Literal[
    "one",
    "many",
    "many-permuted",
    "many-permuted-full-names",
    "one-permuted",
    "one-permuted-with-celebrities",
    "one-as-views",
]


@dataclass(frozen=True)
class ExtractionSettings:
    """Everything about ``attnlab knowledge extraction``."""

    world: WorldSettings = WorldSettings(people=3000, unwritten=0, asked_share=0.1)
    """The study varies its celebrities, order, names and biographies."""
    conditions: Annotated[tuple[Reading, ...], Len(1)] = get_args(Reading)
    """What is read: one, many, many-permuted, many-permuted-full-names, one-permuted,
    one-permuted-with-celebrities, one-as-views."""
    celebrities: Annotated[float, Interval(gt=0, lt=1)] = 0.3
    """Share of the people with several biographies, in the condition where only some have them."""
    seeds: Annotated[int, Interval(ge=1, le=100)] = 1
    """Number of seeds for the conditions in repeated; the others have one."""
    repeated: tuple[Reading, ...] = ("one", "many-permuted")
    """Conditions that are trained with every seed."""
    tokenizer: TokenizerSettings = TokenizerSettings(size=1024)
    model: ModelSettings = ModelSettings(128, 4, 4, attention=AttentionSettings(positions="rotary"))
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """Approximate number of tokens per step during pretraining."""
    question_tokens: Annotated[int, Gt(0)] = 512
    """Approximate number of tokens per step during fine-tuning."""
    pretraining: TrainingSettings = replace(RECALL_TRAINING, length="6M tokens")
    finetunings: Annotated[tuple[Way, ...], Len(1)] = (
        "adamw-3e-4",
        "query-key",
        "norms-biases",
        "muon-0.005",
    )
    """Ways of fine-tuning to try on each model: adamw-5e-5, adamw-1e-4, adamw-3e-4, query-key,
    norms-biases, muon-0.002, muon-0.005. Length and optimizer are theirs."""
    held_out: Annotated[float, Interval(gt=0, lt=1)] = 0.1
    """Share of the training questions that chooses the way of fine-tuning."""
    finetuning: TrainingSettings = RECALL_TRAINING
    """What all ways have in common, such as the schedule."""


@dataclass(frozen=True)
class ExtractionMapSettings:
    """Everything about the study ``knowledge-extraction-map``."""

    people: Annotated[tuple[Annotated[int, Gt(0)], ...], Len(1, 3)] = (750, 1500, 3000)
    """Numbers of people."""
    biographies: Annotated[tuple[Annotated[int, Gt(0)], ...], Len(1, 3)] = (1, 2, 5)
    """Numbers of biographies per person, sentences in any order."""
    tokens_per_person: Annotated[int, Gt(0)] = 2000
    """Tokens that are read about each person, however many biographies they come from."""
    base: ExtractionSettings = ExtractionSettings()
    """Everything else; the conditions, their seeds and the length of pretraining have no effect."""


COURSE = RECIPES["course"]


@dataclass(frozen=True)
class CourseSettings:
    """Everything about ``attnlab knowledge course``."""

    questions: File = ""
    """File of training questions, `question<TAB>answer`."""
    dev: File = ""
    """File of questions to ask once, at the end."""
    variant: Literal["vanilla", "synthesizer"] = "vanilla"
    """Attention of the course's model; overrides base.model.attention."""
    held_out: Annotated[float, Interval(gt=0, lt=1)] = 0.1
    """Share of the training questions that chooses the way of fine-tuning."""
    finetunings: Annotated[tuple[Way, ...], Len(1)] = (
        "adamw-5e-5",
        "adamw-1e-4",
        "adamw-3e-4",
        "muon-0.002",
    )
    """Ways of fine-tuning to try: adamw-5e-5, adamw-1e-4, adamw-3e-4, query-key, norms-biases,
    muon-0.002, muon-0.005. Length and optimizer are theirs."""
    base: PretrainSettings = replace(
        COURSE.pretrain, training=replace(COURSE.pretrain.training, length="2160 seconds")
    )
    """How the corpus is read, which is base.corpus."""
    finetuning: FinetuneSettings = COURSE.finetune
    """What all ways of fine-tuning have in common, such as the batch."""


@dataclass(frozen=True)
class LinearProbeSettings:
    """Everything about the job ``knowledge-linear-probe``."""

    run: Annotated[str, RunReference()] = ""
    """Finished run with a language model."""
    train: File = ""
    """File of questions with answers: the probe learns from these people."""
    dev: File = ""
    """File of questions with answers, to choose the strength of the penalty on."""
    test: File = ""
    """File of questions with answers about other people, whom the probe is tested on."""
