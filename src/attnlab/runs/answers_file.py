"""Answers in a file of the user's: a CSV or JSONL table, or one answer per line."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnlab.runs.files import replace_file
from attnlab.runs.predictions import Predictions


def write_answers(rows: Predictions, path: Path) -> None:
    """Write predictions to a file; its name decides the format."""
    match path.suffix.lower():
        case ".csv":
            text = _csv(rows)
        case ".jsonl":
            text = "".join(json.dumps(plain_answer(r), ensure_ascii=False) + "\n" for r in rows)
        case _:
            # one per line whatever they hold
            text = "".join(" ".join(str(r["prediction"]).splitlines()) + "\n" for r in rows)
    replace_file(path, text.encode())


def plain_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a user wants of a prediction; a classifier gives one probability per class."""
    pair = {"pair": row["pair"]} if "pair" in row else {}
    text = {"text": row["input"], **pair}
    if "probabilities" not in row:
        return {**text, "answer": row["prediction"], "confidence": row["confidence"]}
    return {**text, "label": row["prediction"], "probabilities": row["probabilities"]}


def _csv(rows: Predictions) -> str:
    flat = [_flat(plain_answer(row)) for row in rows]
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(flat[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return file.getvalue()


def _flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Give every class a column of its own."""
    by_class = {f"probability_{name}": p for name, p in answer.get("probabilities", {}).items()}
    return {key: value for key, value in answer.items() if key != "probabilities"} | by_class
