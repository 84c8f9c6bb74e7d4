"""Projections alone: some linear layers of every layer are trained, as they are.

Where a pretrained model looks is decided by its queries and keys. Training these alone can teach it
where to find what it has stored, and changes nothing of what is stored.
"""

from typing import Annotated

from annotated_types import Len

from attnlab.tuning import TUNING
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Role, Trainable


@TUNING.register("projections")
def projections(
    parts: ModelParts, *, targets: Annotated[tuple[Role, ...], Len(1)] = ("query", "key")
) -> Trainable:
    """Train the weights and biases of each target: query, key, value, proj, up or down."""
    names: set[str] = set()
    count = Count()
    for role in dict.fromkeys(targets):
        found = list(parts.linears(role, method="projections"))
        names |= {f"{name}.{own}" for name, linear in found for own, _ in linear.named_parameters()}
        before, after = parts.widths(role)
        count += Count(f"L·{before}·{after}")
        if found[0][1].bias is not None:
            count += Count(f"L·{after}")
    return Trainable(frozenset(names), count)
