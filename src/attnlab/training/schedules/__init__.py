"""Schedules by name, one file each: functions from an optimizer to a torch schedule.

The warm-up comes before every schedule, so it is written once, in
``training/optimization.py``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from annotated_types import Interval

from attnlab.registry import Registry

if TYPE_CHECKING:
    from torch.optim.lr_scheduler import LRScheduler

FinalShare = Annotated[float, Interval(ge=0, le=1)]
"""The rate after the last step, as a share of the full one."""

SCHEDULES = Registry[Callable[..., "LRScheduler"]]("schedule", package="attnlab.training.schedules")
