"""Does learning the language of unlabelled text help a classifier that has few labels?

Every cell is a run of ``attnlab classify train``: a number of labels, a weight of the masked
tokens' loss, a seed. The cells of a seed learn from the same labelled texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rich.console import Console

from attnlab.assets.models import find_model
from attnlab.data.classes import stratified
from attnlab.errors import UserError
from attnlab.models.bert_format import read_bert
from attnlab.recipes.classify.classifier import check_fits, read_words
from attnlab.recipes.classify.settings import ClassifySettings, LabelBudgetSettings
from attnlab.recipes.classify.texts import read_texts
from attnlab.recipes.classify.train import run_train, unlabelled_rows
from attnlab.recipes.studying import open_study
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study
from attnlab.training.length import parse_length
from attnlab.training.randomness import rng

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
    if not (settings.base.dev or settings.base.test):
        raise UserError("there is nothing to compare the runs on: give --dev or --test.")
    alpha = max(settings.alphas)
    whole = replace(settings.base, labels=0, masked=replace(settings.base.masked, alpha=alpha))
    texts = read_texts(whole)
    for labels in filter(None, settings.labels):
        stratified(texts.train, labels, generator=rng(0, "labels"))
    pretrained = read_bert(find_model(whole.model))
    check_fits(pretrained, whole, texts)
    if texts.unlabelled:
        unlabelled_rows(texts.unlabelled, read_words(pretrained), whole.masked)
    return len(texts.train)


def _note(settings: LabelBudgetSettings) -> str:
    length = settings.base.training.length
    if parse_length(length)[1] == "epochs":
        length += f", or {settings.least_steps} steps if that is more"
    return (
        "alpha is the weight of filling in masked tokens of unlabelled text; 0 learns the classes"
        f" alone. A run has {length}. The runs of a seed learn from the same labelled texts."
    )
