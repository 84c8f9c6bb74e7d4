"""The input of the classification lab: labelled texts by split, classes, unlabelled text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attnlab.assets.datasets import dataset_file, get_dataset, has_split
from attnlab.data.classes import check_labels, class_names, set_aside, stratified
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.text_files import read_lines
from attnlab.errors import UserError
from attnlab.randomness import rng
from attnlab.recipes.classify.settings import ClassifySettings, PredictSettings
from attnlab.recipes.closing import Splits
from attnlab.runs.directory import RECORD

BY_HEART = "the training texts themselves"


@dataclass(frozen=True)
class ClassifyTexts:
    """All that is read from files; the evaluation splits are never trained on."""

    train: Sequence[Example]
    eval_splits: Mapping[str, Sequence[Example]]
    """By split: dev, test."""
    classes: Sequence[str]
    unlabelled: Sequence[str]
    notes: Mapping[str, str]
    """What a reader should know of a split, such as that it was set aside."""

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
    found = {
        split: dataset_file(reference, split) for split, reference in references(settings).items()
    }
    if settings.masked.alpha and settings.masked.text:
        found["unlabelled"] = Path(settings.masked.text)
    if settings.resume_from:
        found["resume_from"] = Path(settings.resume_from) / RECORD
    return found


def fetch_texts(settings: ClassifySettings) -> None:
    """Fetch the datasets that the settings name; a file that is not there is refused."""
    for reference in set(references(settings).values()):
        get_dataset(reference)


def references(settings: ClassifySettings) -> dict[str, str]:
    """Return the file or dataset of every split; a dataset may bring its own dev and test."""
    own = {
        split: settings.train if has_split(settings.train, split) else ""
        for split in ("dev", "test")
    }
    given = {
        "train": settings.train,
        "dev": settings.dev or own["dev"],
        "test": settings.test or own["test"],
    }
    return {split: reference for split, reference in given.items() if reference}


def refuse_unused_share(settings: ClassifySettings) -> None:
    """Refuse to set a share aside as dev or test where there is one already."""
    for split, usual in (("dev", ClassifySettings.dev_share), ("test", 0)):
        share = getattr(settings, f"{split}_share")
        given = references(settings).get(split)
        if given and share not in (0, usual):
            own = getattr(settings, split)
            whose = f"{split} is {own}" if own else f"{given} brings its own {split}"
            raise UserError(
                f"{split}_share = {share:g} sets training texts aside as {split}, but {whose}."
                " Leave one of them out."
            )


def refuse_unused_splits(settings: ClassifySettings) -> None:
    """Refuse to learn some texts by heart and to name others to evaluate on."""
    if not settings.overfit:
        return
    for name in ("dev", "test", "test_share", "labels"):
        if value := getattr(settings, name):
            raise UserError(
                f"overfit = {settings.overfit} learns and asks the same texts, so that {name} ="
                f" {value} has no effect. Leave one of them out."
            )


def column_names(settings: ClassifySettings | PredictSettings) -> dict[str, str]:
    """Return what the user says that the files call text, label and pair."""
    given = {
        "text": settings.text_column,
        "label": settings.label_column,
        "pair": settings.pair_column,
    }
    named = {field: name for field, name in given.items() if name}
    if named and settings.columns:
        flags = ", ".join(f"--{field}-column" for field in named)
        raise UserError(
            f"--columns and {flags} exclude each other: --columns is for files without a header,"
            " the others for files with one."
        )
    return named


def read_texts(settings: ClassifySettings) -> ClassifyTexts:
    """Read the files that the settings name; a label that training does not have is refused."""
    files = files_of(settings)
    read = partial(read_labelled, columns=settings.columns, named=column_names(settings))
    train = read(files["train"], labelled=True)
    classes = class_names(train)
    asked: dict[str, Sequence[Example]] = {}
    for split in ("dev", "test"):
        if split in files:
            asked[split] = read(files[split], labelled=split == "dev")
            check_labels(asked[split], classes)
            check_pairs(asked[split], has_pairs=train[0].pair is not None)
    notes = {}
    for split, share in (("test", settings.test_share), ("dev", settings.dev_share)):
        if split not in files and share:
            # whatever the seed of training: runs that differ in it are compared on the same texts
            train, aside = set_aside(train, share, generator=rng(0, split))
            if aside:
                asked = {split: aside, **asked}
                source = f"{_in_words(share)} of {Path(settings.train).name}"
                notes[split] = f"{source} set aside, not trained on"
    if not settings.read_test:
        asked.pop("test", None)
    if settings.overfit:
        train = stratified(train, settings.overfit, generator=rng(0, "overfit"))
        return ClassifyTexts(train, {"dev": train}, classes, [], {"dev": BY_HEART})
    if settings.labels:
        generator = rng(settings.training.seed, "labels")
        train = stratified(train, settings.labels, generator=generator)
    unlabelled = read_lines(files["unlabelled"]) if "unlabelled" in files else []
    return ClassifyTexts(train, asked, classes, unlabelled, notes)


def check_pairs(examples: Sequence[Example], *, has_pairs: bool) -> None:
    """Refuse single texts for a model of pairs, and pairs for a model of single texts."""
    if (examples[0].pair is not None) != has_pairs:
        there, learned = ("one text", "two") if has_pairs else ("two texts", "one")
        raise UserError(
            f"{examples[0].place}: an example is {there} here, but was {learned} in training. Give"
            " a file with the same columns."
        )


def _in_words(share: float) -> str:
    return "a tenth" if share == 0.1 else f"{100 * share:g} %"


def _ledger_row(text: Example | str) -> dict[str, str]:
    if isinstance(text, str):
        return {"text": _one_spaced(text), "pair": ""}
    row = {"text": _one_spaced(text.text), "pair": _one_spaced(text.pair or "")}
    return row if text.label is None else {**row, "label": text.label}


def _one_spaced(text: str) -> str:
    """Write a text with single spaces: one of several lines is one line in unlabelled text."""
    return " ".join(text.split())
