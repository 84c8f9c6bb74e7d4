"""Linear probes: what can be read off hidden states by a linear map?

A ridge regression onto the classes, solved exactly; the class with the largest value is predicted.
The penalty is chosen on examples of their own. (Allen-Zhu and Li, arXiv:2309.14316, train a linear
layer by gradient descent and adapt the embeddings as well.)
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnlab.data.batches import padded
from attnlab.models.gpt import GPT

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
"""Relative to the mean square of the features."""
READ_AT_ONCE = 64


class Probed(NamedTuple):
    """What a probe answers on the examples that chose its penalty, and on others."""

    chosen_on: Int[Tensor, " N"]
    tested_on: Int[Tensor, " M"]


def last_states(model: GPT, rows: Sequence[Sequence[int]]) -> Float[Tensor, "L N D"]:
    """Return the hidden state of each row's last token: of the embedding, then after each block."""
    found = []
    device = next(model.parameters()).device
    for first in range(0, len(rows), READ_AT_ONCE):
        some = rows[first : first + READ_AT_ONCE]
        states = model.states(padded(some).to(device))
        ends = torch.tensor([len(row) - 1 for row in some], device=device)
        at_end = [state[torch.arange(len(some), device=device), ends] for state in states]
        found.append(torch.stack(at_end).cpu().double())
    return torch.cat(found, dim=1)


def probe(
    features: tuple[Float[Tensor, "K D"], Float[Tensor, "N D"], Float[Tensor, "M D"]],
    classes: Int[Tensor, " K"],
    chosen_on: Int[Tensor, " N"],
) -> Probed:
    """Learn classes from the first features; the second choose the penalty, the third are tested.

    Of two penalties that are right as often, the larger one is taken.
    """
    learned, chooses, tested = features
    mean = learned.mean(0)
    centred = learned - mean
    targets = torch.nn.functional.one_hot(classes).double()
    prior = targets.mean(0)
    gram, products = centred.mT @ centred, centred.mT @ (targets - prior)
    scale = gram.diagonal().mean().clamp(min=1e-12)
    found = []
    for penalty in reversed(PENALTIES):
        ridge = penalty * scale * torch.eye(len(gram), dtype=gram.dtype)
        weights = torch.linalg.solve(gram + ridge, products)
        answers = (((rows - mean) @ weights + prior).argmax(-1) for rows in (chooses, tested))
        found.append(Probed(*answers))
    return max(found, key=lambda one: int((one.chosen_on == chosen_on).sum()))
