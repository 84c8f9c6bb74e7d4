"""The learning rate falls linearly."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR, LRScheduler

from attnlab.training.schedules import SCHEDULES, FinalShare


@SCHEDULES.register("linear")
def linear(optimizer: Optimizer, steps: int, *, final: FinalShare = 0.0) -> LRScheduler:
    """From the full rate to ``final`` times it."""
    return LinearLR(optimizer, start_factor=1.0, end_factor=final, total_iters=steps)
