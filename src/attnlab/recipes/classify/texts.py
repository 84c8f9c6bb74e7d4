"""What the classification lab reads: labelled texts by split, their classes, unlabelled text."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.data.classes import check_labels, class_names, stratified
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.text_files import read_lines
from attnlab.evaluation.ledger import split_ledger
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.training.randomness import rng


@dataclass(frozen=True)
class Texts:
    """All that is read from files; those that are asked are never learned from."""

    train: Sequence[Example]
    asked: Mapping[str, Sequence[Example]]
    """By split: dev, test."""
    classes: Sequence[str]
    unlabelled: Sequence[str]
    sha256: Mapping[str, str]
    """Of every file."""

    def ledger(self) -> dict[str, Any]:
        """Say what each split holds, and what stands in two of them."""
        splits = {"train": self.train, **self.asked}
        has_pairs = any(example.pair for example in self.train)
        rows = {
            name: [ledger_row(example) for example in examples] for name, examples in splits.items()
        }
        if self.unlabelled:
            # after train, so that it is what dev and test are looked for in
            rows = {
                "train": rows.pop("train"),
                "unlabelled": [{"text": line} for line in self.unlabelled],
                **rows,
            }
        return split_ledger(rows, inputs=["text", "pair"] if has_pairs else ["text"])


def files_of(settings: ClassifySettings) -> dict[str, Path]:
    """Return the files that the settings name."""
    given = {
        "train": settings.train,
        "dev": settings.dev,
        "test": settings.test,
        "unlabelled": settings.masked.text if settings.masked.alpha else "",
    }
    return {name: Path(path) for name, path in given.items() if path}


def read_texts(settings: ClassifySettings) -> Texts:
    """Read the files that the settings name; a label that training does not have is refused."""
    files = files_of(settings)
    train = read_labelled(files["train"], labelled=True)
    classes = class_names(train)
    asked: dict[str, Sequence[Example]] = {}
    for split in ("dev", "test"):
        if split in files:
            asked[split] = read_labelled(files[split], labelled=split == "dev")
            check_labels(asked[split], classes)
    if settings.labels:
        generator = rng(settings.training.seed, "labels")
        train = stratified(train, settings.labels, generator=generator)
    unlabelled = read_lines(files["unlabelled"]) if "unlabelled" in files else []
    return Texts(train, asked, classes, unlabelled, sha256_of_files(files))


def sha256_of_files(files: Mapping[str, Path]) -> dict[str, str]:
    """Hash what the files hold."""
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def ledger_row(example: Example) -> dict[str, str]:
    """Return what the split ledger compares of an example."""
    return {"text": example.text, "pair": example.pair or "", "label": example.label or ""}
