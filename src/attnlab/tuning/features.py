"""Head tuning on stored features: the frozen body reads every text once, and only the head trains.

The body runs without dropout here, so that a text has the same features in every epoch. peft and
transformers' Trainer run a frozen body with dropout on while they train, and the head then sees
noisy features; its own dropout, before the classifier, is on in both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnlab.data.batches import IGNORED, PaddedRows
from attnlab.data.epochs import Epochs
from attnlab.data.text_batches import TextBatch, TextRow
from attnlab.models.classification import CLASSES, TRAIN_ACCURACY, class_terms, for_each_text
from attnlab.models.encoder import SequenceClassifier
from attnlab.training.inference import inference
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.session import THREADS, Session
from attnlab.training.task import Evaluation, Term


@dataclass(frozen=True)
class FeatureRow:
    """What the body makes of a text, and the text's class."""

    id: str
    features: Float[Tensor, " D"]
    target: int
    n_tokens: int

    def __len__(self) -> int:
        """Count the tokens of the text, so that batches are those of the texts themselves."""
        return self.n_tokens


@dataclass(frozen=True)
class FeatureBatch(PaddedRows):
    """Features of some texts; implements ``training.task.Batch``."""

    features: Float[Tensor, "B D"]
    targets: Int[Tensor, " B"]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """The number of texts with a class."""
        return dict.fromkeys((CLASSES, TRAIN_ACCURACY), float((self.targets != IGNORED).sum()))

    @cached_property
    def tokens(self) -> int:
        """Tokens of the texts."""
        return int(self.lengths.sum())

    def part(self, index: int, of: int) -> "FeatureBatch":
        """Cut out a run of rows; all parts together are the batch."""
        size = len(self.ids)
        rows = slice(index * size // of, (index + 1) * size // of)
        return self.with_tensors(lambda tensor: tensor[rows], ids=self.ids[rows])


class HeadTraining:
    """A classifier's head and the features it learns from; implements ``training.task.Task``."""

    def __init__(
        self,
        model: SequenceClassifier,
        rows: Epochs[FeatureRow],
        *,
        evaluate: Callable[[], Evaluation | None] = lambda: None,
    ) -> None:
        self.model, self._rows, self._evaluate = model, rows, evaluate

    def batch(self, step: int) -> FeatureBatch:
        """Return the batch of a step, counted from 1."""
        return collate_features(self._rows.rows_of_step(step))

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs, or tokens of the texts, into steps."""
        return self._rows.steps_in(amount, unit)

    def evaluate(self) -> Evaluation | None:
        """Score the model with the function that the task was given."""
        return self._evaluate()

    def loss(self, part: FeatureBatch) -> Mapping[str, Term]:
        """Return the summed cross-entropy of the classes."""
        return class_terms(self.model.tell(part.features), part.targets, part.weights[CLASSES])

    def parameter_groups(self) -> ParameterGroups:
        """The classifier belongs with the embeddings: it is no matrix inside the model."""
        return ParameterGroups.of(self.model, embeddings=[self.model.output])


def encode_once(
    model: SequenceClassifier, rows: Sequence[TextRow], session: Session
) -> list[FeatureRow]:
    """Let the body read every text, without dropout and in the run's precision.

    Features depend on the number of threads, in rounding, and a resumed run makes them again: so
    the threads are decided here, before they are measured.
    """
    torch.set_num_threads(session.resolve_once(THREADS, torch.get_num_threads))
    session.hardware.place(model)

    def features(batch: TextBatch) -> Float[Tensor, "B D"]:
        return model.summary(batch.tokens, batch.types, batch.padding)

    with inference(model, session.hardware):
        device = session.hardware.device
        found = for_each_text(features, rows, device=device, what="encoding every text once")
    return [
        FeatureRow(row.id, vector, row.targets[0], len(row))
        for row, vector in zip(rows, found, strict=True)
    ]


def collate_features(rows: Sequence[FeatureRow]) -> FeatureBatch:
    """Put rows together."""
    return FeatureBatch(
        ids=[row.id for row in rows],
        lengths=torch.tensor([row.n_tokens for row in rows]),
        features=torch.stack([row.features for row in rows]),
        targets=torch.tensor([row.target for row in rows]),
    )


def feature_probabilities(
    model: SequenceClassifier, rows: Sequence[FeatureRow]
) -> Float[Tensor, "N C"]:
    """Return how likely each class is for each text, as ``class_probabilities`` does."""
    batch = collate_features(rows).to(next(model.parameters()).device)
    return model.tell(batch.features).cpu().double().softmax(-1)
