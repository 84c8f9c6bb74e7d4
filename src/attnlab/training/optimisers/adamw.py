"""AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101), decay on matrices alone."""

from collections.abc import Sequence

import torch
from torch.optim import Optimizer

from attnlab.training.optimisers import OPTIMISERS, Parameters
from attnlab.training.optimisers.grouping import decayed


@OPTIMISERS.register("adamw")
def adamw(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: float = 0.1,
    betas: Sequence[float] = (0.9, 0.95),
    eps: float = 1e-8,
) -> list[Optimizer]:
    """Adam with weight decay kept out of the moments."""
    groups = decayed(parameters, weight_decay)
    return [torch.optim.AdamW(groups, lr=lr, betas=(betas[0], betas[1]), eps=eps, fused=True)]
