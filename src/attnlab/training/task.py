"""What the loop needs from a job: batches, a loss, parameter groups and a score."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn

from attnlab.training.parameter_groups import ParameterGroups


class Term(NamedTuple):
    """One named part of a loss over some examples: its sum, and how much that sum weighs."""

    sum: Tensor
    weight: float
    scale: float = 1.0
    """Factor of this term in the total, as alpha in ``cls + alpha * mlm``."""


class Evaluation(NamedTuple):
    """An evaluation during training: a score, higher is better, and other metrics to log."""

    score: float | None
    """What the best step is chosen by; None chooses none, and the last weights stay."""
    metrics: Mapping[str, float]


@runtime_checkable
class Batch(Protocol):
    """Some examples. What one calls "the batch" is the one over all processes."""

    @property
    def ids(self) -> Sequence[str]:
        """Names of the examples, for messages."""

    @property
    def weights(self) -> Mapping[str, float]:
        """What each term of the loss will weigh, known before the model has run."""

    @property
    def tokens(self) -> int:
        """Tokens that the model will see, without padding."""

    def part(self, index: int, of: int) -> "Batch":
        """Cut out piece ``index`` of ``of``: for processes, and for accumulation."""

    def to(self, device: torch.device) -> "Batch":
        """Move the tensors."""


BatchT = TypeVar("BatchT", bound=Batch)


@runtime_checkable
class Task(Protocol[BatchT]):
    """A model with something to learn."""

    @property
    def model(self) -> nn.Module:
        """What is trained."""

    def batch(self, step: int) -> BatchT:
        """Return the global batch of a step (from 1): a pure function of data, seed and step."""

    def loss(self, part: BatchT) -> Mapping[str, Term]:
        """Return the named sums over a part, each with the weight that the part declares."""

    def parameter_groups(self) -> ParameterGroups:
        """Say which parameters are matrices, embeddings, vectors and sparse tables."""

    def evaluate(self) -> Evaluation | None:
        """Score the model on dev, or None if there is nothing to score it on."""

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens of this data into steps."""
