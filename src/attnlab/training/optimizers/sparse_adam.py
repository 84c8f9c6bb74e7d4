"""SparseAdam: Adam that updates only the rows of a table that a step used."""

import torch
from torch.optim import Optimizer

from attnlab.errors import UserError
from attnlab.training.optimizer_options import NonNegative, Share
from attnlab.training.optimizers import OPTIMIZERS, Parameters


@OPTIMIZERS.register("sparse_adam")
def sparse_adam(
    parameters: Parameters,
    *,
    lr: float,
    betas: tuple[Share, Share] = (0.9, 0.999),
    eps: NonNegative = 1e-8,
) -> list[Optimizer]:
    """Adam on the rows that have a gradient; the others and their moments stay as they are."""
    dense = [name for kind, group in parameters.items() if kind != "sparse" for name in group]
    if dense:
        raise UserError(
            f"sparse_adam moves sparse tables only, not {dense[0]}: it is for"
            " training.sparse_optimizer."
        )
    tables = list(parameters["sparse"].values())
    return [torch.optim.SparseAdam(tables, lr=lr, betas=betas, eps=eps)]
