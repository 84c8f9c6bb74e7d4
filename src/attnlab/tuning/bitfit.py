"""BitFit (Ben Zaken et al. 2021, arXiv:2106.10199): only the biases are trained.

With ``norms``, the gains of the layer norms are trained as well.
"""

from torch import nn

from attnlab.errors import UserError
from attnlab.tuning import TUNING
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Trainable


@TUNING.register("bitfit")
def bitfit(parts: ModelParts, *, norms: bool = False) -> Trainable:
    """Train the biases of all linear layers and layer norms of the body."""
    parts.need_known_layers("bitfit")
    names = frozenset(name for name, _ in parts.model.named_parameters() if name.endswith("bias"))
    if not names - parts.head_names():
        raise UserError("tuning 'bitfit' trains biases, but the model has none. Try 'lora'.")
    if not norms:
        return Trainable(names, parts.biases)
    # two norms per layer, and one before or after all layers
    return Trainable(names | _gains(parts), parts.biases + Count("2·L·d + d"))


def _gains(parts: ModelParts) -> frozenset[str]:
    modules = parts.model.named_modules()
    gains = {f"{name}.weight" for name, module in modules if isinstance(module, nn.LayerNorm)}
    return frozenset(gains) - parts.head_names()
