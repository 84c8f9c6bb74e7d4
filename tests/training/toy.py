"""A task of a few numbers, to look at the engine without a language model."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor, nn

from attnlab.randomness import rng
from attnlab.runs.directory import RunPlace
from attnlab.training.distributed import Processes
from attnlab.training.hardware import Hardware
from attnlab.training.optimization import Optimization
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.session import Session, open_session
from attnlab.training.settings import TrainingSettings
from attnlab.training.step import Stepper
from attnlab.training.task import Evaluation, Term

ROWS, WIDTH, WORDS, BATCH = 11, 3, 7, 5
CPU64 = Hardware(torch.device("cpu"), "float64")


@dataclass(frozen=True)
class ToyBatch:
    ids: Sequence[str]
    x: Tensor
    words: Tensor
    y: Tensor

    @property
    def weights(self) -> Mapping[str, float]:
        # "even" counts only some rows, so that parts weigh differently from each other
        return {"square": float(len(self.ids)), "even": float((self.words % 2 == 0).sum())}

    @property
    def tokens(self) -> int:
        return len(self.ids)

    def part(self, index: int, of: int) -> "ToyBatch":
        rows = slice(index * len(self.ids) // of, (index + 1) * len(self.ids) // of)
        return ToyBatch(self.ids[rows], self.x[rows], self.words[rows], self.y[rows])

    def to(self, device: torch.device) -> "ToyBatch":  # noqa: ARG002
        return self


class ToyModel(nn.Module):
    def __init__(self, *, dropout: float = 0.0, sparse: bool = False) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH, sparse=sparse)
        self.hidden = nn.Linear(WIDTH, 4)
        self.unused = nn.Linear(2, 2)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(4, 1)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        if self.training:
            self.seen += 1
        hidden = torch.tanh(self.hidden(x + self.table(words)))
        out: Tensor = self.out(self.dropout(hidden))[:, 0]
        return out


@dataclass
class ToyTask:
    """Learn a fixed random function; ``scores`` are handed out at each evaluation in turn."""

    dropout: float = 0.0
    sparse: bool = False
    scores: Sequence[float] = ()
    poison: Mapping[str, str] = field(default_factory=dict)
    """Row id to what is wrong with it: its loss, or its gradient only."""
    evaluations: int = 0

    def __post_init__(self) -> None:
        torch.manual_seed(0)
        self.model: nn.Module = ToyModel(dropout=self.dropout, sparse=self.sparse)
        dice = rng(0, "toy")
        self.x = torch.from_numpy(dice.normal(size=(ROWS, WIDTH)))
        self.words = torch.from_numpy(dice.integers(WORDS, size=ROWS))
        self.y = torch.from_numpy(dice.normal(size=ROWS))

    def batch(self, step: int) -> ToyBatch:
        rows = rng(0, "order", step).permutation(ROWS)[:BATCH]
        ids = [f"row {i}" for i in rows]
        return ToyBatch(ids, self.x[rows], self.words[rows], self.y[rows])

    def loss(self, part: ToyBatch) -> Mapping[str, Term]:
        dtype = next(self.model.parameters()).dtype
        predicted = self.model(part.x.to(dtype), part.words)
        squares = (predicted - part.y.to(dtype)) ** 2
        for i, name in enumerate(part.ids):
            if self.poison.get(name) == "loss":
                squares = squares.clone()
                squares[i] = squares[i] * float("nan")
            if self.poison.get(name) == "gradient":  # sqrt has the slope 0/0 there
                squares = squares + (0 * squares[i]).sqrt() * 0
        even = part.words % 2 == 0
        weights = part.weights
        return {
            "square": Term(squares.sum(), weights["square"]),
            "even": Term(predicted[even].abs().sum(), weights["even"], scale=0.5),
        }

    def parameter_groups(self) -> ParameterGroups:
        return ParameterGroups.of(self.model)

    def evaluate(self) -> Evaluation | None:
        if not self.scores:
            return None
        score = self.scores[self.evaluations % len(self.scores)]
        self.evaluations += 1
        return Evaluation(score, {"dev_accuracy": score})

    def steps_in(self, amount: float, unit: str) -> float:
        return amount * ROWS / BATCH if unit == "epochs" else amount / BATCH


def toy_stepper(task: ToyTask, settings: TrainingSettings, *, steps: int = 20) -> Stepper:
    task.model.to(torch.float64)
    optimization = Optimization(task.model, task.parameter_groups(), settings, steps=steps)
    return Stepper(task, optimization, settings, CPU64, Processes())


def toy_session(
    folder: Path, settings: TrainingSettings, *, log: StringIO | None = None, name: str = "toy"
) -> AbstractContextManager[Session]:
    console = Console(file=log or StringIO(), width=200)
    place = RunPlace(folder, name)
    return open_session("toy", settings, settings, place=place, console=console)


def tensors(model: nn.Module) -> dict[str, Any]:
    return {name: value.clone() for name, value in model.state_dict().items()}
