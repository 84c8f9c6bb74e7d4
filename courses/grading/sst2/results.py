"""Step 5: what A2S3_results.json says about the test set, and whether it can be true."""

import json
from pathlib import Path
from typing import Any

from grading.accuracy import accuracy_of
from grading.findings import Finding, judge

FILE = "A2S3_results.json"
WANTED = f"{FILE}: the test accuracy of the epoch that is best on validation"
ROUNDING = 1e-6


def grade(folder: Path) -> tuple[list[Finding], list[str]]:
    """Return the finding, and what the teacher should know about the run."""
    path = folder / FILE
    if not path.is_file():
        missing = f"there is no {FILE}: run the notebook to its end, and hand the file in"
        return [judge("record", WANTED, missing, "")], []
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        problem, seen, note = _problem(result), _seen(result), _note(result)
    except (OSError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        damaged = f"{FILE} cannot be read: {type(error).__name__}: {error}"
        return [judge("record", WANTED, damaged, "")], []
    return [judge("record", WANTED, problem, seen)], [note]


def _problem(result: dict[str, Any]) -> str | None:
    """Say what cannot be true."""
    accuracies = [line["validation_accuracy"] for line in result["history"]]
    best = result["best_epoch"]
    if accuracies[best - 1] < max(accuracies) or best < 1:
        first = accuracies.index(max(accuracies)) + 1
        return f"it says epoch {best}, but epoch {first} is best on validation"
    right = result["test_accuracy"] * result["test_rows"]
    if not 0 <= right <= result["test_rows"] or abs(right - round(right)) > ROUNDING * right + 1e-9:
        return f"no number of {result['test_rows']} sentences is {result['test_accuracy']}"
    return None


def _seen(result: dict[str, Any]) -> str:
    n = int(result["test_rows"])
    return accuracy_of(min(n, max(0, round(result["test_accuracy"] * n))), n)


def _note(result: dict[str, Any]) -> str:
    """Say what was trained, for the teacher who reads the report."""
    chosen = ("model", "train_rows", "batch_size", "learning_rate", "num_epochs", "best_epoch")
    return ", ".join(f"{name.replace('_', ' ')} {result[name]}" for name in chosen)
