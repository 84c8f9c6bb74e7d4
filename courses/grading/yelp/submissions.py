"""Whole submissions with one mistake each, to test that the grader catches it by name.

``right`` writes the four runs of a right submission; a mistake then changes one thing.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grading.mistakes import Mistake, edit, replace

N_TEXTS = 40
TEXTS = [f"review number {i}" for i in range(N_TEXTS)]
LABELS = [str(i % 5 + 1) for i in range(N_TEXTS)]
RUNS = {
    "runs/all": (500, 0.0),
    "runs/joint": (500, 0.5),
    "runs/few": (50, 0.0),
    "runs/few_joint": (50, 0.5),
}
"""Where they are: labelled texts, and alpha."""
TEST = "predictions/test.jsonl"


def labels_file() -> str:
    """Return the test set with its labels."""
    return "".join(f"{label},{text}\n" for label, text in zip(LABELS, TEXTS, strict=True))


def right(folder: Path) -> None:
    """Write runs of which three quarters of the predictions are right."""
    for name, (n_train, alpha) in RUNS.items():
        write_run(folder / name, n_train=n_train, alpha=alpha, dev=0.7)
    write_run(folder / "runs" / "tried", n_train=500, alpha=0.0, dev=0.6)


def write_run(folder: Path, *, n_train: int, alpha: float, dev: float) -> None:
    """Write what the grader reads of a run."""
    masked = {"text": "unlabeled.txt" if alpha else "", "alpha": alpha}
    scores = {"dev": {"value": dev}, "test": {"value": 0.75}}
    record = {"scores": scores, "ledger": {"splits": {"train": {"n": n_train}}}}
    answers = [
        {
            "input": text,
            "gold": label,
            "prediction": label if i % 4 else "1" if label > "1" else "2",
        }
        for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    (folder / "predictions").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"settings": {"masked": masked}}))
    (folder / "record.json").write_text(json.dumps(record))
    (folder / TEST).write_text("".join(f"{json.dumps(row)}\n" for row in answers))


def answer(name: str, change: Callable[[int, dict[str, Any]], dict[str, Any]]) -> Any:
    """Return what changes every prediction of a run."""

    def changed(lines: list[str]) -> list[str]:
        return [json.dumps(change(i, json.loads(line))) for i, line in enumerate(lines)]

    return edit(f"{name}/{TEST}", changed)


def leave_out(name: str) -> Callable[[Path], object]:
    """Return what leaves a run out."""
    return lambda folder: shutil.rmtree(folder / name)


FILES = (
    Mistake(
        "no run with 50 labels",
        leave_out("runs/few"),
        "3.3",
        "50 labels",
        "there is no such run. Run the command of classifier.py --labels 50.",
    ),
    Mistake(
        "no joint run",
        leave_out("runs/joint"),
        "3.2",
        "all labels, joint",
        "there is no such run. Run the command of classifier_mlm.py.",
    ),
    Mistake(
        "joint training without masked tokens",
        replace("runs/few_joint/config.json", '"alpha": 0.5', '"alpha": 0.0'),
        "3.3",
        "50 labels, joint",
        "there is no such run",
    ),
    Mistake(
        "no predictions",
        lambda folder: (folder / "runs/joint" / TEST).unlink(),
        "3.2",
        "all labels, joint",
        "runs/joint has no predictions/test.jsonl: put test.csv into --data_dir",
    ),
    Mistake(
        "half a file",
        edit("runs/joint/record.json", lambda lines: [lines[0][:20]]),
        "3.2",
        "all labels, joint",
        "runs/joint cannot be read: JSONDecodeError",
    ),
    Mistake(
        "a better score than there is",
        replace("runs/all/record.json", "0.75", "0.95"),
        "2 score",
        "all labels: record",
        "it says 95.00%, the predictions give 75.00%",
    ),
    Mistake(
        "predictions of another file",
        edit(f"runs/few/{TEST}", lambda lines: lines[:-1]),
        "3.3",
        "50 labels: record",
        "runs/few has 39 predictions, the labels are of 40",
    ),
    Mistake(
        "predictions in another order",
        edit(f"runs/few/{TEST}", lambda lines: [*lines[1:], lines[0]]),
        "3.3",
        "50 labels: record",
        "runs/few has predictions of other texts: number 1 is 'review number 1'",
    ),
)
COLLAPSED = answer("runs/all", lambda _, row: {**row, "prediction": "3"})
"""Always the same class: both the score and the record are wrong then, too."""
