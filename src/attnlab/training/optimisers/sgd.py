"""Stochastic gradient descent, with momentum by option; takes sparse gradients too."""

import torch
from torch.optim import Optimizer

from attnlab.training.optimisers import OPTIMISERS, Parameters
from attnlab.training.optimisers.grouping import decayed


@OPTIMISERS.register("sgd")
def sgd(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    nesterov: bool = False,
) -> list[Optimizer]:
    """Steps straight down the gradient."""
    groups = decayed(parameters, weight_decay)
    return [torch.optim.SGD(groups, lr=lr, momentum=momentum, nesterov=nesterov)]
