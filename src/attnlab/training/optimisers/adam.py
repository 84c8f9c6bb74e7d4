"""Adam (Kingma & Ba 2015, arXiv:1412.6980); weight decay enters the gradient, on matrices alone."""

from collections.abc import Sequence

import torch
from torch.optim import Optimizer

from attnlab.training.optimisers import OPTIMISERS, Parameters
from attnlab.training.optimisers.grouping import decayed


@OPTIMISERS.register("adam")
def adam(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: float = 0.0,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> list[Optimizer]:
    """Steps scaled by the running mean and variance of each gradient."""
    groups = decayed(parameters, weight_decay)
    return [torch.optim.Adam(groups, lr=lr, betas=(betas[0], betas[1]), eps=eps, fused=True)]
