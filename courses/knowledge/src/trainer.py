"""Trains any model on any Dataset; if it is stopped, the same command resumes it.

    trainer = Trainer(model, dataset, None, TrainerConfig(max_epochs=10, batch_size=256))
    trainer.train()

A model takes ``(x, y)`` and returns ``(logits, mean loss)``, the loss without the places where y is
0. A Dataset that has ``epoch_rows(epoch, seed)`` is read without padding. Any other is read item by
item, which is slower; every step seeds torch, numpy and random first, so that it resumes exactly
too.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import default_collate

from attnlab.cli.course import hash_of_code
from attnlab.config import to_dict
from attnlab.data.batches import IGNORED, TokenBatch, TokenRow, collate
from attnlab.data.dataset_items import DatasetItems
from attnlab.data.epochs import Epochs, rows_per_batch, tokens_per_batch
from attnlab.phases import messages
from attnlab.recipes.closing import LAST_STEP, Splits, close_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.checkpoint import Checkpoints, load_model_tensors
from attnlab.training.loop import TrainingState, train
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.session import open_session
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from attnlab.training.task import Evaluation, Term

JOB, RUNS = "course-training", Path("runs")
PAD = 0


@dataclass(frozen=True)
class TrainerConfig:
    """How a model is trained; the names are those of the course."""

    max_epochs: float = 10
    batch_size: int = 64
    """Rows per step."""
    batch_tokens: int = 0
    """Tokens per step, instead of rows; needs a Dataset that has ``epoch_rows``."""
    learning_rate: float = 3e-4
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.1
    """For matrices only."""
    grad_norm_clip: float = 1.0
    lr_decay: bool = False
    """Let the rate fall, once over the whole run, to a tenth (cosine)."""
    warmup_tokens: float = 0
    """Tokens over which the rate rises; the course counts padding among them."""
    final_tokens: float = 0
    """Taken and not used: here the rate falls over the whole run."""
    num_workers: int = 0
    """Taken and not used: rows are drawn in this process, so that a step can be repeated."""
    shift: int = 0
    """Places by which a row is moved to the right, as far as its padding allows."""
    forms: Mapping[str, float] = field(default_factory=dict)
    """In which forms a text is met, as options of ``attnlab``'s span corruption; needs a Dataset
    that has ``epoch_rows``."""
    seed: int = 0
    name: str = "course"
    """What its run in runs/ is called, before a hash."""
    training: TrainingSettings | None = None
    """Optimizer and schedule of our own, in the place of the course's."""
    length: str = ""
    """A length such as '100 steps', in the place of ``max_epochs``."""

    def settings(self, block_size: int) -> TrainingSettings:
        """Return what the training loop reads."""
        options = {"betas": list(self.betas), "weight_decay": self.weight_decay}
        steps = self.warmup_tokens / (self.batch_size * block_size)
        course = TrainingSettings(
            optimizer=OptimizerSettings("adamw", lr=self.learning_rate, options=options),
            schedule=ScheduleSettings(
                "cosine" if self.lr_decay else "constant",
                warmup=round(max(1, steps)) if self.warmup_tokens else 0,
                options={"final": 0.1} if self.lr_decay else {},
            ),
            clip=self.grad_norm_clip,
        )
        length = self.length or f"{self.max_epochs} epochs"
        return replace(self.training or course, length=length, seed=self.seed)


@dataclass(frozen=True)
class Settings:
    """What a run keeps of the training."""

    training: TrainingSettings
    identity: str
    """Hash of the code, the initial weights and the rows."""


class Trainer:
    """Trains a model on a Dataset, and keeps the state in a run."""

    def __init__(
        self, model: nn.Module, train_dataset: Any, test_dataset: Any, config: TrainerConfig
    ) -> None:
        """Take what the course's Trainer takes; there is no test set during training."""
        del test_dataset
        self.model, self.config = model, config
        self.task = CourseTask(model, train_dataset, config)
        self.settings = config.settings(train_dataset.block_size)

    def train(self) -> Run:
        """Train to the end or go on; afterwards the model has the last weights."""
        settings = Settings(self.settings, self._identity())
        place = RunPlace(RUNS, f"{self.config.name}-{settings.identity[:8]}")
        run = Run.find(JOB, to_dict(settings), place)
        if run and run.finished:
            checkpoints = Checkpoints(run.path / "checkpoints", keep_last=1)
            load_model_tensors(self.model, checkpoints.load_model(run.record["steps"]))
            return run
        with open_session(
            JOB, settings, settings.training, place=place, console=messages()
        ) as session:
            state = train(self.task, settings.training, session)
            session.processes.from_lead(lambda: _close(session.run, state))
            return session.run

    def _identity(self) -> str:
        """Hash everything that the result depends on: anything else is another run."""
        digest = hashlib.sha256(repr(self.config).encode())
        digest.update(hash_of_code(Path(__file__).parent).encode())
        for name, tensor in self.model.state_dict().items():
            digest.update(name.encode() + tensor.numpy().tobytes())
        for batch in self.task.first_epoch():
            digest.update(batch.inputs.numpy().tobytes() + batch.targets.numpy().tobytes())
        return digest.hexdigest()


