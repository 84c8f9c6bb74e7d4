"""Settings of attention. Loads no torch."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from attnlab.runs.references import PartReference

Part = Annotated[str, PartReference()]
Options = Annotated[dict[str, Any], PartReference()]


@dataclass(frozen=True)
class AttentionSettings:
    """Which attention a model uses, and how it encodes positions."""

    name: Part = "dot_product"
    """A variant from `attnlab attention list`, or your own class: path/to/file.py:Name."""
    options: Options = field(default_factory=dict)
    """Options of the variant by name; `attnlab attention show NAME` lists them."""
    positions: Part = "learned"
    """Position scheme: alibi, learned, none, rotary or sinusoidal."""
    position_options: Options = field(default_factory=dict)
    """Options of the position scheme by name, such as base for rotary."""
