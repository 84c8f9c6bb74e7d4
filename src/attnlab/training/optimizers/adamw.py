"""AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101), with decay on matrices only."""

import torch
from torch.optim import Optimizer

from attnlab.training.optimizer_options import NonNegative, Share, decayed, refuse_sparse
from attnlab.training.optimizers import OPTIMIZERS, Parameters


@OPTIMIZERS.register("adamw")
def adamw(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: NonNegative = 0.1,
    betas: tuple[Share, Share] = (0.9, 0.95),
    eps: NonNegative = 1e-8,
) -> list[Optimizer]:
    """Adam with weight decay kept out of the moments."""
    refuse_sparse(parameters, "adamw")
    groups = decayed(parameters, weight_decay)
    return [torch.optim.AdamW(groups, lr=lr, betas=betas, eps=eps, fused=True)]
