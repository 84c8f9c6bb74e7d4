"""Attention: the contract, one file a variant, and one file a position scheme in ``positions/``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.registry import Registry

if TYPE_CHECKING:
    from torch.nn import Module

ATTENTION = Registry[Callable[..., "Module"]]("attention", package="attnlab.attention.variants")
