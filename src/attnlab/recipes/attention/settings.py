"""Settings of the attention lab's jobs. Loads no torch."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, Len

from attnlab.attention.conditions import ConditionReference
from attnlab.attention.settings import AttentionSettings
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.knowledge.settings import (
    CHARACTERS,
    RECALL_TRAINING,
    File,
    HeldOut,
    ObjectiveSettings,
    PretrainSettings,
)
from attnlab.runs.lookup import RunReference
from attnlab.training.settings import TrainingSettings

Lengths = Annotated[tuple[Annotated[int, Ge(2)], ...], Len(1)]
BLOCK = 100
"""Tokens that the course's model reads at a time."""
SMALL_GPT = PretrainSettings(
    tokenizer=CHARACTERS,
    objective=ObjectiveSettings("running_text", {"block": BLOCK}),
    model=ModelSettings(128, 4, 4, attention=AttentionSettings(positions="learned")),
    batch_tokens=20 * BLOCK,
    training=replace(RECALL_TRAINING, length="1M tokens", evaluate_every=100),
)


@dataclass(frozen=True)
class AblateSettings:
    """Everything about ``attnlab attention ablate``."""

    topics: tuple[str, ...] = ()
    """Topics: aft, fast, late-mask, positions, projections, sharing, similarity; or all, which adds
    the variants that no topic has."""
    conditions: Annotated[tuple[str, ...], ConditionReference()] = ()
    """Conditions to add: NAME, NAME:option=value;option=value, NAME@POSITIONS, or your own
    path/to/file.py:Name."""
    seeds: Annotated[int, Interval(ge=1, le=100)] = 3
    """Runs of each condition; they differ in the seed alone."""
    encoder: bool = False
    """Train BERT on masked characters instead of a GPT on the next one; it looks both ways."""
    match: Literal["parameters", "flops", "seconds"] = "parameters"
    """What the conditions have in common besides the text. parameters: tokens, and parameters
    within 5 %, by adjusting the width; flops: the width, and operations in matrix products;
    seconds: the width, and time on this machine."""
    flips: Annotated[int, Interval(ge=100, le=10**8)] = 1_000_000
    """Coin flips to write, for a topic that also trains on them."""
    cost_lengths: Lengths = (64, 128, 256, 512, 1024, 2048)
    """Lengths in tokens at which a topic measures the cost of layers."""
    base: PretrainSettings = SMALL_GPT


@dataclass(frozen=True)
class FillInSettings:
    """How an encoder learns to fill in masked characters of a text."""

    corpus: File = ""
    """File of running text."""
    text_held_out: HeldOut = 0.1
    """Share of the text, at its end, to measure on; never trained on."""
    block: Annotated[int, Interval(ge=2, le=65_536)] = BLOCK
    """Characters that the encoder reads at a time."""
    share: Annotated[float, Interval(gt=0, lt=1)] = 0.15
    """Share of the characters that are masked."""
    model: ModelSettings = replace(SMALL_GPT.model, attention=AttentionSettings(positions="none"))
    batch_tokens: Annotated[int, Gt(0)] = SMALL_GPT.batch_tokens
    """Approximate number of tokens per step."""
    training: TrainingSettings = SMALL_GPT.training


@dataclass(frozen=True)
class ExamineSettings:
    """What is measured of a language model that was trained on plain text."""

    run: Annotated[str, RunReference()] = ""
    """Finished run with a model."""
    read_to: Annotated[int, Interval(ge=0, le=65_536)] = 0
    """Tokens of the longest text to read; 0 for those of training alone."""
    sample_tokens: Annotated[int, Interval(ge=0, le=100_000)] = 0
    """Length of the sample in tokens; 0 for as many as the model read at a time in training. Past
    them, a sample shows positions that were never trained."""
    windows: Annotated[int, Ge(1)] = 128
    """Windows of held-out text that a leaking model reads again without a future."""


@dataclass(frozen=True)
class CoinSettings:
    """A text of fair coin flips."""

    flips: Annotated[int, Interval(ge=100, le=10**8)] = 1_000_000
    """Number of flips."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the flips."""


@dataclass(frozen=True)
class CostSettings:
    """Which layers are measured, and how."""

    names: Annotated[tuple[str, ...], Len(1)] = ("dot_product",)
    """Variants, optionally with options: aft:form=simple."""
    lengths: Lengths = (64, 128, 256, 512, 1024, 2048)
    """Lengths of the text in tokens."""
    d_model: Annotated[int, Ge(1)] = 128
    """Width of the layer."""
    n_heads: Annotated[int, Ge(1)] = 4
    """Number of heads."""
    rounds: Annotated[int, Interval(ge=1, le=1000)] = 5
    """Number of rounds; the median is reported."""
