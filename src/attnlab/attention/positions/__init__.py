"""Position schemes, one file each; built as ``Scheme(d_model, n_heads, max_len)``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.registry import Registry

if TYPE_CHECKING:
    from attnlab.attention.contract import Positions

POSITIONS = Registry[Callable[..., "Positions"]](
    "position scheme", package="attnlab.attention.positions"
)
