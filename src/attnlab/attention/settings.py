"""Settings of attention. Loads no torch."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AttentionSettings:
    """Which attention a model uses, and how it encodes positions."""

    name: str = "dot_product"
    """A variant from `attnlab attention list`, or your own class: path/to/file.py:Name."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the variant by name; `attnlab attention show NAME` lists them."""
    positions: str = "learned"
    """Position scheme: alibi, learned, none, rotary or sinusoidal."""
    position_options: dict[str, Any] = field(default_factory=dict)
    """Options of the position scheme by name, such as base for rotary."""
