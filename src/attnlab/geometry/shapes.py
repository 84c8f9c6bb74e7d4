"""The arrays of this folder by name; one letter is one size, checked while tests run."""

import numpy as np
from jaxtyping import Bool, Float

Keys = Float[np.ndarray, "S D"]
Values = Float[np.ndarray, "S E"]
Vector = Float[np.ndarray, "D"]
"""One key, or a query."""
Output = Float[np.ndarray, "E"]
"""One value, or a mean of values."""
Weights = Float[np.ndarray, "S"]
Tokens = Bool[np.ndarray, "S"]
"""Which tokens belong to a set."""


def numbers_of(tokens: Tokens) -> str:
    """Write which tokens belong to a set, such as 0, 2."""
    return ", ".join(str(i) for i in np.flatnonzero(tokens))
