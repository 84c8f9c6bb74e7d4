"""Adagrad (Duchi et al. 2011): rarely seen parameters keep a large step; sparse tables too."""

import torch
from torch.optim import Optimizer

from attnlab.training.optimizer_options import NonNegative, decayed
from attnlab.training.optimizers import OPTIMIZERS, Parameters


@OPTIMIZERS.register("adagrad")
def adagrad(
    parameters: Parameters, *, lr: float, weight_decay: NonNegative = 0.0, eps: NonNegative = 1e-10
) -> list[Optimizer]:
    """Steps divided by the root of all squared gradients so far."""
    return [torch.optim.Adagrad(decayed(parameters, weight_decay), lr=lr, eps=eps)]
