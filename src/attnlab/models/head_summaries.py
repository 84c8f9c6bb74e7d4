"""What a head does, small enough to show all heads at once: a thumbnail, and its habits."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor

THUMBNAIL = 24
"""Pixels of a side, at most."""


class Habits(NamedTuple):
    """The mean share of its weight that a head gives to some keys, over all queries."""

    itself: list[float]
    """To the query's own token, for each head."""
    previous: list[float]
    """To the token before; the first token, which has none, does not count."""
    first: list[float]
    """To the first token, by all others."""


def thumbnails(weights: Float[Tensor, "H T S"]) -> UInt8[Tensor, "H t s"]:
    """Shrink each head's weights to the largest of each patch; the largest of all becomes 255."""
    t, s = (min(THUMBNAIL, side) for side in weights.shape[1:])
    small = F.adaptive_max_pool2d(weights, (t, s))
    largest = small.amax(dim=(1, 2), keepdim=True).clamp_min(torch.finfo(small.dtype).tiny)
    return (255 * small / largest).round().to(torch.uint8)


def habits(weights: Float[Tensor, "H T T"]) -> Habits:
    """Measure how much each head looks at the same token, the one before, and the first."""
    own = weights.diagonal(dim1=1, dim2=2)
    if weights.shape[1] == 1:
        nothing = torch.zeros(len(weights)).tolist()
        return Habits(own.mean(1).tolist(), nothing, nothing)
    before = weights.diagonal(-1, dim1=1, dim2=2)
    first = weights[:, 1:, 0]
    return Habits(own.mean(1).tolist(), before.mean(1).tolist(), first.mean(1).tolist())
