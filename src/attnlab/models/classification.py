"""The training task of a classifier, optionally with masked language modelling."""

from collections.abc import Callable, Mapping, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.data.batches import IGNORED
from attnlab.data.epochs import Epochs
from attnlab.data.text_batches import JointBatch, TextBatch, TextRow, collate_texts
from attnlab.models.bert import BertForCLSMLM, FillsIn
from attnlab.models.encoder import SequenceClassifier
from attnlab.phases import phase
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.task import Evaluation, Term

CLASSES, MASKED = "classification", "masked"
"""What the two parts of the loss are called."""
TRAIN_ACCURACY = "train_accuracy"
"""The share of right classes in a step's own batch, before the step and with dropout."""
ASKED_AT_ONCE = 64


class Classification:
    """An encoder and the texts it learns from; implements ``training.task.Task``.

    The loss is ``classification + alpha · masked``. A stream that is shorter begins again.
    """

    def __init__(
        self,
        model: SequenceClassifier,
        labelled: Epochs[TextRow],
        *,
        unlabelled: Epochs[TextRow] | None = None,
        alpha: float = 0.0,
        evaluate: Callable[[], Evaluation | None] = lambda: None,
    ) -> None:
        self.model, self.alpha = model, alpha
        self._labelled, self._evaluate = labelled, evaluate
        self._streams: dict[str, Epochs[TextRow]] = {CLASSES: labelled}
        if unlabelled is not None:
            assert isinstance(model, BertForCLSMLM), "masked tokens need a head that predicts them"
            self._streams[MASKED] = unlabelled

    def batch(self, step: int) -> JointBatch:
        """Return the batch of a step, counted from 1: some texts of each stream."""
        streams = self._streams.items()
        batches = {name: collate_texts(rows.rows_of_step(step)) for name, rows in streams}
        return JointBatch(batches, measured={TRAIN_ACCURACY: CLASSES})

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs of the labelled texts, or tokens of all streams, into steps."""
        if unit == "epochs":
            return self._labelled.steps_in(amount, unit)
        a_step = sum(stream.tokens / stream.per_epoch for stream in self._streams.values())
        return amount / a_step

    def evaluate(self) -> Evaluation | None:
        """Score the model with the function that the task was given."""
        return self._evaluate()

    def loss(self, part: JointBatch) -> Mapping[str, Term]:
        """Return the summed cross-entropy of the classes, and of the masked tokens."""
        terms: dict[str, Term] = {}
        labelled, unlabelled = (part.streams.get(name) for name in (CLASSES, MASKED))
        if labelled and labelled.weight:
            read = self.model.summary(labelled.tokens, labelled.types, labelled.padding)
            scores = self.model.tell(read)
            terms |= class_terms(scores, labelled.targets[:, 0], labelled.weight)
        if unlabelled and unlabelled.weight:
            assert isinstance(self.model, BertForCLSMLM)
            total = masked_loss(self.model, unlabelled)
            terms[MASKED] = Term(total, unlabelled.weight, self.alpha)
        return terms

    def parameter_groups(self) -> ParameterGroups:
        """The classifier belongs with the embeddings: it is no matrix inside the model."""
        return ParameterGroups.of(self.model, embeddings=[self.model.output])


def masked_loss(model: FillsIn, batch: TextBatch, *, reduction: str = "sum") -> Tensor:
    """Return the loss of the masked tokens, summed or (``none``) one by one, row after row."""
    hidden = model.body(batch.tokens, batch.types, batch.padding)
    chosen = batch.targets != IGNORED  # the head is computed only there
    return F.cross_entropy(model.guess(hidden[chosen]), batch.targets[chosen], reduction=reduction)


def class_terms(
    scores: Float[Tensor, "B C"], targets: Int[Tensor, " B"], weight: float
) -> dict[str, Term]:
    """Return the summed cross-entropy of the classes, and how many of them are right."""
    total = F.cross_entropy(scores, targets, ignore_index=IGNORED, reduction="sum")
    n_right = (scores.detach().argmax(-1) == targets).sum()
    return {CLASSES: Term(total, weight), TRAIN_ACCURACY: Term(n_right, weight, scale=0.0)}


def class_probabilities(model: nn.Module, rows: Sequence[TextRow]) -> Float[Tensor, "N C"]:
    """Return how likely each class is for each text, in the order given; texts of like length go
    through the model together. It is called with tokens, types and padding.
    """

    def likely(batch: TextBatch) -> Float[Tensor, "B C"]:
        scores: Tensor = model(batch.tokens, batch.types, batch.padding)
        return scores.cpu().double().softmax(-1)

    return for_each_text(likely, rows, device=next(model.parameters()).device)


def for_each_text(
    compute: Callable[[TextBatch], Float[Tensor, "B K"]],
    rows: Sequence[TextRow],
    *,
    device: torch.device,
    what: str = "answering",
) -> Float[Tensor, "N K"]:
    """Compute something for each text, in the order given; texts of like length go together."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found = []
    with phase(what, total=len(rows)) as answering:
        for start in range(0, len(order), ASKED_AT_ONCE):
            some = [rows[i] for i in order[start : start + ASKED_AT_ONCE]]
            found.append(compute(collate_texts(some).to(device)).cpu())
            answering.advance(len(some))
    table = torch.cat(found)
    return torch.empty_like(table).index_copy(0, torch.tensor(order), table)
