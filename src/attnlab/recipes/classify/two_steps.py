"""What a probe runs in a process of its own: all that a training needs, and two of its steps.

``python -m attnlab.recipes.classify.two_steps SETTINGS.yaml PEAK.json``. Texts, model and tuning
are those of the real run. Batches are its longest rows, as is what it evaluates: no batch of the
real run takes more. Two steps, since an optimizer makes its tensors in the first.
"""

import json
import sys
import tempfile
from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnlab.cluster.watched import end_with_starter
from attnlab.config import resolve
from attnlab.console import Console
from attnlab.data.text_batches import TextRow
from attnlab.guard import guarded
from attnlab.models.classification import ASKED_AT_ONCE
from attnlab.recipes.classify.fine_tuning import FineTuning
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.classify.train import begin_fine_tuning, run_train
from attnlab.runs.directory import RunPlace
from attnlab.runs.machine import peak_memory_bytes
from attnlab.training.loop import TrainingState
from attnlab.training.session import Session
from attnlab.training.settings import ScheduleSettings
from attnlab.training.task import Task


@dataclass(frozen=True)
class Trial:
    """A fine-tuning that leaves no result."""

    fine_tuning: FineTuning

    def task(self) -> Task[Any]:
        """Return what the loop trains."""
        return self.fine_tuning.task()

    def close(self, state: TrainingState) -> None:
        """Leave the run as it is: its folder is about to go."""


def begin_on_longest(settings: ClassifySettings, session: Session) -> Trial:
    """Make all that a training of these settings needs, then leave out all but the longest rows."""
    fine = begin_fine_tuning(settings, session)
    train = longest(fine.rows["train"], settings.batch_size)
    rows: dict[str, Sequence[TextRow]] = {"train": [fine.rows["train"][i] for i in train]}
    if "dev" in fine.rows:
        dev = longest(fine.rows["dev"], ASKED_AT_ONCE)
        rows["dev"] = [fine.rows["dev"][i] for i in dev]
        examples = [fine.texts.eval_splits["dev"][i] for i in dev]
        fine.texts = replace(fine.texts, eval_splits={"dev": examples})
    fine.rows = rows
    return Trial(fine)


def longest(rows: Sequence[Sized], count: int) -> list[int]:
    """Return where the longest rows stand."""
    return sorted(range(len(rows)), key=lambda i: -len(rows[i]))[:count]


def main(config: str, result: str) -> None:
    """Train two steps, and write down the most memory that this process has held."""
    settings = resolve(ClassifySettings(), file=Path(config), flags={}, sets=())
    schedule = ScheduleSettings("constant")  # a warm-up may be longer than two steps
    training = replace(settings.training, length="2 steps", evaluate_every=0, schedule=schedule)
    with tempfile.TemporaryDirectory(dir=Path(result).parent) as folder:
        run_train(
            "classify-train",
            replace(settings, read_test=False, training=training),
            place=RunPlace(Path(folder), "probe"),
            console=Console(quiet=True),
            begin=begin_on_longest,
        )
    Path(result).write_text(json.dumps(peak_memory_bytes()))


if __name__ == "__main__":
    with guarded("attnlab"):
        end_with_starter()
        main(*sys.argv[1:])
