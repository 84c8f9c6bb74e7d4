"""LoRA (Hu et al. 2021, arXiv:2106.09685): a matrix of low rank is added to frozen projections.

W becomes W + alpha/rank · B A. B starts at zero, so that at first nothing changes; A is drawn as
torch draws a linear layer.
"""

from typing import Annotated

from annotated_types import Interval, Len
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.dropout import Dropout
from attnlab.tuning import TUNING
from attnlab.tuning.adapted import AdaptedLinear, adapt
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Role, Trainable


class LoRALinear(AdaptedLinear):
    """A linear layer and its low-rank addition."""

    def __init__(self, linear: nn.Linear, *, rank: int, alpha: float, dropout: float) -> None:
        super().__init__(linear)
        like = {"dtype": linear.weight.dtype, "device": linear.weight.device}
        self.lora_a = nn.Linear(linear.in_features, rank, bias=False, **like)
        self.lora_b = nn.Linear(rank, linear.out_features, bias=False, **like)
        nn.init.zeros_(self.lora_b.weight)
        self.scale = alpha / rank
        self.lora_dropout = Dropout(dropout)

    def forward(self, input: Float[Tensor, "*B I"]) -> Float[Tensor, "*B O"]:
        """Add what the low-rank matrices make of the input, some of which is dropped."""
        added: Tensor = self.lora_b(self.lora_a(self.lora_dropout(input)))
        return super().forward(input) + self.scale * added

    def merged_weight(self) -> Tensor:
        """Return W + alpha/rank · B A."""
        return self.weight + self.scale * (self.lora_b.weight @ self.lora_a.weight)


@TUNING.register("lora")
def lora(
    parts: ModelParts,
    *,
    rank: Annotated[int, Interval(ge=1, le=10_000)] = 8,
    alpha: Annotated[float, Interval(gt=0, le=1e6)] = 16.0,
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.0,
    targets: Annotated[tuple[Role, ...], Len(1)] = ("query", "value"),
) -> Trainable:
    """Train two matrices of low rank for each target: query, key, value, proj, up or down."""
    adapted = adapt(
        parts,
        targets,
        lambda _, linear: LoRALinear(linear, rank=rank, alpha=alpha, dropout=dropout),
        method="lora",
    )
    count = Count()
    for role in targets:
        count += Count(" + ".join(f"L·r·{width}" for width in parts.widths(role)))
    first = frozenset(f"{name}.lora_a.weight" for name in adapted)
    second = frozenset(f"{name}.lora_b.weight" for name in adapted)
    # the gradient of A is a product with B, which is zero in the first step
    return Trainable(first | second, count, {"r": rank}, late=first)
