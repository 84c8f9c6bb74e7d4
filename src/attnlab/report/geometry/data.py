"""Explanations as plain data for JSON."""

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from attnlab.geometry.noise import NoisyHeads

LEFT_OUT = ("scales", "errors")
"""Of an error curve: hundreds of points; a figure shows them."""


def as_data(value: Any) -> Any:
    """Turn dataclasses, with what they compute, and arrays into dicts and lists; ∞ is null."""
    if isinstance(value, NoisyHeads):
        return heads_data(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [
            f.name for f in fields(value) if not (f.name in LEFT_OUT and hasattr(value, "end"))
        ]
        names += [n for n, member in vars(type(value)).items() if isinstance(member, property)]
        return {name: as_data(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        return as_data(value.tolist())
    if isinstance(value, dict):
        return {str(key): as_data(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def heads_data(drawn: NoisyHeads) -> dict[str, Any]:
    """Sum up many draws of noisy keys."""
    rows = {
        f"{heads}": {
            "mean": float(drawn.weight_on_a(heads).mean()),
            "deviation": drawn.deviation(heads),
            "deviation_without_ignored": drawn.deviation(heads, without_ignored=True),
            "quantiles_5_50_95": list(drawn.quantiles(heads)),
        }
        for heads in (1, 2)
    }
    draws, n_tokens = drawn.one_head.shape
    return {
        "n_tokens": n_tokens,
        "beta": drawn.beta,
        "alpha": drawn.alpha,
        "draws": draws,
        "ignored": float(drawn.ignored.mean()),
        "heads": rows,
    }
