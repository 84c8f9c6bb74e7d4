"""The learning rate follows half a cosine (Loshchilov & Hutter 2017, arXiv:1608.03983)."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from attnlab.training.schedules import SCHEDULES, FinalShare


@SCHEDULES.register("cosine")
def cosine(optimizer: Optimizer, steps: int, *, final: FinalShare = 0.0) -> LRScheduler:
    """From the full rate to ``final`` times it, slowly at both ends."""
    group = optimizer.param_groups[0]
    full = group.get("initial_lr", group["lr"])  # a warm-up has lowered "lr" already
    return CosineAnnealingLR(optimizer, T_max=steps, eta_min=final * full)
