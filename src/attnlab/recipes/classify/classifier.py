"""A model with its tokenizer and classes: how it reads a text, and how it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from attnlab.config import from_dict
from attnlab.data.batches import IGNORED
from attnlab.data.labelled_text import Example
from attnlab.data.text_batches import TextRow
from attnlab.data.text_tokenizer import TextTokenizer
from attnlab.errors import DamagedFileError, UserError
from attnlab.models.classification import class_probabilities
from attnlab.models.encoder import EncoderCheckpoint, SequenceClassifier, open_checkpoint
from attnlab.randomness import seed_torch
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.texts import ClassifyTexts
from attnlab.recipes.classify.tuned_model import load_tuned
from attnlab.runs.directory import CONFIG, RECORD, Run
from attnlab.runs.predictions import prediction_row
from attnlab.runs.shapes import shown


@dataclass(frozen=True)
class Classifier:
    """Reads texts and predicts the class of each."""

    model: SequenceClassifier
    tokenizer: TextTokenizer
    classes: Sequence[str]
    max_len: int

    def row(self, example: Example) -> TextRow:
        """Return what the model reads of a text, cut to its length, with its class if known."""
        tokens, types = self.tokenizer.row(example.text, example.pair, max_len=self.max_len)
        target = IGNORED if example.label is None else self.classes.index(example.label)
        return TextRow(example.id, tokens, types, [target])

    def answers(self, examples: Sequence[Example], rows: Sequence[TextRow]) -> list[dict[str, Any]]:
        """Predict each text's class with its probability, and the loss where the label is known."""
        return answers_of(self.model, examples, rows, classes=self.classes)


def answers_of(
    model: nn.Module,
    examples: Sequence[Example],
    rows: Sequence[TextRow],
    *,
    classes: Sequence[str],
) -> list[dict[str, Any]]:
    """Let any model that scores the classes of rows predict that of each text."""
    return predicted(examples, class_probabilities(model, rows), classes=classes)


def predicted(
    examples: Sequence[Example], probabilities: Float[Tensor, "N C"], *, classes: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the most likely class of each text, and the loss where the label is known."""
    found = []
    for example, likely in zip(examples, probabilities.tolist(), strict=True):
        best = max(range(len(likely)), key=likely.__getitem__)
        truth = None if example.label is None else classes.index(example.label)
        found.append(
            prediction_row(
                example.id,
                example.text if example.pair is None else f"{example.text}\n{example.pair}",
                gold=example.label,
                prediction=classes[best],
                confidence=likely[best],
                loss=None if truth is None else -log(max(likely[truth], 1e-300)),
                probabilities=dict(zip(classes, likely, strict=True)),
            )
        )
    return found


def new_classifier(
    checkpoint: EncoderCheckpoint,
    classes: Sequence[str],
    settings: ClassifySettings,
    *,
    fills_in: bool,
) -> tuple[Classifier, list[str]]:
    """Put a classifier on a pretrained body; also return the weights the checkpoint lacks."""
    tokenizer = checkpoint.read_tokenizer()
    seed_torch(settings.training.seed, "weights")
    model, fresh = checkpoint.new_model(classes, pooler=settings.pooler, fills_in=fills_in)
    return Classifier(model, tokenizer, classes, settings.max_len), fresh


def load_classifier(run: Run) -> Classifier:
    """Make the classifier of a finished run again."""
    if not run.finished or not (run.path / MODEL).is_dir():
        raise UserError(f"{run.path} is not a finished run of attnlab classify train.")
    run.refuse_missing(f"{MODEL}/")
    settings = from_dict(ClassifySettings, run.config["settings"], origin=str(run.path / CONFIG))
    checkpoint, classes = open_checkpoint(run.path / MODEL), run.recorded("classes")
    if checkpoint.classes != tuple(classes):
        raise DamagedFileError(
            f"{run.path}: {MODEL}/config.json has the classes {shown(list(checkpoint.classes))},"
            f" but {RECORD} has {shown(classes)}."
        )
    if checkpoint.max_len is not None and settings.max_len > checkpoint.max_len:
        raise DamagedFileError(
            f"{run.path / CONFIG}: settings.max_len is {settings.max_len}, but the model has"
            f" {checkpoint.max_len} positions."
        )
    classifier, fresh = new_classifier(checkpoint, classes, settings, fills_in=False)
    if fresh:
        raise DamagedFileError(f"{run.path / MODEL} lacks {', '.join(fresh)}.")
    load_tuned(classifier.model, settings.tuning, run.path / MODEL)
    return classifier


def check_fits(
    checkpoint: EncoderCheckpoint, settings: ClassifySettings, texts: ClassifyTexts
) -> None:
    """Refuse texts that a model has no positions or token types for, before step 1."""
    checkpoint.need_memory()
    lengths = {"max_len": settings.max_len}
    if texts.unlabelled:
        lengths["masked.block"] = settings.masked.block
        _refuse_masked(checkpoint)
    for name, length in lengths.items():
        if checkpoint.max_len is not None and length > checkpoint.max_len:
            raise UserError(
                f"{name} = {length} is more than the {checkpoint.max_len} positions of"
                f" {checkpoint.folder}. Choose at most {checkpoint.max_len}."
            )
    if not checkpoint.tells_pairs_apart and any(example.pair for example in texts.train):
        raise UserError(
            f"{texts.train[0].place}: the texts come in pairs, but {checkpoint.folder} has only"
            " one token type, so it cannot tell the two texts apart."
        )


def _refuse_masked(checkpoint: EncoderCheckpoint) -> None:
    if not checkpoint.fills_in:
        raise UserError(
            f"masked text is learned alongside by BERT only, and {checkpoint.folder} is none. Leave"
            " the unlabelled text out, or choose a BERT."
        )
