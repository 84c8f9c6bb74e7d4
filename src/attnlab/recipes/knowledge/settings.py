"""What can be set in the knowledge lab. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Gt, Interval

from attnlab.attention.settings import AttentionSettings
from attnlab.data.settings import WorldSettings
from attnlab.training.settings import OptimiserSettings, ScheduleSettings, TrainingSettings


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

    world: WorldSettings = WorldSettings(people=200, biographies=6, sentences=1)
    model: ModelSettings = ModelSettings()
    batch_size: Annotated[int, Gt(0)] = 64
    """Rows (a biography or a question) a step."""
    training: TrainingSettings = TrainingSettings(
        length="30 epochs",
        optimiser=OptimiserSettings("muon", lr=0.02, options={"adamw_lr": 3e-3}),
        schedule=ScheduleSettings("linear", warmup=0.05),
        evaluate_every=100,
        save_every=100,
    )
