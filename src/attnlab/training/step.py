"""One optimizer step: the loss and gradient of every part, agreed on by all processes."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from attnlab.errors import RunError
from attnlab.randomness import seed_torch
from attnlab.training.distributed import Processes
from attnlab.training.hardware import Hardware
from attnlab.training.optimization import Optimization
from attnlab.training.settings import TrainingSettings
from attnlab.training.signals import ASKING
from attnlab.training.task import Batch, Task, Term

SHOWN_IDS = 10


class NonFiniteError(RunError):
    """The loss or a gradient is not a number; the weights are those of the step before."""

    told_by_lead = True
    in_a_word = "nan"


class StepResult(NamedTuple):
    """The outcome of a step, over the whole batch."""

    loss: float
    terms: Mapping[str, float]
    gradient_norm: float
    lr: float
    tokens: int
    stop_signal: int


@dataclass(frozen=True)
class Stepper:
    """Takes steps on one task."""

    task: Task[Any]
    optimization: Optimization
    settings: TrainingSettings
    hardware: Hardware
    processes: Processes

    def take(self, step: int, *, asked_to_stop: Callable[[], int] = lambda: 0) -> StepResult:
        """Take one step; if any process was asked to stop meanwhile, all learn the signal."""
        batch = self.task.batch(step)
        self.optimization.zero_gradients()
        loss, sums = 0.0, dict.fromkeys(batch.weights, 0.0)
        for part in self._parts(batch, step):
            with self.hardware.autocast():
                terms = self.task.loss(part)
            loss += _add_gradients(terms, part.weights, batch.weights, sums)
        loss, means, stop_signal = self._agree(loss, sums, batch.weights, asked_to_stop)
        dense = [p for p in self.optimization.dense if p.grad is not None]
        norm = get_total_norm([p.grad for p in dense if p.grad is not None])
        if not (math.isfinite(loss) and math.isfinite(norm) and self._sparse_is_finite()):
            raise self._explain(step, batch, loss)
        if self.settings.clip:
            clip_grads_with_norm_(dense, self.settings.clip, norm)
        lr = self.optimization.lr
        self.optimization.step()
        return StepResult(loss, means, float(norm), lr, batch.tokens, stop_signal)

    def _parts(self, batch: Batch, step: int) -> Iterator[Batch]:
        """Cut this process's parts out of the batch, each with its own dropout."""
        rank, size, n_parts = self.processes.rank, self.processes.size, self.settings.accumulate
        for index in range(rank * n_parts, (rank + 1) * n_parts):
            part = batch.part(index, size * n_parts)
            seed_torch(self.settings.seed, "dropout", step, index)
            if any(part.weights.values()):
                yield part.to(self.hardware.device)

    def _agree(
        self,
        loss: float,
        sums: Mapping[str, float],
        weights: Mapping[str, float],
        asked_to_stop: Callable[[], int],
    ) -> tuple[float, dict[str, float], int]:
        """Sum gradients, loss and terms over all processes; return loss, means and stop signal."""
        self.processes.sum_gradients(self.optimization.dense)
        self.processes.sum_sparse_gradients(self.optimization.sparse)
        asked = [float(number == asked_to_stop()) for number in ASKING]
        numbers = self.processes.sum_small([loss, *sums.values(), *asked])
        totals, asked = numbers[1 : 1 + len(sums)], numbers[1 + len(sums) :]
        means = {
            name: total / weight
            for (name, weight), total in zip(weights.items(), totals, strict=True)
            if weight
        }
        signals = [number for number, count in zip(ASKING, asked, strict=True) if count]
        return numbers[0], means, signals[0] if signals else 0

    def _sparse_is_finite(self) -> bool:
        gradients = [p.grad for p in self.optimization.sparse if p.grad is not None]
        return all(bool(g._values().isfinite().all()) for g in gradients)

    def _explain(self, step: int, batch: Batch, loss: float) -> NonFiniteError:
        """Find the examples to blame, one by one; the batch is the same in every process."""
        guilty = [
            name for i, name in enumerate(batch.ids) if not self._is_finite(batch, i, step)
        ] or list(batch.ids)
        self.optimization.zero_gradients()
        what = (
            f"the loss is {loss}"
            if not math.isfinite(loss)
            else f"a gradient is not finite (the loss is {loss:.4g})"
        )
        shown = ", ".join(guilty[:SHOWN_IDS]) + (", …" if len(guilty) > SHOWN_IDS else "")
        return NonFiniteError(
            f"step {step}: {what}, from {len(guilty)} of the batch's {len(batch.ids)} examples:"
            f" {shown}. The weights are still those of step {step - 1}."
        )

    def _is_finite(self, batch: Batch, index: int, step: int) -> bool:
        self.optimization.zero_gradients()
        part = batch.part(index, len(batch.ids))
        seed_torch(self.settings.seed, "dropout", step, index)
        loss = 0.0
        if any(part.weights.values()):
            with self.hardware.autocast():
                terms = self.task.loss(part.to(self.hardware.device))
            sums = dict.fromkeys(batch.weights, 0.0)
            loss = _add_gradients(terms, part.weights, batch.weights, sums)
        gradients = [p.grad for p in self.optimization.dense if p.grad is not None]
        finite = math.isfinite(get_total_norm(gradients))
        return math.isfinite(loss) and finite and self._sparse_is_finite()


def _add_gradients(
    terms: Mapping[str, Term],
    weights: Mapping[str, float],
    denominators: Mapping[str, float],
    sums: dict[str, float],
) -> float:
    """Add a part's gradients to the parameters and its terms to ``sums``; return its loss."""
    total: Tensor | float = 0.0
    for name, term in terms.items():
        assert term.weight == weights[name], (
            f"the part weighs {weights[name]} for {name!r}, its loss says {term.weight}"
        )
        if term.weight:
            sums[name] += float(term.sum.detach())
            total = total + term.sum * (term.scale / denominators[name])
    assert isinstance(total, Tensor)
    total.backward()  # type: ignore[no-untyped-call]
    return float(total.detach())
