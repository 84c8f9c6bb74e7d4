"""What the optimizers share: bounds of their options, and weight decay on matrices only."""

from typing import Annotated, Any

from annotated_types import Ge, Interval

from attnlab.errors import UserError
from attnlab.training.optimizers import Parameters

NonNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Interval(ge=0, lt=1)]
"""How much of the past stays: a momentum, a beta."""


def decayed(parameters: Parameters, weight_decay: float) -> list[dict[str, Any]]:
    """Return torch parameter groups in which only matrices shrink."""
    still = [p for kind, group in parameters.items() if kind != "matrices" for p in group.values()]
    groups = [
        {"params": list(parameters.get("matrices", {}).values()), "weight_decay": weight_decay},
        {"params": still, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def refuse_sparse(parameters: Parameters, name: str) -> None:
    """Say that an optimizer cannot move tables with sparse gradients."""
    if parameters.get("sparse"):
        raise UserError(
            f"{name} cannot move sparse tables ({', '.join(parameters['sparse'])}): choose"
            " sparse_adam, adagrad or sgd without momentum as training.sparse_optimizer."
        )
