"""Run directories written by hand, as finished runs leave them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.evaluation.accuracy import score_answers
from attnlab.evaluation.held_out_text import SPLIT as HELD_OUT_TEXT
from attnlab.evaluation.held_out_text import score_text
from attnlab.evaluation.ledger import row_hashes, split_ledger
from attnlab.recipes.closing import Splits, close_run
from attnlab.runs.directory import RECORD, Run, RunPlace
from attnlab.runs.predictions import prediction_row


def classifier_run(
    root: Path,
    name: str,
    *,
    gold: Sequence[str],
    predicted: Sequence[str],
    job: str = "classify",
    settings: dict[str, Any] | None = None,
    split: str = "test",
    train: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
) -> Run:
    """Write a finished run that answered ``predicted`` where ``gold`` was right."""
    run = Run.begin(job, settings or {"name": name, "seed": 0}, RunPlace(root, name))
    texts = texts or [f"example {i}" for i in range(len(gold))]
    rows = [
        {"id": text, "input": text, "gold": g, "prediction": p, "confidence": 0.5}
        for text, g, p in zip(texts, gold, predicted, strict=True)
    ]
    run.write_predictions(split, rows)
    asked = [{"text": text, "label": g} for text, g in zip(texts, gold, strict=True)]
    taught = [{"text": text, "label": "yes"} for text in train or ["only in train"]]
    run.write_rows(split, row_hashes(asked, inputs=["text"]))
    ledger = split_ledger({"train": taught, split: asked}, inputs=["text"])
    scores = {split: score_answers(gold, predicted, train_gold=gold)}
    run.finish({"scores": scores, "ledger": ledger})
    return run


def labelled_run(folder: Path, classes: Sequence[str], *, name: str = "c", n: int = 60) -> Run:
    """Write a finished classifier that takes every fourth example for one of the next class."""
    run = Run.begin("classify-train", {}, RunPlace(folder, name))
    rows = []
    for i in range(n):
        gold, other = classes[i % len(classes)], classes[(i + 1) % len(classes)]
        sure = 0.5 + 0.4 * i / n
        likely = {one: (1 - sure) / (len(classes) - 1) for one in classes}
        told = other if i % 4 == 0 else gold
        more: dict[str, Any] = {"probabilities": likely | {told: sure}}
        rows.append(
            prediction_row(f"{i}", f"text {i}", gold=gold, prediction=told, confidence=sure, **more)
        )
    compared = [{"text": row["input"]} for row in rows]
    splits = Splits({"dev": compared}, inputs=["text"])
    close_run(run, {"dev": rows}, splits=splits, classes=list(classes))
    return run


def perplexity_run(root: Path, name: str, losses: Sequence[float]) -> Run:
    """Write a finished language-model run with the loss of every example, ten tokens each."""
    run = Run.begin("knowledge", {"name": name, "seed": 0}, RunPlace(root, name))
    rows = [
        {"id": f"text {i}", "input": f"text {i}", "loss": loss, "tokens": 10}
        for i, loss in enumerate(losses)
    ]
    run.write_predictions("dev", rows)
    score = {"metric": "perplexity", "value": 1.0, "n": len(rows), "interval": [1.0, 1.0]}
    run.finish({"scores": {"dev": score}})
    return run


def text_run(
    root: Path,
    name: str,
    losses: Sequence[float],
    *,
    settings: dict[str, Any] | None = None,
    **found: Any,
) -> Run:
    """Write a finished language model with its loss on windows of 10 tokens, 40 characters each."""
    run = Run.begin("knowledge-pretrain", settings or {"name": name}, RunPlace(root, name))
    rows = [
        {"id": f"{i}", "input": f"text {i}", "loss": loss, "tokens": 10, "characters": 40}
        for i, loss in enumerate(losses)
    ]
    score = score_text(rows, guessing=1e6, repeats={"repeated": 0, "lines": 1, "shortest": 40})
    splits = Splits({HELD_OUT_TEXT: [{"text": row["input"]} for row in rows]}, inputs=["text"])
    close_run(run, {HELD_OUT_TEXT: rows}, splits=splits, scores={HELD_OUT_TEXT: score}, **found)
    return run


def seal_again(run: Run) -> None:
    """Write the manifest of a finished run anew: its files were changed on purpose."""
    run.finish(json.loads((run.path / RECORD).read_bytes()))


def answers(right: int, of: int) -> tuple[list[str], list[str]]:
    """Return gold and predicted labels with so many right."""
    gold = ["yes" if i % 3 else "no" for i in range(of)]
    wrong = {"yes": "no", "no": "yes"}
    return gold, [g if i < right else wrong[g] for i, g in enumerate(gold)]
