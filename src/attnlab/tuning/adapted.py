"""Linear layers that a method adds something small to; their own weights keep their names.

``merged`` turns one back into a plain linear layer that computes the same.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from attnlab.errors import UserError
from attnlab.tuning.parts import ModelParts, Role


class AdaptedLinear(nn.Linear):
    """Takes the place of a linear layer, whose weight and bias it holds."""

    def __init__(self, linear: nn.Linear) -> None:
        has_bias = linear.bias is not None
        super().__init__(linear.in_features, linear.out_features, bias=has_bias, device="meta")
        self.weight, self.bias = linear.weight, linear.bias

    def merged_weight(self) -> Tensor:
        """Return the weight of the plain layer that computes the same."""
        raise NotImplementedError

    def merged_bias(self) -> Tensor | None:
        """Return its bias."""
        return self.bias

    def merged(self) -> nn.Linear:
        """Return that layer."""
        weight, bias = self.merged_weight(), self.merged_bias()
        plain = nn.Linear(self.in_features, self.out_features, bias=bias is not None, device="meta")
        plain.weight = nn.Parameter(weight.detach().clone())
        if bias is not None:
            plain.bias = nn.Parameter(bias.detach().clone())
        return plain.train(self.training)


def adapt(
    parts: ModelParts,
    targets: Sequence[Role],
    wrap: Callable[[Role, nn.Linear], AdaptedLinear],
    *,
    method: str,
) -> dict[str, AdaptedLinear]:
    """Replace the projections of these roles in every layer; return the new ones by name."""
    if len(set(targets)) != len(targets):
        raise UserError(f"tuning {method!r}: targets = {', '.join(targets)} names one twice.")
    found = [(role, *named) for role in targets for named in parts.linears(role, method=method)]
    adapted = {name: wrap(role, linear).train(linear.training) for role, name, linear in found}
    for name, module in adapted.items():
        parts.model.set_submodule(name, module)
    return adapted


def merge(model: nn.Module) -> None:
    """Make every adapted layer of a model a plain one again; its outputs stay the same."""
    adapted = {name: m for name, m in model.named_modules() if isinstance(m, AdaptedLinear)}
    with torch.no_grad():
        for name, module in adapted.items():
            model.set_submodule(name, module.merged())
