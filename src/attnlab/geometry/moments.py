"""Weights with a given mean of the values, and a search for them where no theorem applies.

If the values are an affine function of the keys, softmax(V θ) is the weights of some query, and for
every output strictly inside the values' hull there is a θ that gives it: the lowest point of a
convex function (the dual of the largest entropy). Keys that are affinely independent make any
values an affine function of them. Else the outputs of queries form a set that is not convex.
"""

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares
from scipy.special import logsumexp, softmax

from attnlab.geometry.faces import TOLERANCE, cutoff, smallest_solution, spread
from attnlab.geometry.instance import Instance, output_of, weights_of
from attnlab.geometry.shapes import Output, Values, Vector, Weights

STARTS, NEWTON_STEPS = 24, 200


def values_are_affine(instance: Instance) -> bool:
    """Whether the values are an affine function of the keys."""
    keys = instance.keys - instance.keys.mean(axis=0)
    values = instance.values - instance.values.mean(axis=0)
    fits = [smallest_solution(keys, column, cutoff=cutoff(instance.keys)) for column in values.T]
    rest = values - keys @ np.stack(fits, axis=1)
    return bool(np.abs(rest).max() <= TOLERANCE * max(spread(instance.values), TOLERANCE))


def weights_with_mean(values: Values, output: Output) -> Weights:
    """Give the weights of largest entropy whose mean of the values is a point inside their hull."""
    size = spread(values) or 1.0
    points = (values - output) / size
    theta = np.zeros(values.shape[1])
    for _ in range(NEWTON_STEPS):
        step = _newton_step(points, theta)
        height = logsumexp(points @ theta)
        while np.abs(step).max() > 0 and logsumexp(points @ (theta + step)) > height:
            step = step / 2  # the function is convex: a short enough step goes down
        theta = theta + step
        if np.abs(step).max() <= 1e-15 * max(1.0, float(np.abs(theta).max())):
            break
    result: np.ndarray = softmax(points @ theta)
    return result


def _newton_step(points: Values, theta: Output) -> Output:
    weights = softmax(points @ theta)
    gradient = weights @ points
    centred = points - gradient
    hessian = centred.T @ (weights[:, None] * centred)
    return -smallest_solution(hessian, gradient, cutoff=1e-14)


def output_slope(instance: Instance, query: Vector) -> Float[np.ndarray, "E D"]:
    """Say how the output moves with the query: the covariance of values and keys."""
    weights = weights_of(instance.keys, query)
    centred = instance.values - weights @ instance.values
    slope: np.ndarray = centred.T @ (weights[:, None] * instance.keys)
    return slope


def search_query(instance: Instance, output: Output, *, seed: int = 0) -> tuple[Vector, float]:
    """Look from many starts for the query whose output is nearest; give it and its largest error.

    A small error is a finding; a large one proves nothing.
    """
    size = spread(instance.keys) or 1.0
    width = instance.keys.shape[1]
    generator = np.random.default_rng([seed, len(instance.keys), width])
    starts = generator.normal(size=(STARTS, width)) * np.geomspace(0.1, 10, STARTS)[:, None]
    starts[0] = 0
    best, best_error = np.zeros(width), np.inf
    for start in starts / size:
        found = least_squares(
            lambda query: output_of(instance, query) - output,
            start, lambda query: output_slope(instance, query),
            x_scale=1 / size, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=100,
        )  # fmt: skip
        error = float(np.abs(found.fun).max())
        if error < best_error:
            best, best_error = found.x, error
        if best_error <= TOLERANCE * TOLERANCE:
            break
    return best, best_error
