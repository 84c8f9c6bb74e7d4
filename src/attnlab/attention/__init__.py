"""Attention: the contract, ``variants/`` and ``positions/``, one file each."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.registry import Registry

if TYPE_CHECKING:
    from torch.nn import Module

ATTENTION = Registry[Callable[..., "Module"]]("attention", package="attnlab.attention.variants")
