"""The input of the classification lab: labelled texts by split, classes, unlabelled text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.data.classes import check_labels, class_names, stratified
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.text_files import read_lines
from attnlab.errors import UserError
from attnlab.randomness import rng
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.closing import Splits


@dataclass(frozen=True)
class ClassifyTexts:
    """All that is read from files; the evaluation splits are never trained on."""

    train: Sequence[Example]
    eval_splits: Mapping[str, Sequence[Example]]
    """By split: dev, test."""
    classes: Sequence[str]
    unlabelled: Sequence[str]

    @property
    def has_pairs(self) -> bool:
        """Whether an example is two texts."""
        return self.train[0].pair is not None

    def splits(self) -> Splits:
        """Return the rows that the ledger compares."""
        rows: dict[str, Sequence[Example] | Sequence[str]] = {"train": self.train}
        if self.unlabelled:
            rows["unlabelled"] = self.unlabelled  # dev and test are looked for in it
        return text_splits(rows | dict(self.eval_splits), has_pairs=self.has_pairs)


def text_splits(
    splits: Mapping[str, Sequence[Example] | Sequence[str]], *, has_pairs: bool
) -> Splits:
    """Return texts as the ledger compares them, whatever their white space."""
    rows = {name: [_ledger_row(text) for text in texts] for name, texts in splits.items()}
    return Splits(rows, inputs=["text", "pair"] if has_pairs else ["text"])


def files_of(settings: ClassifySettings) -> dict[str, Path]:
    """Return the files that the settings name."""
    given = {
        "train": settings.train,
        "dev": settings.dev,
        "test": settings.test,
        "unlabelled": settings.masked.text if settings.masked.alpha else "",
    }
    return {name: Path(path) for name, path in given.items() if path}


def read_texts(settings: ClassifySettings) -> ClassifyTexts:
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
    return ClassifyTexts(train, asked, classes, unlabelled)


def check_pairs(examples: Sequence[Example], *, has_pairs: bool) -> None:
    """Refuse single texts for a model of pairs, and pairs for a model of single texts."""
    if (examples[0].pair is not None) != has_pairs:
        there, learned = ("one text", "two") if has_pairs else ("two texts", "one")
        raise UserError(
            f"{examples[0].place}: an example is {there} here, but was {learned} in training. Give"
            " a file with the same columns."
        )


def _ledger_row(text: Example | str) -> dict[str, str]:
    if isinstance(text, str):
        return {"text": _one_spaced(text), "pair": ""}
    row = {"text": _one_spaced(text.text), "pair": _one_spaced(text.pair or "")}
    return row if text.label is None else {**row, "label": text.label}


def _one_spaced(text: str) -> str:
    """Write a text with single spaces: one of several lines is one line in unlabelled text."""
    return " ".join(text.split())
