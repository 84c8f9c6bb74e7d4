"""Settings of the knowledge lab, and its recipes. Loads no torch."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Gt, Interval

from attnlab.attention.settings import AttentionSettings
from attnlab.data.settings import WorldSettings
from attnlab.errors import unknown_name
from attnlab.models.sizes import SIZES, ModelSettings, NGramTableSize
from attnlab.runs.lookup import RunReference
from attnlab.runs.references import FileReference
from attnlab.training.settings import (
    OptimizerSettings,
    ScheduleSettings,
    TrainingLength,
    TrainingSettings,
)
from attnlab.tuning.settings import TuningSettings

File = Annotated[str, FileReference()]
HeldOut = Annotated[float, Interval(ge=0, lt=1)]
AUTO = "auto"
RECALL_TRAINING = TrainingSettings(
    length="4M tokens",
    optimizer=OptimizerSettings("muon", lr=0.02, options={"adamw_lr": 3e-3}),
    schedule=ScheduleSettings("linear", warmup=0.03),
)


@dataclass(frozen=True)
class TokenizerSettings:
    """What a token is."""

    kind: Literal["byte_pairs", "characters"] = "byte_pairs"
    """byte_pairs: frequent pieces of words; characters: the characters of the corpus."""
    size: Annotated[int, Interval(ge=258, le=2**20)] = 2048
    """Vocabulary size for byte_pairs; characters uses all that occur."""


@dataclass(frozen=True)
class ObjectiveSettings:
    """What the model learns from the corpus."""

    name: str = AUTO
    """Objective: auto, salient_spans, span_corruption, text (line by line) or running_text; auto is
    salient_spans for a corpus of lines `Name. Text`, and running_text for any other."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the objective by name, such as block for span_corruption."""


@dataclass(frozen=True)
class LanguageModelSettings:
    """What pretraining and fine-tuning have in common."""

    corpus: File = ""
    questions: File = ""
    held_out: HeldOut = 0.0
    """Share of the training questions kept for evaluation, to choose settings on."""
    dev: File = ""
    """File of questions to report on; they choose nothing."""
    test: File = ""
    """File of questions to evaluate once, at the end."""
    unseen: File = ""
    """File of questions about people who are not in the corpus: every answer is made up."""
    samples: Annotated[int, Interval(ge=0, le=1000)] = 0
    """Answers to sample per question, to compare with the most likely one; 0 for none."""
    tokenizer: TokenizerSettings = TokenizerSettings()
    model: ModelSettings = SIZES["small"]
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """Approximate number of tokens per step."""
    training: TrainingSettings = RECALL_TRAINING


@dataclass(frozen=True)
class SyntheticSettings:
    """Questions that a reader of the corpus writes, trained on with the training questions."""

    questions: bool = False
    """Ask about everyone in the corpus in training: a reader learns from the training questions to
    pick the answer from a person's line. Dev's people are among them, with its answers, never with
    labels."""
    least_probability: Annotated[float, Interval(ge=0, lt=1)] = 0.0
    """Leave out answers that the reader finds less likely."""


@dataclass(frozen=True)
class PretrainSettings(LanguageModelSettings):
    """Everything about ``attnlab knowledge pretrain``."""

    corpus: File = ""
    """File with one document per line, `Name. Text` for salient_spans; or any running text."""
    text_held_out: HeldOut = 0.1
    """Share of running text, at its end, to measure perplexity on; never trained on."""
    questions: File = ""
    """File of training questions to mix in, `question<TAB>answer`; optional."""
    questions_write: bool = False
    """Let questions update the n-gram table, instead of only teaching the model to read it."""
    prefer: Literal["reader", "answers"] = "reader"
    """Which spans salient_spans prefers. reader: what a reader, trained on the training questions,
    takes for the answer in that line. answers: whatever answers some training question; also if
    they are too few to train a reader."""
    synthetic: SyntheticSettings = SyntheticSettings()
    objective: ObjectiveSettings = ObjectiveSettings()


@dataclass(frozen=True)
class FinetuneSettings(LanguageModelSettings):
    """Everything about ``attnlab knowledge finetune``."""

    corpus: File = ""
    """Text that the tokenizer of a new model, or of a .params file, is made from."""
    questions: File = ""
    """File of training questions, `question<TAB>answer`."""
    start: Annotated[str, RunReference()] = ""
    """Pretrained run to start from, or one of the course's .params files; without it, a new model
    learns from the questions alone."""
    accept_changed_code: bool = False
    """Continue although the file of your own attention has changed since the run was trained."""
    replay: ObjectiveSettings = ObjectiveSettings("")
    """Objective to train on alongside the questions, against forgetting; none by default."""
    tuning: TuningSettings = TuningSettings()
    """Which parameters learn from the questions; all by default. The others stay those of start."""
    training: TrainingSettings = replace(RECALL_TRAINING, length="10 epochs")


