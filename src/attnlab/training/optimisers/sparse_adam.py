"""SparseAdam: Adam that touches only the rows of a table that a step has used."""

from collections.abc import Sequence

import torch
from torch.optim import Optimizer

from attnlab.training.optimisers import OPTIMISERS, Parameters


@OPTIMISERS.register("sparse_adam")
def sparse_adam(
    parameters: Parameters,
    *,
    lr: float,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> list[Optimizer]:
    """Adam on the rows that have a gradient; the others and their moments stay as they are."""
    tables = [p for group in parameters.values() for p in group.values()]
    return [torch.optim.SparseAdam(tables, lr=lr, betas=(betas[0], betas[1]), eps=eps)]
