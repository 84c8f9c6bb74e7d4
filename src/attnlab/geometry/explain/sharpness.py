"""How large a multiple of the wanted keys' sum gives them a wanted mass?"""

import math

import numpy as np

from attnlab.geometry.explanation import Explanation
from attnlab.geometry.panels import Curves
from attnlab.geometry.sharpness import mass_at, smallest_beta, weight_of_plain_sum
from attnlab.geometry.words import number


def explain_sharpness(mass: float, *, n_tokens: int, wanted: int, width: int) -> Explanation:
    """Give the smallest β for a mass, and what the plain sum of the wanted keys gives."""
    beta = smallest_beta(mass, n_tokens=n_tokens, wanted=wanted)
    plain = weight_of_plain_sum(width, n_tokens=n_tokens, wanted=wanted)
    scale, even = beta * math.sqrt(width), 1 / n_tokens
    betas = np.linspace(0, max(1.6 * beta, 4), 200)
    masses = np.array([mass_at(float(b), n_tokens=n_tokens, wanted=wanted) for b in betas])
    return Explanation(
        f"{mass:g} of the weight on {wanted} of {n_tokens} orthonormal keys of width {width}",
        parts=[
            {
                "smallest β": f"{number(beta, 6)} = ln(mass·(n-m) / ((1-mass)·m))",
                "with 1/√h": f"q = β√h·(their sum) = {number(scale, 6)}·(their sum)",
                "without": f"q = β·(their sum) = {number(beta, 6)}·(their sum)",
                "plain sum": f"with 1/√h, their sum itself gives each {plain:.3f};"
                f" {even:.3f} is what every key gets from q = 0",
            }
        ],
        data={
            "mass": mass, "n_tokens": n_tokens, "wanted": wanted, "width": width, "beta": beta,
            "query_scale": scale, "plain_weight": plain, "even_weight": even,
        },
        panels=[
            Curves("β", f"mass on {wanted} of {n_tokens} keys", {"": (betas, masses)},
                   mark=(beta, mass)),
        ],
    )  # fmt: skip
