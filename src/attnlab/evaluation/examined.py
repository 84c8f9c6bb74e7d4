"""What was examined of a trained language model, by its own run or by one next to it."""

from collections.abc import Mapping
from typing import Any

from attnlab.attention.conditions import examined_name
from attnlab.runs.directory import RECORD, Run

AS_TRAINED, WITHOUT_FUTURE = "as_trained", "without_future"
"""Scores on the same windows: read as in training, and, for a model that sees the future, without
what follows them."""


def examined(run: Run) -> Mapping[str, Any]:
    """Return what was examined of a run's model; nothing if it was not examined."""
    path = run.path.parent / examined_name(run.name)
    record = Run.open(path).record if (path / RECORD).exists() else run.record
    found: Mapping[str, Any] = record.get("examined", {})
    return found
