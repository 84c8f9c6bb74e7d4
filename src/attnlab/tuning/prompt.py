"""Prompt tuning (Lester et al. 2021, arXiv:2104.08691): learned vectors before the text.

They take the place of embedded tokens but have no positions, so that the text keeps its own and
none of its tokens must make room. They start as the vectors of random tokens. T5, which knows
distances only, has them before the text that its encoder reads.
"""

from typing import Annotated

import torch
from annotated_types import Interval
from torch import nn

from attnlab.tuning import TUNING
from attnlab.tuning.counting import Count
from attnlab.tuning.parts import ModelParts, Trainable


@TUNING.register("prompt")
def prompt(
    parts: ModelParts, *, length: Annotated[int, Interval(ge=1, le=10_000)] = 16
) -> Trainable:
    """Train ``length`` vectors, which every layer reads like tokens."""
    parts.need_prefix_support(
        "prompt", "its scores belong to places in the row, which a prompt would shift."
    )
    table = parts.model.get_submodule(parts.table).weight
    assert isinstance(table, nn.Parameter)
    chosen = torch.randint(len(table), (length,))
    owner = parts.model.get_submodule(parts.embeddings)
    owner.prompt = nn.Parameter(table.detach()[chosen.to(table.device)].clone())
    name = f"{parts.embeddings}.prompt".lstrip(".")
    return Trainable(frozenset({name}), Count("P·d"), {"P": length})
