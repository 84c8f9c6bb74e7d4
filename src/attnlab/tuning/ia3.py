"""(IA)³ (Liu et al. 2022, arXiv:2205.05638): vectors that scale keys, values and the MLPs' inside.

The vectors start at 1, so that at first nothing changes. They count as vectors to the optimizer:
weight decay would pull them to 0 instead.
"""

from typing import Annotated

from annotated_types import Len
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.tuning import TUNING
from attnlab.tuning.adapted import AdaptedLinear, adapt
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Role, Trainable

INPUT_SCALED = ("proj", "down")
"""Roles whose input is scaled: the heads' outputs, and the inside of the MLP."""


class IA3Linear(AdaptedLinear):
    """A linear layer whose inputs or outputs are scaled, each coordinate by a number of its own."""

    def __init__(self, linear: nn.Linear, *, scales_input: bool) -> None:
        super().__init__(linear)
        self.scales_input = scales_input
        width = linear.in_features if scales_input else linear.out_features
        self.gain = nn.Parameter(linear.weight.new_ones(width))

    def forward(self, input: Float[Tensor, "*B I"]) -> Float[Tensor, "*B O"]:
        """Scale before or after the layer."""
        if self.scales_input:
            return super().forward(input * self.gain)
        return super().forward(input) * self.gain

    def merged_weight(self) -> Tensor:
        """Scale the columns, which meet the inputs, or the rows, which make the outputs."""
        return self.weight * (self.gain if self.scales_input else self.gain[:, None])

    def merged_bias(self) -> Tensor | None:
        """Scale the bias if the outputs are scaled."""
        bias: Tensor | None = self.bias
        return bias if bias is None or self.scales_input else bias * self.gain


@TUNING.register("ia3")
def ia3(
    parts: ModelParts,
    *,
    targets: Annotated[tuple[Role, ...], Len(1)] = ("key", "value", "down"),
) -> Trainable:
    """Train one vector for each target; peft's default for BERT has ``proj`` as well."""
    adapted = adapt(
        parts,
        targets,
        lambda role, linear: IA3Linear(linear, scales_input=role in INPUT_SCALED),
        method="ia3",
    )
    count = Count()
    for role in targets:
        count += Count(f"L·{parts.widths(role)[0 if role in INPUT_SCALED else 1]}")
    return Trainable(frozenset(f"{name}.gain" for name in adapted), count)
