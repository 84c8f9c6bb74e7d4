"""Muon for the matrices, AdamW for everything else.

Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/) makes the momentum of a matrix
orthogonal, so that every direction moves equally far. It is made for hidden 2-D weights; tables,
heads and vectors go to AdamW.

``torch.optim.Muon`` always works in bfloat16. A processor without bfloat16 units emulates it many
times slower, and its rounding makes one and two processes drift apart even in float64. Ours does
the same arithmetic in the type of the weights, all matrices of one shape at once. Where the
processor has bfloat16, ``orthogonalize_in="auto"`` uses it for the rounds: more than half of the
arithmetic of Muon, and a third of that of a small batch.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer

from attnlab.errors import UserError
from attnlab.training.optimizer_options import NonNegative, Share, refuse_sparse
from attnlab.training.optimizers import OPTIMIZERS, Parameters
from attnlab.training.optimizers.adamw import adamw

# Five rounds of this odd polynomial bring every singular value near 1; Jordan's coefficients.
COEFFICIENTS, ROUNDS, SMALLEST_NORM = (3.4445, -4.775, 2.0315), 5, 1e-7

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float64": torch.float64}


class Muon(Optimizer):
    """Momentum, made orthogonal, with Nesterov's look ahead."""

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        *,
        lr: float,
        weight_decay: float,
        momentum: float,
        orthogonalize_in: torch.dtype | None = None,
    ) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})
        self.orthogonalize_in = orthogonalize_in

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Move every matrix that has a gradient."""
        assert closure is None, "Muon takes no closure"
        for group in self.param_groups:
            by_shape: defaultdict[torch.Size, list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append(parameter)
            for parameters in by_shape.values():
                self._move(parameters, group)

    def _move(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        gradients = [p.grad for p in parameters if p.grad is not None]
        moments = [self.state[p].setdefault("moment", torch.zeros_like(p)) for p in parameters]
        torch._foreach_lerp_(moments, gradients, 1 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, moments, group["momentum"])
        updates = orthogonalize(torch.stack(list(ahead)), self.orthogonalize_in).unbind()
        rows, columns = parameters[0].shape
        rate = group["lr"] * math.sqrt(max(1.0, rows / columns))
        torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(parameters, updates, alpha=-rate)


def orthogonalize(
    matrices: Float[Tensor, "N r c"], dtype: torch.dtype | None = None
) -> Float[Tensor, "N r c"]:
    """Bring all singular values of each matrix near 1 by Newton-Schulz rounds.

    The rounds are computed in ``dtype``, by default that of the matrices.
    """
    if matrices.shape[-2] > matrices.shape[-1]:
        turned: Tensor = orthogonalize(matrices.mT, dtype).mT
        return turned
    a, b, c = COEFFICIENTS
    norms = torch.linalg.matrix_norm(matrices, keepdim=True).clamp(min=SMALLEST_NORM)
    x: Tensor = (matrices / norms).to(dtype or matrices.dtype)
    for _ in range(ROUNDS):
        gram = x @ x.mT
        change = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.baddbmm(x, change, x, beta=a)
    return x.to(matrices.dtype)


@OPTIMIZERS.register("muon")
def muon(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: NonNegative = 0.1,
    momentum: Share = 0.95,
    adamw_lr: NonNegative = 3e-3,
    adamw_betas: tuple[Share, Share] = (0.9, 0.95),
    orthogonalize_in: Literal["weights", "float32", "bfloat16", "float64"] = "weights",
) -> list[Optimizer]:
    """Orthogonalised momentum on matrices; ``adamw_lr`` for the rest.

    ``orthogonalize_in`` is a type, or ``auto`` for the run's precision.
    """
    refuse_sparse(parameters, "muon")
    matrices = parameters["matrices"]
    for name, parameter in matrices.items():
        if parameter.ndim != 2:
            raise UserError(
                f"muon moves 2-D matrices only; {name} has shape {tuple(parameter.shape)}."
                " Choose another optimizer, or let the task name it among the embeddings."
            )
    optimizers: list[Optimizer] = []
    if matrices:
        optimizers.append(
            Muon(
                matrices.values(),
                lr=lr,
                weight_decay=weight_decay,
                momentum=momentum,
                orthogonalize_in=TYPES.get(orthogonalize_in),
            )
        )
    rest = {**parameters, "matrices": {}}
    if any(rest.values()):
        optimizers += adamw(rest, lr=adamw_lr, betas=adamw_betas)
    return optimizers
