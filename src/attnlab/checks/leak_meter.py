"""What the leak meter reads: a model in float64, and what another future changes before a cut."""

import copy
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Change:
    """What another future changes before one cut."""

    cut: int
    """First position that was drawn again."""
    largest: float
    """Of an output; NaN if the model returns NaN."""
    reached: int
    """Position of the largest change."""
    rise: float | None
    """Of the next token's log-loss, in bits; None where nothing is predicted."""


@dataclass(frozen=True)
class Meter:
    """Texts, other tokens for their ends, and the model's outputs for the texts as they are."""

    forward: Callable[[Tensor], Tensor]
    inputs: Tensor
    other: Tensor
    outputs: Tensor
    targets: Tensor | None = None
    """The tokens to predict."""

    def first_row(self) -> "Meter":
        """Return a meter for the first text only.

        Its outputs are computed again: those of a larger batch may be rounded in another way.
        """
        targets = None if self.targets is None else self.targets[:1]
        inputs, other = self.inputs[:1], self.other[:1]
        return Meter(self.forward, inputs, other, self.forward(inputs), targets)

    def at(self, cut: int) -> Change:
        """Compare the outputs before a cut with those of another future."""
        changed = self.forward(torch.cat([self.inputs[:, :cut], self.other[:, cut:]], dim=1))
        change = (changed - self.outputs)[:, :cut].abs().amax(dim=(0, 2))
        return Change(cut, float(change.max()), int(change.argmax()), self._rise(cut, changed))

    def _rise(self, cut: int, changed: Tensor) -> float | None:
        if self.targets is None:
            return None
        before, after = (
            out[:, cut - 1].log_softmax(-1).gather(1, self.targets[:, cut, None])
            for out in (self.outputs, changed)
        )
        return float((before - after).mean()) / math.log(2)


def in_float64(model: nn.Module) -> nn.Module:
    """Copy a model for evaluation on the processor, without copying tables that are only looked up.

    Such a table may hold most of a model's numbers. Its rows are widened as they are read, which
    gives the same numbers.
    """
    tables = _lookup_tables(model)
    instead: dict[int, Any] = {id(table.weight): nn.Parameter(torch.empty(0)) for table in tables}
    exact = copy.deepcopy(model, instead).to("cpu", torch.float64).eval()
    for table, copied in zip(tables, _lookup_tables(exact), strict=True):
        copied.weight = nn.Parameter(table.weight.detach().cpu(), requires_grad=False)
        copied.register_forward_hook(lambda _module, _places, rows: rows.double())
    return exact


def _lookup_tables(model: nn.Module) -> list[nn.Embedding]:
    """Return the tables with sparse gradients that nothing shares and no look-up changes."""
    owners = Counter(id(weight) for _, weight in model.named_parameters(remove_duplicate=False))
    return [
        part
        for part in model.modules()
        if isinstance(part, nn.Embedding)
        and part.sparse
        and part.max_norm is None  # otherwise a look-up shortens the row
        and owners[id(part.weight)] == 1
    ]
