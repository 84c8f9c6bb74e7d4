"""The learning rate stays constant."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import ConstantLR, LRScheduler

from attnlab.training.schedules import SCHEDULES


@SCHEDULES.register("constant")
def constant(optimizer: Optimizer, steps: int) -> LRScheduler:
    """Factor 1 at every step."""
    return ConstantLR(optimizer, factor=1.0, total_iters=steps)
