"""The training task of an encoder that learns from masked text alone."""

from collections.abc import Callable, Mapping, Sequence

from attnlab.data.batches import IGNORED
from attnlab.data.epochs import Epochs
from attnlab.data.text_batches import JointBatch, TextRow, collate_texts
from attnlab.models.bert import BertForMaskedLanguageModel
from attnlab.models.classification import MASKED, masked_loss
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.task import Evaluation, Term

READ_AT_ONCE = 64


class FillIn:
    """An encoder and the masked rows it learns from; implements ``training.task.Task``."""

    def __init__(
        self,
        model: BertForMaskedLanguageModel,
        rows: Epochs[TextRow],
        *,
        evaluate: Callable[[], Evaluation | None] = lambda: None,
    ) -> None:
        self.model, self._rows, self._evaluate = model, rows, evaluate

    def batch(self, step: int) -> JointBatch:
        """Return the batch of a step, counted from 1."""
        return JointBatch({MASKED: collate_texts(self._rows.rows_of_step(step))})

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens of the rows into steps."""
        return self._rows.steps_in(amount, unit)

    def evaluate(self) -> Evaluation | None:
        """Score the model with the function that the task was given."""
        return self._evaluate()

    def loss(self, part: JointBatch) -> Mapping[str, Term]:
        """Return the summed cross-entropy of the masked tokens."""
        batch = part.streams[MASKED]
        return {MASKED: Term(masked_loss(self.model, batch), batch.weight)}

    def parameter_groups(self) -> ParameterGroups:
        """Sort the parameters by module and shape; the head's matrix is the token embedding."""
        return ParameterGroups.of(self.model)


def row_losses(model: BertForMaskedLanguageModel, rows: Sequence[TextRow]) -> list[float]:
    """Return the summed loss of each row's masked tokens, in nats."""
    device, found = next(model.parameters()).device, list[float]()
    for start in range(0, len(rows), READ_AT_ONCE):
        batch = collate_texts(rows[start : start + READ_AT_ONCE]).to(device)
        losses = masked_loss(model, batch, reduction="none").double().cpu()
        row_of = (batch.targets != IGNORED).nonzero()[:, 0].cpu()
        found += losses.new_zeros(len(batch.ids)).index_add(0, row_of, losses).tolist()
    return found
