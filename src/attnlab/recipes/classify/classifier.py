"""A model with its tokenizer and classes: how it reads a text, and how it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import nn

from attnlab.config import from_dict
from attnlab.data.batches import IGNORED
from attnlab.data.labelled_text import Example
from attnlab.data.text_batches import TextRow
from attnlab.data.wordpiece import WordPiece
from attnlab.errors import DamagedFileError, UserError
from attnlab.models.bert import BertForCLSMLM, BertForSequenceClassification
from attnlab.models.bert_format import Pretrained, load_pretrained, read_bert
from attnlab.models.classification import class_probabilities
from attnlab.models.parameter_counts import bert_parameters, need_memory_for
from attnlab.randomness import seed_torch
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.texts import ClassifyTexts
from attnlab.runs.directory import CONFIG, RECORD, Run
from attnlab.runs.predictions import prediction_row
from attnlab.runs.shapes import shown

PADDED_TO = 8
"""Embedding tables are sometimes rounded up to a multiple of it, for speed."""
MOST_PADDING = 128


@dataclass(frozen=True)
class Classifier:
    """Reads texts and predicts the class of each."""

    model: BertForSequenceClassification
    words: WordPiece
    classes: Sequence[str]
    max_len: int

    def row(self, example: Example) -> TextRow:
        """Return what the model reads of a text, cut to its length, with its class if known."""
        first = self.words.encode(example.text)
        second = None if example.pair is None else self.words.encode(example.pair)
        tokens, types = self.words.pair(first, second, max_len=self.max_len)
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
    found = []
    table = class_probabilities(model, rows).tolist()
    for example, row, likely in zip(examples, rows, table, strict=True):
        best = max(range(len(likely)), key=likely.__getitem__)
        truth = row.targets[0]
        found.append(
            prediction_row(
                example.id,
                example.text if example.pair is None else f"{example.text}\n{example.pair}",
                gold=example.label,
                prediction=classes[best],
                confidence=likely[best],
                loss=None if truth == IGNORED else -log(max(likely[truth], 1e-300)),
                probabilities=dict(zip(classes, likely, strict=True)),
            )
        )
    return found


def new_classifier(
    pretrained: Pretrained,
    classes: Sequence[str],
    *,
    max_len: int,
    fills_in: bool,
    pooler: bool,
    seed: int,
) -> tuple[Classifier, list[str]]:
    """Put a classifier on a pretrained body; also return the weights the checkpoint lacks."""
    words, size = read_words(pretrained), pretrained.size
    seed_torch(seed, "weights")
    kind = BertForCLSMLM if fills_in else BertForSequenceClassification
    model = kind(size, len(classes), pooler=pooler)
    if any(tensor.dtype == torch.float64 for tensor in pretrained.tensors.values()):
        model.double()  # or reading the weights would round them
    fresh = load_pretrained(model, pretrained, classes=classes)
    return Classifier(model, words, classes, max_len), fresh


def load_classifier(run: Run) -> Classifier:
    """Make the classifier of a finished run again."""
    if not run.finished or not (run.path / MODEL).is_dir():
        raise UserError(f"{run.path} is not a finished run of attnlab classify train.")
    run.refuse_missing(f"{MODEL}/")
    settings = from_dict(ClassifySettings, run.config["settings"], origin=str(run.path / CONFIG))
    pretrained, classes = read_bert(run.path / MODEL), run.recorded("classes")
    if pretrained.classes != tuple(classes):
        raise DamagedFileError(
            f"{run.path}: {MODEL}/config.json has the classes {shown(list(pretrained.classes))},"
            f" but {RECORD} has {shown(classes)}."
        )
    if settings.max_len > pretrained.size.max_len:
        raise DamagedFileError(
            f"{run.path / CONFIG}: settings.max_len is {settings.max_len}, but the model has"
            f" {pretrained.size.max_len} positions."
        )
    classifier, fresh = new_classifier(
        pretrained,
        classes,
        max_len=settings.max_len,
        fills_in=False,
        pooler=settings.pooler,
        seed=0,
    )
    if fresh:
        raise DamagedFileError(f"{run.path / MODEL} lacks {', '.join(fresh)}.")
    return classifier


def check_fits(pretrained: Pretrained, settings: ClassifySettings, texts: ClassifyTexts) -> None:
    """Refuse texts that a model has no positions or token types for, before step 1."""
    size = pretrained.size
    need_memory_for(bert_parameters(size), trains=True, origin=str(pretrained.folder))
    lengths = {"max_len": settings.max_len}
    if texts.unlabelled:
        lengths["masked.block"] = settings.masked.block
    for name, length in lengths.items():
        if length > size.max_len:
            raise UserError(
                f"{name} = {length} is more than the {size.max_len} positions of"
                f" {pretrained.folder}. Choose at most {size.max_len}."
            )
    if size.n_types < 2 and any(example.pair for example in texts.train):
        raise UserError(
            f"{texts.train[0].place}: the texts come in pairs, but {pretrained.folder} has only"
            " one token type, so it cannot tell the two texts apart."
        )


def read_words(pretrained: Pretrained) -> WordPiece:
    """Read the tokens of a checkpoint; they must be as many as its table has rows."""
    words = WordPiece.read(pretrained.vocabulary, lowercase=pretrained.lowercase)
    rows = pretrained.size.vocab_size
    is_padded = rows % PADDED_TO == 0 and 0 < rows - len(words) < MOST_PADDING
    if len(words) != rows and not is_padded:
        raise UserError(
            f"{pretrained.vocabulary} has {len(words):,} tokens, but the embedding table has"
            f" {rows:,} rows: they do not belong together. Put the model's own vocab.txt there."
        )
    return words
