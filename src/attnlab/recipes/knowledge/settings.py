"""What can be set in the knowledge lab. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Interval

from attnlab.attention.settings import AttentionSettings
from attnlab.training.settings import OptimiserSettings, ScheduleSettings, TrainingSettings


@dataclass(frozen=True)
class WorldSettings:
    """The made-up world that the model reads about."""

    people: Annotated[int, Ge(10)] = 200
    """How many people there are."""
    sentences: Annotated[int, Ge(1)] = 6
    """How many different sentences are written about each."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the world; training has its own."""
    asked_share: Annotated[float, Interval(gt=0, le=0.4)] = 0.2
    """Share of the people who are dev, and as many again test: their questions are never trained
    on. Dev chooses the best step, test is asked once at the end."""


@dataclass(frozen=True)
class ModelSettings:
    """The size of the GPT."""

    d_model: Annotated[int, Gt(0)] = 128
    """Width."""
    n_heads: Annotated[int, Gt(0)] = 4
    """Attention heads a layer."""
    n_layers: Annotated[int, Gt(0)] = 2
    """Layers."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.0
    """Share of activations set to zero in training."""
    attention: AttentionSettings = AttentionSettings()


@dataclass(frozen=True)
class DemoSettings:
    """Everything about ``attnlab knowledge demo``."""

    world: WorldSettings = WorldSettings()
    model: ModelSettings = ModelSettings()
    batch_size: Annotated[int, Gt(0)] = 64
    """Rows (a sentence or a question) a step."""
    training: TrainingSettings = TrainingSettings(
        length="30 epochs",
        optimiser=OptimiserSettings("muon", lr=0.02, options={"adamw_lr": 3e-3}),
        schedule=ScheduleSettings("linear", warmup=0.05),
        evaluate_every=100,
        save_every=100,
    )
