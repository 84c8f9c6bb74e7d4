"""Pretraining objectives by name, one file each: a class that draws the rows of an epoch."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from attnlab.registry import Registry

if TYPE_CHECKING:
    import numpy as np

    from attnlab.data.batches import TokenRow


Preference = Callable[[str, str], float]
"""How likely a name's span is to answer what the training questions ask, from 0 to 1."""


@runtime_checkable
class Objective(Protocol):
    """Made from a corpus (a document a line), a tokenizer, and a preference for some spans."""

    longest: int
    """The most tokens that a model has to read of a row."""

    def rows(self, generator: "np.random.Generator") -> "Sequence[TokenRow]":
        """Draw the rows of one epoch."""


OBJECTIVES = Registry[Callable[..., Objective]]("objective", package="attnlab.data.objectives")
