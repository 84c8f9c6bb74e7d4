"""Stochastic gradient descent, optionally with momentum; without it, sparse tables too."""

import torch
from torch.optim import Optimizer

from attnlab.training.optimizer_options import NonNegative, Share, decayed, refuse_sparse
from attnlab.training.optimizers import OPTIMIZERS, Parameters


@OPTIMIZERS.register("sgd")
def sgd(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: NonNegative = 0.0,
    momentum: Share = 0.0,
    nesterov: bool = False,
) -> list[Optimizer]:
    """Steps straight down the gradient."""
    if momentum:  # its buffer would be sparse, too, and grow with every step
        refuse_sparse(parameters, "sgd with momentum")
    groups = decayed(parameters, weight_decay)
    return [torch.optim.SGD(groups, lr=lr, momentum=momentum, nesterov=nesterov)]
