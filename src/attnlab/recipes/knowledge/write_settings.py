"""How a model continues a text: the settings, checked before a model is loaded. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval

from attnlab.data.tokenizer import PAD
from attnlab.errors import UserError


@dataclass(frozen=True)
class WriteSettings:
    """Everything about ``attnlab knowledge write`` but the model and the prompt."""

    temperature: Annotated[float, Ge(0)] = 0.8
    """Below 1, likely tokens become more likely; 0 always takes the most likely one."""
    top_k: Annotated[int, Ge(1)] | None = None
    """Draw among this many of the most likely tokens; all by default."""
    top_p: Annotated[float, Interval(gt=0, le=1)] = 1.0
    """Draw among the fewest tokens that together have this probability."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the draws."""
    samples: Annotated[int, Interval(ge=1, le=10_000)] = 1
    """How many texts to write."""
    tokens: Annotated[int, Interval(gt=0, le=100_000)] = 200
    """Length of each text, in tokens."""


def check_prompt(prompt: str) -> None:
    """Refuse a prompt that no model can continue; unlike elsewhere, the sentinel is allowed."""
    if not prompt:
        raise UserError("the prompt is empty: give the beginning of a text to continue.")
    if PAD in prompt:
        raise UserError(f"the prompt contains the reserved character {PAD!r}. Remove it.")
