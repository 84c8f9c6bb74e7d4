"""Head tuning: the body stays as it is, and a classifier is trained on what it makes of a text."""

from attnlab.errors import UserError
from attnlab.models.bert import BertForCLSMLM
from attnlab.tuning import TUNING
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Trainable


@TUNING.register("head")
def head(parts: ModelParts) -> Trainable:
    """Train nothing but the head: the classifier, and the dense layer before it if there is one."""
    parts.need_known_layers("head")
    if not parts.heads:
        raise UserError(
            f"tuning 'head' trains a new classifier, but a {type(parts.model).__name__} has none:"
            " its head predicts tokens and is pretrained. Try 'lora' or 'prefix'."
        )
    if isinstance(parts.model, BertForCLSMLM):
        raise UserError(
            "tuning 'head' freezes the body, so masked language modelling could teach it nothing."
            " Train without unlabelled text, or choose another method."
        )
    return Trainable(frozenset(), Count())