def _close(run: Run, state: TrainingState) -> None:
    close_run(run, {}, splits=Splits({}, inputs=()), **state.summary(), chosen_on=LAST_STEP)


class CourseTask:
    """A model and a Dataset of the course; implements ``attnlab.training.task.Task``."""

    def __init__(self, model: nn.Module, dataset: Any, config: TrainerConfig) -> None:
        self.model = model
        by_epoch = hasattr(dataset, "epoch_rows")
        self._batches = (RowBatches if by_epoch else ItemBatches)(dataset, config)

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step, counted from 1."""
        return self._batches.batch(step)

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens of the rows into steps."""
        return self._batches.steps_in(amount, unit)

    def first_epoch(self) -> Iterator[TokenBatch]:
        """Return what there is to learn, once."""
        return map(self.batch, range(1, round(self.steps_in(1, "epochs")) + 1))

    def evaluate(self) -> Evaluation | None:
        """There is nothing to score on the way: the last weights stay."""
        return None

    def loss(self, part: TokenBatch) -> Mapping[str, Term]:
        """Let the model compute its mean loss, and turn it into a sum."""
        targets = part.targets.masked_fill(part.targets == IGNORED, PAD)
        _, mean = self.model(part.inputs, targets)
        weight = part.weights["cross_entropy"]
        return {"cross_entropy": Term(mean * weight, weight)}

    def parameter_groups(self) -> ParameterGroups:
        """Matrices are those of the blocks; the head belongs with the embeddings."""
        return ParameterGroups.of(self.model, embeddings=["head.weight"])


class RowBatches:
    """Batches of rows of like length, cut at the longest."""

    def __init__(self, dataset: Any, config: TrainerConfig) -> None:
        def rows_of(epoch: int) -> list[TokenRow]:
            rows = dataset.epoch_rows(epoch, config.seed, **config.forms)
            return [
                row.shifted(min(config.shift, dataset.block_size - len(row.tokens)), pad=PAD)
                for row in rows
            ]

        rows_at_once = rows_per_batch(config.batch_size)
        size = tokens_per_batch(config.batch_tokens) if config.batch_tokens else rows_at_once
        self._epochs = Epochs(rows_of, size=size, seed=config.seed)
        self.steps_in = self._epochs.steps_in

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step."""
        return collate(self._epochs.rows_of_step(step))


class ItemBatches:
    """Batches of any Dataset, read item by item in a random order."""

    def __init__(self, dataset: Any, config: TrainerConfig) -> None:
        self._items = DatasetItems(dataset, batch_size=config.batch_size, seed=config.seed)
        self._block_size, self._shift = dataset.block_size, config.shift

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step."""
        items = self._items.of_step(step)
        x, y = default_collate(list(items.values()))
        return _token_batch(x, y, [f"row {number}" for number in items], shift=self._shift)

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens into steps; without rows, a token is a place of a block."""
        tokens = self._items.batch_size * self._block_size
        return amount * self._items.per_epoch if unit == "epochs" else amount / tokens


def _token_batch(x: Tensor, y: Tensor, ids: list[str], *, shift: int) -> TokenBatch:
    used = ((x != PAD) | (y != PAD)).flip(1).long()
    lengths = x.shape[1] - used.argmax(1)
    for row, length in enumerate(lengths.tolist()):
        by = min(shift, x.shape[1] - length)
        x[row], y[row] = x[row].roll(by), y[row].roll(by)
    return TokenBatch(
        ids=ids,
        lengths=lengths,
        inputs=x,
        targets=y.masked_fill(y == PAD, IGNORED),
        is_read_only=torch.zeros(len(x), dtype=torch.bool),
    )
