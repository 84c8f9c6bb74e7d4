"""Does masked language modelling on unlabelled text help a classifier with few labels?

Every cell is a run of ``attnlab classify train``: a number of labels, a weight of the masked
tokens' loss, a seed. The cells of a seed learn from the same labelled texts.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from attnlab.assets.models import find_model
from attnlab.data.classes import stratified
from attnlab.data.text_tokenizer import MaskingTokenizer
from attnlab.errors import UserError
from attnlab.models.encoder import open_checkpoint
from attnlab.randomness import rng
from attnlab.recipes.classify.classifier import check_fits
from attnlab.recipes.classify.settings import LabelBudgetSettings
from attnlab.recipes.classify.streams import unlabelled_rows
from attnlab.recipes.classify.texts import fetch_texts, read_texts
from attnlab.recipes.classify.train import need_texts_and_model
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.study import StudyOutcome
from attnlab.training.length import length_in_words, parse_length

TITLE = "How many labels does it take?"


def plan(settings: LabelBudgetSettings, finished: Finished) -> Sequence[Cell]:
    """Train once per number of labels, weight and seed; those to be compared follow each other."""
    if not finished.runs:
        _check(settings)
    base = settings.base
    n_texts = len(read_texts(replace(base, labels=0)).train)
    cells = []
    for labels, alpha, seed in product(settings.labels, settings.alphas, range(settings.seeds)):
        length = _length(base.training.length, labels or n_texts, settings)
        training = replace(base.training, length=length, seed=base.training.seed + seed)
        masked = replace(base.masked, alpha=alpha)
        weight = repr(alpha).removesuffix(".0")  # two that differ a little are two cells
        name = f"labels-{labels or 'all'}-alpha-{weight}-seed-{training.seed}"
        cell = replace(base, labels=labels, masked=masked, training=training)
        cells.append(Cell(name, "classify-train", cell))
    return cells


def close(settings: LabelBudgetSettings, finished: Finished) -> StudyOutcome:
    """Compare all runs."""
    return StudyOutcome(list(finished.runs), notes=[_note(settings)])


def _length(length: str, n_labels: int, settings: LabelBudgetSettings) -> str:
    """Return how long to train: as set, or longer if there are few texts."""
    amount, unit = parse_length(length)
    per_epoch = -(-n_labels // settings.base.batch_size)
    if unit != "epochs" or amount * per_epoch >= settings.least_steps:
        return length
    return f"{settings.least_steps} steps"


def _check(settings: LabelBudgetSettings) -> None:
    """Refuse now what would fail in a late cell."""
    need_texts_and_model(settings.base)
    if any(settings.alphas) and not settings.base.masked.text:
        listed = ", ".join(f"{alpha:g}" for alpha in settings.alphas)
        raise UserError(
            f"alphas = {listed} needs unlabelled text to learn from: give --mlm-text FILE, or"
            " --alpha 0."
        )
    for name, values in (("labels", settings.labels), ("alphas", settings.alphas)):
        if len(set(values)) < len(values):
            raise UserError(f"{name} = {', '.join(map(str, values))} lists a number twice.")
    fetch_texts(settings.base)
    alpha = max(settings.alphas)
    whole = replace(settings.base, labels=0, masked=replace(settings.base.masked, alpha=alpha))
    texts = read_texts(whole)
    if not texts.eval_splits:
        raise UserError("there is nothing to compare the runs on: give --dev or --test.")
    for labels in filter(None, settings.labels):
        stratified(texts.train, labels, generator=rng(0, "labels"))
    checkpoint = open_checkpoint(find_model(whole.model))
    check_fits(checkpoint, whole, texts)
    if texts.unlabelled:
        tokenizer = checkpoint.read_tokenizer()
        assert isinstance(tokenizer, MaskingTokenizer), "check_fits refuses the others"
        unlabelled_rows(texts.unlabelled, tokenizer, whole.masked)


def _note(settings: LabelBudgetSettings) -> str:
    length = length_in_words(settings.base.training.length)
    if parse_length(settings.base.training.length).unit == "epochs":
        least = length_in_words(f"{settings.least_steps} steps")
        length += f", or {least} if that is more"
    return (
        "alpha is the weight of the masked-token loss on unlabelled text; 0 trains the classifier"
        f" alone. Each run trains for {length}. The runs of a seed use the same labelled texts."
    )


LABEL_BUDGET = StudyPlan(TITLE, plan, close)
