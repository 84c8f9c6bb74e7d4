"""Splitting parameters into torch's groups, with weight decay on matrices alone."""

from typing import Any

from attnlab.training.optimisers import Parameters


def decayed(parameters: Parameters, weight_decay: float) -> list[dict[str, Any]]:
    """Return torch parameter groups in which only matrices shrink."""
    still = [p for kind in ("embeddings", "vectors", "sparse") for p in parameters[kind].values()]
    groups = [
        {"params": list(parameters["matrices"].values()), "weight_decay": weight_decay},
        {"params": still, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
