"""The task of every language model here: predict the tokens that a batch scores."""

from collections.abc import Callable, Mapping, Sequence

import torch.nn.functional as F
from torch import nn

from attnlab.data.batches import IGNORED, Batches, TokenBatch, TokenRow, collate
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.task import Evaluation, Term


class NextToken:
    """A language model and the rows it learns from; implements ``training.task.Task``."""

    def __init__(
        self,
        model: nn.Module,
        batches: Batches,
        *,
        evaluate: Callable[[], Evaluation | None] = lambda: None,
    ) -> None:
        self.model = model
        self.batch = batches.batch
        self.steps_in = batches.steps_in
        self.evaluate = evaluate

    def loss(self, part: TokenBatch) -> Mapping[str, Term]:
        """Return the summed cross-entropy of the scored tokens."""
        logits = self.model(part.inputs)
        total = F.cross_entropy(
            logits.flatten(0, 1), part.targets.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        return {"cross_entropy": Term(total, part.weights["cross_entropy"])}

    def parameter_groups(self) -> ParameterGroups:
        """Matrices are those of the blocks; the head belongs with the embeddings."""
        return ParameterGroups.of(self.model, embeddings=["head.weight"])


def row_losses(model: nn.Module, rows: Sequence[TokenRow]) -> list[float]:
    """Return the summed loss of each row's scored tokens, in nats."""
    batch = collate(rows).to(next(model.parameters()).device)
    logits = model(batch.inputs).double()
    losses = F.cross_entropy(
        logits.transpose(1, 2), batch.targets, ignore_index=IGNORED, reduction="none"
    )
    totals: list[float] = losses.sum(dim=1).tolist()
    return totals
