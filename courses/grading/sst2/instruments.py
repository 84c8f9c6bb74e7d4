"""What a submission's code is run on in the place of its other parts, and what watches it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from attnlab.errors import UserError

KEYS = ("input_ids", "attention_mask", "label_encoding")
BATCH = 3


class Rows:
    """A Dataset that is right, in the place of a submission's; its batches say which rows they hold."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[str, int]:
        return f"row {self.rows[index]}", self.rows[index]

    @staticmethod
    def collate_fn(items: list[tuple[str, int]]) -> dict[str, list[int]]:
        """Return the rows."""
        return {"rows": [row for _, row in items]}


class ScriptedEpochs:
    """Training and evaluation whose results are known; the model's weight counts the epochs."""

    def __init__(
        self, loaders: Mapping[str, object], script: Mapping[str, list[tuple[float, float]]]
    ) -> None:
        self.loaders, self.script = loaders, script
        self.model = nn.Linear(1, 1)
        nn.init.zeros_(self.model.weight)
        self.calls: list[tuple[str, str]] = []

    def train_one_epoch(self, *given: object, **named: object) -> tuple[float, float]:
        """Stand in for a submission's, whatever else it takes."""
        self._note("train", [*given, *named.values()])
        with torch.no_grad():
            self.model.weight += 1
        return self._result("train")

    def evaluation(self, *given: object, **named: object) -> tuple[float, float]:
        """Stand in for a submission's, whatever else it takes."""
        return self._result(self._note("evaluate", [*given, *named.values()]))

    def _note(self, what: str, given: list[object]) -> str:
        """Write down which split it was called with."""
        names = [name for name, loader in self.loaders.items() if any(loader is g for g in given)]
        name = names[0] if names else "unknown"
        self.calls.append((what, name))
        return name

    def _result(self, name: str) -> tuple[float, float]:
        epochs = self.script.get(name, self.script["dev"])
        loss, accuracy = epochs[(round(self.model.weight.item()) - 1) % len(epochs)]
        return loss, accuracy


def rows_of(batch: Any) -> list[int]:
    """Return the rows of a batch, if collate_fn has made it."""
    if not isinstance(batch, dict) or "rows" not in batch:
        raise UserError("the DataLoader does not call collate_fn: give it collate_fn=")
    rows: list[int] = batch["rows"]
    return rows


def small_model(folder: str) -> Any:
    """Read the model that all submissions get, in float64."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    read = transformers.AutoModelForSequenceClassification.from_pretrained
    return read(folder, num_labels=2).double()


def known_loader(rows: list[dict[str, Any]]) -> DataLoader[Any]:
    """Return a loader of sentences that are tokens already; its last batch is smaller."""
    return DataLoader(rows, batch_size=BATCH, collate_fn=stack)  # type: ignore[arg-type]


def stack(rows: list[dict[str, Any]]) -> dict[str, Tensor]:
    """Make a batch of single sentences."""
    return {key: torch.tensor([row[key] for row in rows]) for key in KEYS}


def watch(model: nn.Module) -> list[tuple[bool, bool]]:
    """Return a list that every forward pass adds to: is it training, are gradients recorded?"""
    seen: list[tuple[bool, bool]] = []

    def note(module: nn.Module, *_: object) -> None:
        seen.append((module.training, torch.is_grad_enabled()))

    model.register_forward_pre_hook(note)
    return seen


def values_of(found: Any, n: int, what: str) -> Sequence[Any]:
    """Return what a function returned, if it is as many values as are asked for."""
    if not isinstance(found, tuple | list) or len(found) != n:
        seen = f"{len(found)} values" if isinstance(found, tuple) else f"a {type(found).__name__}"
        raise UserError(f"it returns {seen}: return {what}")
    return found


def flat(model: nn.Module) -> np.ndarray:
    """Return all parameters as one array."""
    return np.concatenate([p.detach().numpy().ravel() for p in model.parameters()])


def described(value: Any) -> dict[str, Any]:
    """Return a tensor's type and numbers; of anything else, what it is."""
    if not isinstance(value, Tensor):
        return {"type": f"a {type(value).__name__}"}
    return {"type": "tensor", "dtype": str(value.dtype), "values": value.tolist()}
