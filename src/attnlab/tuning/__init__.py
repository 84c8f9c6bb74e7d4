"""Which parameters move: one file per tuning method, for BERT and GPT alike."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.registry import Registry

if TYPE_CHECKING:
    from attnlab.tuning.parts import Trainable

TUNING = Registry[Callable[..., "Trainable"]]("tuning method", package="attnlab.tuning")
