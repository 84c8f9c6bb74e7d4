"""How many of the rows that a finished run has learned from its model gets right.

The training accuracies in a run's metrics are those of each batch before it was learned from, with
dropout. Here the finished model classifies all training rows once more, as it classifies dev.
"""

import json
from typing import Any

from rich.console import Console

from attnlab.recipes.classify.settings import ClassifySettings, PredictSettings
from attnlab.recipes.classify.texts import read_texts
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import replace_file


def train_accuracy(
    run: Run, settings: ClassifySettings, *, place: RunPlace, console: Console
) -> dict[str, Any]:
    """Return the accuracy on the rows that were trained on, with its interval and how many."""
    rows = place.root / f"{place.name}.jsonl"
    place.root.mkdir(parents=True, exist_ok=True)
    replace_file(rows, training_rows(settings).encode())
    asked = PredictSettings(run=str(run.path.absolute()), texts=str(rows.absolute()))
    answered = find_job("classify-predict").run(asked, place=place, console=console)
    (score,) = answered.record["scores"].values()
    return {key: score[key] for key in ("value", "interval", "n")}


def training_rows(settings: ClassifySettings) -> str:
    """Return the training texts as JSON lines: without what is set aside as dev or test."""
    fields = ("text", "pair", "label")
    kept = (
        {name: value for name in fields if (value := getattr(example, name)) is not None}
        for example in read_texts(settings).train
    )
    return "".join(json.dumps(row) + "\n" for row in kept)
