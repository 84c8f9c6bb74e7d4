"""Settings of training. Loads no torch."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Interval

from attnlab.config import Checked
from attnlab.training.length import read_length

TrainingLength = Annotated[str, Checked(read_length)]
Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float64"]


@dataclass(frozen=True)
class OptimizerSettings:
    """Which optimizer updates the parameters, and how fast."""

    name: str = "adamw"
    """Optimizer: adagrad, adam, adamw, muon (with AdamW for everything but matrices), sgd or
    sparse_adam."""
    lr: Annotated[float, Interval(gt=0, le=1e6)] = 3e-4
    """Learning rate at the end of the warm-up."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the optimizer by name, such as weight_decay or betas."""


@dataclass(frozen=True)
class ScheduleSettings:
    """How the learning rate changes over the run."""

    name: str = "constant"
    """Schedule: constant, cosine or linear."""
    warmup: Annotated[float, Interval(ge=0, le=1e12)] = 0.0
    """Length of the linear warm-up: in steps, or as a share of the run if below 1."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the schedule by name, such as final for cosine."""


@dataclass(frozen=True)
class TrainingSettings:
    """How one run trains."""

    length: TrainingLength = "1000 steps"
    """Training length: a number of steps, epochs, tokens or seconds; becomes steps at the start."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of everything random: data order, initial weights, dropout."""
    optimizer: OptimizerSettings = OptimizerSettings()
    sparse_optimizer: OptimizerSettings = OptimizerSettings("sparse_adam", lr=1e-2)
    schedule: ScheduleSettings = ScheduleSettings()
    clip: Annotated[float, Ge(0)] = 1.0
    """Largest norm of the dense gradients; 0 turns clipping off."""
    accumulate: Annotated[int, Interval(ge=1, le=10_000)] = 1
    """Number of parts into which each process splits its share of a batch, to save memory."""
    precision: Precision = "auto"
    """Precision of the forward pass. auto: ATTNLAB_PRECISION if set, else bfloat16 if the
    processor supports it, else float32."""
    device: Device = "auto"
    """Where to compute. auto: cuda, then mps, then cpu."""
    threads: Annotated[int, Interval(ge=0, le=1024)] = 0
    """Threads per process. 0: OMP_NUM_THREADS if set, else 1 or one per core, whichever trains
    faster when a few steps are timed; several processes share the cores."""
    log_every: Annotated[int, Ge(1)] = 10
    """Steps between two lines of metrics.jsonl."""
    evaluate_every: Annotated[int, Ge(0)] = 0
    """Steps between evaluations on dev; 0 evaluates only after the last step."""
    patience: Annotated[int, Ge(0)] = 0
    """Stop after this many evaluations in a row without improvement; 0 never stops early."""
    save_every: Annotated[int, Ge(1)] = 500
    """Steps between checkpoints."""
    keep_last: Annotated[int, Ge(1)] = 2
    """Number of newest checkpoints to keep, in addition to the best one on dev."""