@dataclass(frozen=True)
class EvaluateSettings:
    """Everything about ``attnlab knowledge evaluate``."""

    run: Annotated[str, RunReference()] = ""
    """Finished run with a model, or one of the course's .params files."""
    questions: File = ""
    """File of questions, with or without answers."""
    unseen: File = ""
    """File of questions about people who are not in the corpus: every answer is made up."""
    samples: Annotated[int, Interval(ge=0, le=1000)] = 16
    """Answers to sample per question, to compare with the most likely one; 0 for none."""
    corpus: File = ""
    """For a .params file, or if it was moved: the text that the model was trained on."""
    accept_changed_code: bool = False
    """Continue although the file of your own attention has changed since the run was trained."""


@dataclass(frozen=True)
class MajoritySettings:
    """Where the most common answer comes from, and which questions it is given to."""

    questions: File = ""
    """File of training questions."""
    test: File = ""
    """File of questions to answer."""


CHARACTERS = TokenizerSettings("characters")
TEXT_MODEL = ModelSettings(128, 4, 4, attention=AttentionSettings(positions="rotary"))
ALIGNED_SPANS = ObjectiveSettings(
    "span_corruption", {"block": 128, "shift": len("Where was "), "untitled": 0.5, "draws": 2}
)
COURSE_MODEL = replace(SIZES["course"], dropout=0.0)
COURSE_OPTIMIZER = OptimizerSettings(
    "adamw", lr=6e-4, options={"betas": [0.9, 0.95], "weight_decay": 0.1}
)
COURSE_SCHEDULE = ScheduleSettings("cosine", warmup=1, options={"final": 0.1})


class Recipe(NamedTuple):
    """Settings of both jobs that go together."""

    pretrain: PretrainSettings
    finetune: FinetuneSettings


RECIPES = {
    "recall": Recipe(PretrainSettings(), FinetuneSettings()),
    "synthetic": Recipe(
        PretrainSettings(
            synthetic=SyntheticSettings(questions=True),
            questions_write=True,
            training=replace(RECALL_TRAINING, length="1500k tokens"),
        ),
        FinetuneSettings(),
    ),
    "course": Recipe(
        PretrainSettings(
            tokenizer=CHARACTERS,
            objective=ALIGNED_SPANS,
            model=COURSE_MODEL,
            training=replace(
                RECALL_TRAINING,
                length="65 epochs",
                optimizer=OptimizerSettings(
                    "muon", lr=0.02, options={"adamw_lr": 3e-3, "orthogonalize_in": "auto"}
                ),
            ),
        ),
        FinetuneSettings(
            tokenizer=CHARACTERS,
            model=COURSE_MODEL,
            training=replace(
                RECALL_TRAINING, length="3 epochs", optimizer=OptimizerSettings("adamw", lr=1e-4)
            ),
        ),
    ),
    "original": Recipe(
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
    "text": Recipe(
        PretrainSettings(
            tokenizer=TokenizerSettings(size=1024),
            objective=ObjectiveSettings("running_text"),
            model=TEXT_MODEL,
            training=replace(RECALL_TRAINING, length="1M tokens"),
        ),
        FinetuneSettings(tokenizer=TokenizerSettings(size=1024), model=TEXT_MODEL),
    ),
}
"""recall: ours; its views favour the spans that a reader picks, trained on the training questions.
synthetic: also asks about everyone in the corpus in training, with that reader's answers. course:
the knowledge course's model, characters and objective, trained our way. original: its
hyperparameters too, for many hours. text: running text, without the n-gram table, which would learn
it by heart."""


def find_recipe(name: str, size: str | None = None) -> Recipe:
    """Return a recipe by its name, with the named model size if one is given."""
    if name not in RECIPES:
        raise unknown_name("recipe", name, RECIPES)
    if size is None:
        return RECIPES[name]
    if size not in SIZES:
        raise unknown_name("size", size, SIZES)
    pretrain, finetune = RECIPES[name]
    return Recipe(replace(pretrain, model=SIZES[size]), replace(finetune, model=SIZES[size]))


@dataclass(frozen=True)
class DemoSettings:
    """Everything about ``attnlab knowledge demo``."""

    world: WorldSettings = WorldSettings(people=1000, biographies=3)
    held_out: HeldOut = 0.2
    """Share of the training questions kept to show how far to trust the confidence."""
    samples: Annotated[int, Interval(ge=0, le=1000)] = 8
    """Answers to sample per question, to compare with the most likely one; 0 for none."""
    model: ModelSettings = replace(SIZES["small"], ngram_table=NGramTableSize(rows=2**17))
    batch_tokens: Annotated[int, Gt(0)] = 2048
    """Approximate number of tokens per step."""
    training: TrainingSettings = replace(RECALL_TRAINING, length="800k tokens", evaluate_every=100)
    questions_length: TrainingLength = "20 epochs"
    """Training length of the model that sees only the training questions."""
