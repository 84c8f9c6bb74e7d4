"""What can be set about training. Loads no torch."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Interval

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float64"]


@dataclass(frozen=True)
class OptimizerSettings:
    """Which optimizer moves the parameters, and how fast."""

    name: str = "adamw"
    """A file of training/optimizers: adagrad, adam, adamw, muon (with AdamW for what is no matrix),
    sgd, sparse_adam."""
    lr: Annotated[float, Gt(0)] = 3e-4
    """Learning rate at the end of the warm-up."""
    options: dict[str, Any] = field(default_factory=dict)
    """The optimizer's own options by name, such as weight_decay or betas."""


@dataclass(frozen=True)
class ScheduleSettings:
    """How the learning rate moves over the run."""

    name: str = "constant"
    """A file of training/schedules: constant, cosine, linear."""
    warmup: Annotated[float, Ge(0)] = 0.0
    """Length of the linear warm-up: steps, or a share of the run if it is below 1."""
    options: dict[str, Any] = field(default_factory=dict)
    """The schedule's own options by name, such as final for cosine."""


@dataclass(frozen=True)
class TrainingSettings:
    """How one training run goes."""

    length: str = "1000 steps"
    """How long: a number and steps, epochs, tokens or seconds. It becomes steps before step 1."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of everything random: order of the data, initial weights, dropout."""
    optimizer: OptimizerSettings = OptimizerSettings()
    sparse_optimizer: OptimizerSettings = OptimizerSettings("sparse_adam", lr=1e-2)
    schedule: ScheduleSettings = ScheduleSettings()
    clip: Annotated[float, Ge(0)] = 1.0
    """Largest norm of the dense gradients; 0 leaves them as they are."""
    accumulate: Annotated[int, Ge(1)] = 1
    """Into how many parts each process cuts its share of a batch, to save memory."""
    precision: Precision = "auto"
    """Arithmetic of the forward pass. auto: what ATTNLAB_PRECISION says, else bfloat16 where the
    processor has it and float32 where not."""
    device: Device = "auto"
    """Where to compute. auto: cuda, then mps, then cpu."""
    threads: Annotated[int, Interval(ge=0, le=1024)] = 0
    """Threads of each process. 0: OMP_NUM_THREADS, else the cores shared out among the processes of
    this machine."""
    log_every: Annotated[int, Ge(1)] = 10
    """Steps between two lines of metrics.jsonl."""
    evaluate_every: Annotated[int, Ge(0)] = 0
    """Steps between two evaluations on dev; 0 evaluates after the last step only."""
    patience: Annotated[int, Ge(0)] = 0
    """Stop after this many evaluations in a row without a better score; 0 never stops early."""
    save_every: Annotated[int, Ge(1)] = 500
    """Steps between two checkpoints."""
    keep_last: Annotated[int, Ge(1)] = 2
    """How many of the newest checkpoints stay; the best one on dev stays besides."""
