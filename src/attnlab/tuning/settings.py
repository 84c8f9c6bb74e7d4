"""Settings of tuning. Loads no torch."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TuningSettings:
    """Which parameters are trained, and how."""

    name: str = "full"
    """Tuning method: bitfit, full, head, ia3, lora, prefix or prompt."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the method by name, such as rank for lora or length for prompt and prefix."""
