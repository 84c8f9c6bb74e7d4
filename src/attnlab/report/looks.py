"""Where a model looked while it wrote an answer, as a figure and the page show it."""

import numpy as np
from jaxtyping import Float


def mean_looks(layer: Float[np.ndarray, "H T T"], *, n_question: int) -> Float[np.ndarray, "A T"]:
    """Return how much each token of the answer looked at every token, mean of the heads.

    The first of the answer is chosen after reading the last token of the question.
    """
    mean: np.ndarray = np.asarray(layer).mean(axis=0)[n_question - 1 :]
    return mean
