"""What can be set in the knowledge lab, and its two recipes. Loads no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, Gt, Interval

from attnlab.attention.settings import AttentionSettings
from attnlab.data.settings import WorldSettings
from attnlab.errors import UserError, did_you_mean
from attnlab.models.sizes import SIZES, ModelSettings, NGramTableSize
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings

Value = TypeVar("Value")
HeldOut = Annotated[float, Interval(ge=0, lt=1)]
RECALL_TRAINING = TrainingSettings(
    length="4M tokens",
    optimizer=OptimizerSettings("muon", lr=0.02, options={"adamw_lr": 3e-3}),
    schedule=ScheduleSettings("linear", warmup=0.03),
)


@dataclass(frozen=True)
class TokenizerSettings:
    """What a token is."""

    kind: Literal["byte_pairs", "characters"] = "byte_pairs"
    """byte_pairs: frequent pieces of words; characters: those of the corpus, one by one."""
    size: Annotated[int, Ge(258)] = 2048
    """How many byte pairs to learn; characters are as many as there are."""


@dataclass(frozen=True)
class ObjectiveSettings:
    """What is learned from the corpus."""

    name: str = "salient_spans"
    """A file of data/objectives: salient_spans, span_corruption, text."""
    options: dict[str, Any] = field(default_factory=dict)
    """The objective's own options by name, such as block for span_corruption."""


@dataclass(frozen=True)
class PretrainSettings:
    """Everything about ``attnlab knowledge pretrain``."""

    corpus: str = ""
    """File with a document a line; `Name. Text` for salient_spans."""
    questions: str = ""
    """File of training questions, `question<TAB>answer`, to mix in; may be left out."""
    questions_write: bool = False
    """Whether the questions may write into the n-gram table, or only teach how to read it."""
    held_out: HeldOut = 0.0
    """Share of the training questions that are not learned but asked, to choose settings on."""
    dev: str = ""
    """File of questions to report on; nothing is chosen by them."""
    test: str = ""
    """File of questions to ask once, at the end."""
    unseen: str = ""
    """File of questions about people of whom nothing was read: every answer to them is made up."""
    samples: Annotated[int, Ge(0)] = 0
    """Answers drawn a question, beside the likeliest, to see whether they agree; 0 draws none."""
    tokenizer: TokenizerSettings = TokenizerSettings()
    objective: ObjectiveSettings = ObjectiveSettings()
    model: ModelSettings = SIZES["small"]
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """About how many tokens a step learns from."""
    training: TrainingSettings = RECALL_TRAINING


@dataclass(frozen=True)
class FinetuneSettings:
    """Everything about ``attnlab knowledge finetune``."""

    questions: str = ""
    """File of training questions, `question<TAB>answer`."""
    start: str = ""
    """The pretrained run to go on from, or one of the course's files; left out, a new model learns
    from the questions alone."""
    corpus: str = ""
    """The file that the characters come from: of a new model, or of one of the course's files."""
    replay: ObjectiveSettings = ObjectiveSettings("")
    """What is read again beside the questions, so that it is not forgotten; nothing by default."""
    held_out: HeldOut = 0.0
    """Share of the training questions that are not learned but asked, to choose settings on."""
    dev: str = ""
    """File of questions to report on; nothing is chosen by them."""
    test: str = ""
    """File of questions to ask once, at the end."""
    unseen: str = ""
    """File of questions about people of whom nothing was read: every answer to them is made up."""
    samples: Annotated[int, Ge(0)] = 0
    """Answers drawn a question, beside the likeliest, to see whether they agree; 0 draws none."""
    tokenizer: TokenizerSettings = TokenizerSettings()
    model: ModelSettings = SIZES["small"]
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """About how many tokens a step learns from."""
    training: TrainingSettings = replace(RECALL_TRAINING, length="10 epochs")


@dataclass(frozen=True)
class EvaluateSettings:
    """Everything about ``attnlab knowledge evaluate``."""

    run: str = ""
    """The run whose model is asked."""
    questions: str = ""
    """File of questions, with answers or without."""
    unseen: str = ""
    """File of questions about people of whom nothing was read: every answer to them is made up."""
    samples: Annotated[int, Ge(0)] = 16
    """Answers drawn a question, beside the likeliest, to see whether they agree; 0 draws none."""
    corpus: str = ""
    """What the model has read, for a model that is a file of the course's."""


@dataclass(frozen=True)
class MajoritySettings:
    """What the constant answer is taken from, and who is asked."""

    questions: str = ""
    """File of training questions."""
    test: str = ""
    """File of questions to ask."""


