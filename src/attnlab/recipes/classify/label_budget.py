"""Does learning the language of unlabelled text help a classifier that has few labels?

Every cell is a run of ``attnlab classify train``: a number of labels, a weight of the masked
tokens' loss, a seed. The cells of a seed learn from the same labelled texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from rich.console import Console

from attnlab.data.labelled_text import read_labelled
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import ClassifySettings, LabelBudgetSettings
from attnlab.recipes.classify.train import run_train
from attnlab.recipes.studying import open_study
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study
from attnlab.training.length import parse_length

JOB = "classify-label-budget"
TITLE = "How many labels does it take?"


@dataclass(frozen=True)
class Cell:
    """One run of the study."""

    name: str
    settings: ClassifySettings


def run_label_budget(settings: LabelBudgetSettings, *, place: RunPlace, console: Console) -> Study:
    """Train every cell that is not done yet, and return the study."""
    n_texts = _check(settings)
    with open_study(JOB, settings, place, title=TITLE, notes=[_note(settings)]) as study:
        for cell in cells(settings, n_texts):
            run_train(cell.settings, place=study.place(cell.name), console=console)
            study.take_in(cell.name)
    return Study.open(study.path)


def cells(settings: LabelBudgetSettings, n_texts: int) -> Iterator[Cell]:
    """Yield the runs, those to be compared next to each other."""
    base = settings.base
    for labels, alpha, seed in product(settings.labels, settings.alphas, range(settings.seeds)):
        n_labels = labels or n_texts
        length = _length(base.training.length, n_labels, settings)
        training = replace(base.training, length=length, seed=base.training.seed + seed)
        masked = replace(base.masked, alpha=alpha)
        name = f"labels-{labels or 'all'}-alpha-{alpha:g}-seed-{training.seed}"
        yield Cell(name, replace(base, labels=labels, masked=masked, training=training))


def _length(length: str, n_labels: int, settings: LabelBudgetSettings) -> str:
    """Return how long a run is: as asked, or longer if the texts are few."""
    amount, unit = parse_length(length)
    per_epoch = -(-n_labels // settings.base.batch_size)
    if unit != "epochs" or amount * per_epoch >= settings.least_steps:
        return length
    return f"{settings.least_steps} steps"


def _check(settings: LabelBudgetSettings) -> int:
    """Refuse what would fail in a late cell now; return how many training texts there are."""
    if any(settings.alphas) and not settings.base.masked.text:
        told = ", ".join(f"{alpha:g}" for alpha in settings.alphas)
        raise UserError(
            f"alphas = {told} needs unlabelled text to learn from: give --mlm-text FILE, or"
            " --alpha 0."
        )
    for name, values in (("labels", settings.labels), ("alphas", settings.alphas)):
        if len(set(values)) < len(values):
            raise UserError(f"{name} = {', '.join(map(str, values))}: a number stands there twice.")
    n_texts = len(read_labelled(Path(settings.base.train), labelled=True))
    if max(settings.labels) > n_texts:
        raise UserError(
            f"labels = {max(settings.labels)} is more than the {n_texts:,} texts of"
            f" {settings.base.train}. Choose fewer, or all."
        )
    return n_texts


def _note(settings: LabelBudgetSettings) -> str:
    return (
        "alpha is the weight of filling in masked tokens of unlabelled text; 0 learns the classes"
        f" alone. A run has {settings.base.training.length}, or {settings.least_steps} steps if"
        " that is more. The runs of a seed learn from the same labelled texts."
    )
