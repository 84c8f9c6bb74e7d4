"""BitFit (Ben Zaken et al. 2021, arXiv:2106.10199): only the biases are trained."""

from attnlab.errors import UserError
from attnlab.tuning import TUNING
from attnlab.tuning.parts import ModelParts, Trainable


@TUNING.register("bitfit")
def bitfit(parts: ModelParts) -> Trainable:
    """Train the biases of all linear layers and layer norms of the body."""
    parts.need_known_layers("bitfit")
    names = frozenset(name for name, _ in parts.model.named_parameters() if name.endswith("bias"))
    if not names - parts.head_names():
        raise UserError("tuning 'bitfit' trains biases, but the model has none. Try 'lora'.")
    return Trainable(names, parts.biases)
