"""What the classification lab reads: labelled texts by split, their classes, unlabelled text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.data.classes import check_labels, class_names, stratified
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.text_files import read_lines
from attnlab.errors import UserError
from attnlab.evaluation.ledger import split_ledger
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.runs.files import sha256_of_files
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

    @property
    def has_pairs(self) -> bool:
        """Whether an example is two texts."""
        return self.train[0].pair is not None

    def ledger(self) -> dict[str, Any]:
        """Say what each split holds, and what stands in two of them."""
        splits = {"train": self.train, **self.asked}
        rows = {
            name: [ledger_row(example) for example in examples] for name, examples in splits.items()
        }
        if self.unlabelled:
            # after train, so that it is what dev and test are looked for in
            rows = {
                "train": rows.pop("train"),
                "unlabelled": [{"text": _one_spaced(line), "pair": ""} for line in self.unlabelled],
                **rows,
            }
        return split_ledger(rows, inputs=["text", "pair"] if self.has_pairs else ["text"])


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
    train = read_labelled(files["train"], labelled=True, columns=settings.columns)
    classes = class_names(train)
    asked: dict[str, Sequence[Example]] = {}
    for split in ("dev", "test"):
        if split in files:
            asked[split] = read_labelled(
                files[split], labelled=split == "dev", columns=settings.columns
            )
            check_labels(asked[split], classes)
            check_pairs(asked[split], has_pairs=train[0].pair is not None)
    if settings.labels:
        generator = rng(settings.training.seed, "labels")
        train = stratified(train, settings.labels, generator=generator)
    unlabelled = read_lines(files["unlabelled"]) if "unlabelled" in files else []
    return Texts(train, asked, classes, unlabelled, sha256_of_files(files))


def check_pairs(examples: Sequence[Example], *, has_pairs: bool) -> None:
    """Refuse texts that are asked in another form than was learned."""
    if (examples[0].pair is not None) != has_pairs:
        there, learned = ("one text", "two") if has_pairs else ("two texts", "one")
        raise UserError(
            f"{examples[0].place}: an example is {there} here, but was {learned} in training. Give"
            " a file with the same columns."
        )


def ledger_row(example: Example) -> dict[str, str]:
    """Return what the split ledger compares of an example."""
    row = {"text": _one_spaced(example.text), "pair": _one_spaced(example.pair or "")}
    return row if example.label is None else {**row, "label": example.label}


def _one_spaced(text: str) -> str:
    """Write a text with single spaces: one of several lines is one line in unlabelled text."""
    return " ".join(text.split())
