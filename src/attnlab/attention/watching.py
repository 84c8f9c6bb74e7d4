"""Sees the scores of an attention layer while it computes them, without changing the layer."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from attnlab.attention.context import Bias


class Scores(NamedTuple):
    """How well each query matches each key, and what mask and positions add to that."""

    scores: Float[Tensor, "B H T S"]
    bias: Bias


_seen: ContextVar[list[Scores] | None] = ContextVar("_seen", default=None)


@contextmanager
def watched_scores() -> Iterator[list[Scores]]:
    """Collect the scores of every layer that is called in here and turns scores into weights."""
    seen: list[Scores] = []
    token = _seen.set(seen)
    try:
        yield seen
    finally:
        _seen.reset(token)


def note_scores(scores: Float[Tensor, "B H T S"], bias: Bias) -> None:
    """Show scores to whoever watches; nobody does in training."""
    seen = _seen.get()
    if seen is not None:
        seen.append(Scores(scores, bias))
