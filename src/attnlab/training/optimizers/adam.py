"""Adam (Kingma & Ba 2015, arXiv:1412.6980), with L2 weight decay on matrices only."""

import torch
from torch.optim import Optimizer

from attnlab.training.optimizer_options import NonNegative, Share, decayed, refuse_sparse
from attnlab.training.optimizers import OPTIMIZERS, Parameters


@OPTIMIZERS.register("adam")
def adam(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: NonNegative = 0.0,
    betas: tuple[Share, Share] = (0.9, 0.999),
    eps: NonNegative = 1e-8,
) -> list[Optimizer]:
    """Steps scaled by the running mean and variance of each gradient."""
    refuse_sparse(parameters, "adam")
    groups = decayed(parameters, weight_decay)
    return [torch.optim.Adam(groups, lr=lr, betas=betas, eps=eps, fused=True)]
