"""Optimizers by name, one file each: functions from named parameters to torch optimizers."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attnlab.registry import Registry

if TYPE_CHECKING:
    from torch.nn import Parameter
    from torch.optim import Optimizer

Parameters = Mapping[str, Mapping[str, "Parameter"]]
"""The parameters by kind (matrices, embeddings, vectors, sparse) and name."""

OPTIMIZERS = Registry[Callable[..., "list[Optimizer]"]](
    "optimizer", package="attnlab.training.optimizers"
)
