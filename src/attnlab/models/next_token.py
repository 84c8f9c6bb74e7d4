"""The training task of every language model here: predict the tokens that a batch scores."""

from collections.abc import Callable, Mapping, Sequence

import torch.nn.functional as F

from attnlab.data.batches import IGNORED, TokenBatch, TokenRow, collate
from attnlab.data.epochs import Epochs
from attnlab.models.gpt import GPT
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.task import Evaluation, Term


class NextToken:
    """A language model and the rows it learns from; implements ``training.task.Task``."""

    def __init__(
        self,
        model: GPT,
        rows: Epochs[TokenRow],
        *,
        evaluate: Callable[[], Evaluation | None] = lambda: None,
    ) -> None:
        self.model, self._rows, self._evaluate = model, rows, evaluate

    def batch(self, step: int) -> TokenBatch:
        """Return the batch of a step, counted from 1."""
        return collate(self._rows.rows_of_step(step))

    def steps_in(self, amount: float, unit: str) -> float:
        """Turn epochs or tokens of the rows into steps."""
        return self._rows.steps_in(amount, unit)

    def evaluate(self) -> Evaluation | None:
        """Score the model with the function that the task was given."""
        return self._evaluate()

    def loss(self, part: TokenBatch) -> Mapping[str, Term]:
        """Return the summed cross-entropy of the scored tokens; the head reads no others."""
        scored = part.targets != IGNORED
        hidden = self.model.hidden(part.inputs, is_read_only=part.is_read_only)
        logits = self.model.head(hidden[scored])
        total = F.cross_entropy(logits, part.targets[scored], reduction="sum")
        return {"cross_entropy": Term(total, part.weights["cross_entropy"])}

    def parameter_groups(self) -> ParameterGroups:
        """Matrices are those of the blocks; the head belongs with the embeddings."""
        return ParameterGroups.of(self.model, embeddings=["head.weight"])


def row_losses(model: GPT, rows: Sequence[TokenRow]) -> list[float]:
    """Return the summed loss of each row's scored tokens, in nats."""
    batch = collate(rows).to(next(model.parameters()).device)
    scored = batch.targets != IGNORED
    logits = model.head(model.hidden(batch.inputs)[scored]).cpu().double()
    losses = F.cross_entropy(logits, batch.targets[scored].cpu(), reduction="none")
    totals = losses.new_zeros(len(rows)).index_add(0, scored.nonzero()[:, 0].cpu(), losses)
    return [float(total) for total in totals]
