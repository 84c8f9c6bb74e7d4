"""Settings of tuning. Loads no torch."""

from dataclasses import dataclass, field
from typing import Any

FULL = "full"


@dataclass(frozen=True)
class TuningSettings:
    """Which parameters are trained, and how."""

    name: str = FULL
    """Tuning method: bitfit, full, head, ia3, lora, prefix, projections or prompt."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the method by name, such as rank for lora or length for prompt and prefix."""
    merge: bool = True
    """Write the model of lora and ia3 as a plain one, which transformers opens; otherwise, what was
    trained is in a file of its own, as it always is for prompt and prefix."""