CHARACTERS = TokenizerSettings("characters")
ALIGNED_SPANS = ObjectiveSettings("span_corruption", {"block": 128, "shift": len("Where was ")})
COURSE_MODEL = replace(SIZES["course"], dropout=0.0)
COURSE_OPTIMIZER = OptimizerSettings(
    "adamw", lr=6e-4, options={"betas": [0.9, 0.95], "weight_decay": 0.1}
)
COURSE_SCHEDULE = ScheduleSettings("cosine", warmup=1, options={"final": 0.1})

RECIPES: dict[str, tuple[PretrainSettings, FinetuneSettings]] = {
    "recall": (PretrainSettings(), FinetuneSettings()),
    "course": (
        PretrainSettings(
            tokenizer=CHARACTERS,
            objective=ALIGNED_SPANS,
            model=COURSE_MODEL,
            training=replace(RECALL_TRAINING, length="43 epochs"),
        ),
        FinetuneSettings(
            tokenizer=CHARACTERS,
            model=COURSE_MODEL,
            training=replace(
                RECALL_TRAINING,
                length="2 epochs",
                optimizer=OptimizerSettings("muon", lr=0.002, options={"adamw_lr": 3e-4}),
            ),
        ),
    ),
    "original": (
        PretrainSettings(
            tokenizer=CHARACTERS,
            objective=ObjectiveSettings("span_corruption", {"block": 128}),
            model=SIZES["course"],
            batch_tokens=128 * 58,
            training=TrainingSettings(
                length="650 epochs",
                optimizer=replace(COURSE_OPTIMIZER, lr=6e-3),
                schedule=COURSE_SCHEDULE,
            ),
        ),
        FinetuneSettings(
            tokenizer=CHARACTERS,
            model=SIZES["course"],
            batch_tokens=256 * 45,
            training=TrainingSettings(
                length="10 epochs", optimizer=COURSE_OPTIMIZER, schedule=COURSE_SCHEDULE
            ),
        ),
    ),
}
"""Pretraining and finetuning by name. recall: ours. course: the knowledge course's model,
characters and objective, trained our way. letter: its hyper-parameters too, for many hours."""


def pretrain_recipe(name: str, size: str | None = None) -> PretrainSettings:
    """Return a recipe's settings for pretraining, with another size of model if one is named."""
    chosen = by_name(RECIPES, name, "recipe")[0]
    return replace(chosen, model=by_name(SIZES, size, "size")) if size else chosen


def finetune_recipe(name: str, size: str | None = None) -> FinetuneSettings:
    """Return a recipe's settings for finetuning, with another size of model if one is named."""
    chosen = by_name(RECIPES, name, "recipe")[1]
    return replace(chosen, model=by_name(SIZES, size, "size")) if size else chosen


def by_name(known: Mapping[str, Value], name: str, kind: str) -> Value:
    """Look a name up, or say which there are."""
    if name not in known:
        raise UserError(
            f"no {kind} is called {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}."
        )
    return known[name]


@dataclass(frozen=True)
class DemoSettings:
    """Everything about ``attnlab knowledge demo``."""

    world: WorldSettings = WorldSettings(people=1000, biographies=3)
    held_out: HeldOut = 0.2
    """Share of the training questions that are not learned but show what confidence is worth."""
    samples: Annotated[int, Ge(0)] = 8
    """Answers drawn a question, beside the likeliest, to see whether they agree; 0 draws none."""
    model: ModelSettings = replace(SIZES["small"], ngram_table=NGramTableSize(rows=2**17))
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """About how many tokens a step learns from."""
    training: TrainingSettings = replace(RECALL_TRAINING, length="1600k tokens", evaluate_every=200)
    questions_length: str = "20 epochs"
    """How long the model learns that reads nothing but the training questions."""


@dataclass(frozen=True)
class ExtractionSettings:
    """Everything about ``attnlab knowledge extraction``."""

    world: WorldSettings = WorldSettings(people=500, unwritten=0, asked_share=0.3)
    """Its celebrities, order and biographies are what the study turns."""
    celebrities: Annotated[float, Interval(gt=0, lt=1)] = 0.3
    """Share of the people who have all biographies, in the condition where only some do."""
    tokenizer: TokenizerSettings = TokenizerSettings(size=1024)
    model: ModelSettings = ModelSettings(128, 4, 4, attention=AttentionSettings(positions="rotary"))
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """About how many tokens a step learns from, while reading."""
    question_tokens: Annotated[int, Gt(0)] = 512
    """The same while learning to answer."""
    pretraining: TrainingSettings = replace(RECALL_TRAINING, length="1500k tokens")
    finetuning: TrainingSettings = replace(
        RECALL_TRAINING,
        length="20 epochs",
        optimizer=OptimizerSettings("muon", lr=0.005, options={"adamw_lr": 1e-3}),
    )
