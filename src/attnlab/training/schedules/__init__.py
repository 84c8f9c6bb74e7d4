"""Schedules by name: one file each, a function from an optimiser to a torch schedule.

The warm-up stands before whatever schedule is chosen, so it is written once, in
``training/optimisation.py``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.registry import Registry

if TYPE_CHECKING:
    from torch.optim.lr_scheduler import LRScheduler

SCHEDULES = Registry[Callable[..., "LRScheduler"]]("schedule", package="attnlab.training.schedules")
