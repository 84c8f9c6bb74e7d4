"""A run epoch by epoch: loss and accuracy on train and dev, and which epoch was best on each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from attnlab.evaluation.intervals import percent
from attnlab.report.document import Block, Heading, Sentences, Table
from attnlab.runs.directory import Run

KEYS = ("train_loss", "train_accuracy", "dev_loss", "dev_accuracy")
LOGGED_AS = {"train_loss": "classification"}
"""What the log calls a quantity, where it has another name."""
MOST_EPOCHS = 40
"""More rows than that are no table to read: the curves show them."""


@dataclass(frozen=True)
class Epoch:
    """One pass over the training texts; a quantity that was not measured in it is missing."""

    number: int
    values: Mapping[str, float]


def epochs_of(lines: Sequence[Mapping[str, Any]], per_epoch: float) -> list[Epoch]:
    """Sum a log up: training is averaged over an epoch's steps, dev is that of its last evaluation.

    Training values are those of each batch before it was learned from, with dropout.
    """
    found: dict[int, dict[str, list[float]]] = {}
    for line in lines:
        values = found.setdefault(ceil(line["step"] / per_epoch), {})
        for key in KEYS:
            value = line.get(LOGGED_AS.get(key, key))
            if isinstance(value, int | float):
                values.setdefault(key, []).append(value)
    return [
        Epoch(number, {key: _summed_up(key, series) for key, series in values.items()})
        for number, values in sorted(found.items())
    ]


def epoch_blocks(run: Run) -> Iterator[Block]:
    """Show the epochs of a classifier; nothing for a run without, or with too many."""
    per_epoch = run.record.get("steps_per_epoch")
    lines = run.metrics()
    if not per_epoch or not any("train_accuracy" in line for line in lines):
        return
    epochs = epochs_of(lines, per_epoch)
    if not 1 < len(epochs) <= MOST_EPOCHS:
        return
    yield Heading("Epoch by epoch")
    names = [key.replace("_", " ") for key in KEYS]
    rows = [[f"{epoch.number}", *(_shown(key, epoch) for key in KEYS)] for epoch in epochs]
    yield Table(["epoch", *names], rows)
    yield Sentences([*_best(epochs), "On train, a batch counts before it is learned from."])


def _best(epochs: Sequence[Epoch]) -> Iterator[str]:
    """Say which epoch had the highest accuracy on train, and which on dev; the first of equals."""
    for split in ("train", "dev"):
        key = f"{split}_accuracy"
        measured = [epoch for epoch in epochs if key in epoch.values]
        if measured:
            best = max(measured, key=lambda epoch: epoch.values[key])
            yield f"Best epoch on {split}: {best.number}, {percent(best.values[key], 1)}."


def _summed_up(key: str, series: Sequence[float]) -> float:
    return series[-1] if key.startswith("dev") else sum(series) / len(series)


def _shown(key: str, epoch: Epoch) -> str:
    value = epoch.values.get(key)
    if value is None:
        return "–"
    return percent(value, 1) if key.endswith("accuracy") else f"{value:.3f}"
