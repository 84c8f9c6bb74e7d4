"""Which tokens mattered to a classifier: gradient × input, and leaving one out.

*Gradient × input* (Shrikumar et al. 2016, arXiv:1605.01713) multiplies a token's vector in the
embedding table by the gradient of the class's log-odds: to first order, by how much the log-odds
would rise if the vector became longer, so a token that matters may get 0 where the model has
saturated. *Leave-one-out* (Li et al. 2016, arXiv:1612.08220) takes a token out of the row and
classifies the rest: what it finds is true of that shorter text, which may be one that nobody would
write, and two tokens that say the same hide each other. Neither is a reason.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.data.text_batches import TextRow, collate_texts
from attnlab.models.bert import Bert
from attnlab.models.classification import class_probabilities
from attnlab.models.encoder import SequenceClassifier


def log_odds(scores: Float[Tensor, "B C"], label: int) -> Float[Tensor, " B"]:
    """Return log p − log(1 − p) of a class, which a shift of all scores does not change."""
    others = [i for i in range(scores.shape[1]) if i != label]
    return scores[:, label] - scores[:, others].logsumexp(-1)


def gradient_times_input(model: SequenceClassifier, row: TextRow, label: int) -> list[float]:
    """Return for each token of a row its share in the log-odds of a class, to first order.

    Computed in the type of the weights: in bfloat16, small shares would be rounding alone.
    """
    batch = collate_texts([row]).to(device := next(model.parameters()).device)
    in_full = torch.autocast(device.type, enabled=False)
    with torch.enable_grad(), in_full, _watched_table(model) as looked_up:
        scores = model(batch.tokens, batch.types, batch.padding)
        (odds,) = log_odds(scores, label)
        gradients = torch.autograd.grad(odds, [vectors for _, vectors in looked_up])
    found = torch.zeros(batch.tokens.shape[1], dtype=odds.dtype, device=odds.device)
    for (tokens, vectors), gradient in zip(looked_up, gradients, strict=True):
        shares = (gradient * vectors).sum(-1)[0]
        found = found + (shares if torch.equal(tokens, batch.tokens) else _unshifted(shares))
    return found.detach().tolist()


def leave_one_out(
    model: nn.Module, row: TextRow, places: Sequence[int], *, label: int
) -> list[float]:
    """Return the probability of a class without the token at each place, one at a time."""
    rows = [without(row, place) for place in places]
    return class_probabilities(model, rows)[:, label].tolist() if rows else []


def without(row: TextRow, place: int) -> TextRow:
    """Take one token out of a row; those behind it move up."""
    tokens, types = ([*side[:place], *side[place + 1 :]] for side in (row.tokens, row.types))
    return replace(row, tokens=tokens, types=types)


def tables_of(model: SequenceClassifier) -> list[nn.Embedding]:
    """Return the table that a classifier looks its tokens up in, and those that share its rows."""
    body = getattr(model, "body", None)
    if isinstance(body, Bert):
        table = body.embeddings.words
    else:
        table = cast("Any", model).net.get_input_embeddings()
    every = (module for module in model.modules() if isinstance(module, nn.Embedding))
    return [module for module in every if module.weight is table.weight]


@contextmanager
def _watched_table(
    model: SequenceClassifier,
) -> Iterator[list[tuple[Int[Tensor, "B T"], Float[Tensor, "B T D"]]]]:
    """Keep the tokens that are looked up, and their vectors, which then have gradients."""
    looked_up: list[tuple[Int[Tensor, "B T"], Float[Tensor, "B T D"]]] = []

    def keep(_: nn.Module, given: tuple[Tensor, ...], vectors: Tensor) -> Tensor:
        vectors = vectors.detach().requires_grad_()
        looked_up.append((given[0], vectors))
        return vectors

    with ExitStack() as hooks:
        for table in tables_of(model):
            hooks.callback(table.register_forward_hook(keep).remove)
        yield looked_up


def _unshifted(shares: Float[Tensor, " T"]) -> Float[Tensor, " T"]:
    """T5's decoder reads a start token, then the text without its last token."""
    return torch.cat([shares[1:], shares.new_zeros(1)])
