"""One row of predictions/SPLIT.jsonl, the same in every lab."""

from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.runs.directory import Run

Predictions = Sequence[Mapping[str, Any]]
SHOWN_FIRST = ("test", "dev", "held_out")


def prediction_row(
    id: str,
    input: str,
    *,
    gold: str | None,
    prediction: str,
    confidence: float,
    loss: float | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Build a row: input, truth, prediction and confidence.

    ``gold`` and ``loss`` are left out where the truth is not known. ``more`` are a lab's own
    columns; ``probabilities`` (by class) and ``tokens`` (how many the loss is over) mean the same
    everywhere.
    """
    row: dict[str, Any] = {"id": id, "input": input}
    if gold is not None:
        row["gold"] = gold
    row |= {"prediction": prediction, "confidence": confidence}
    if gold is not None and loss is not None:
        row["loss"] = loss
    return row | more


def is_labelled(rows: Predictions) -> bool:
    """Say whether the truth of some rows is known."""
    return bool(rows) and "gold" in rows[0]


def column(rows: Predictions, name: str) -> list[Any]:
    """Return one column."""
    return [row[name] for row in rows]


def shown_split(run: Run, *, scored: bool = False) -> str | None:
    """Return the split whose answers a reader should see first, if a finished run has any.

    That is the scored file, where the run scored one; ``scored`` leaves out splits without a score.
    """
    record = run.record
    for split in (record.get("file_split"), *SHOWN_FIRST):
        if split and run.has_predictions(split) and (not scored or split in record["scores"]):
            return str(split)
    return None
