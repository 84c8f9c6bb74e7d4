"""What can be set about attention. Loads no torch."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AttentionSettings:
    """Which attention a model has, and how its tokens learn where they stand."""

    name: str = "dot_product"
    """A file of attention/, see `attnlab attention list`, or your own: path/to/file.py:Name."""
    options: dict[str, Any] = field(default_factory=dict)
    """The variant's own options by name, see `attnlab attention show NAME`."""
    positions: str = "learned"
    """A file of attention/positions: alibi, learned, none, rotary, sinusoidal."""
    position_options: dict[str, Any] = field(default_factory=dict)
    """The position scheme's own options by name, such as base for rotary."""
