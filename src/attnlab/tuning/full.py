"""Full fine-tuning: every parameter is trained."""

from attnlab.tuning import TUNING
from attnlab.tuning.parts import ModelParts, Trainable


@TUNING.register("full")
def full(parts: ModelParts) -> Trainable:
    """Train all of the body."""
    names = frozenset(name for name, _ in parts.model.named_parameters())
    return Trainable(names, parts.body)
