"""How large a multiple of the keys a given mass needs, with the 1/√d of scaled attention.

For keys of unit length at right angles and q = β √d (k_a + k_b), the scaled scores are β on the
wanted keys and 0 on the others (*boolq*; *knowledge* has no 1/√d and so no √d in q). Together
the m wanted keys have the mass m e^β / (m e^β + n − m), so β ≥ ln(mass (n − m) / ((1 − mass) m)).
"""

import math

from attnlab.errors import UserError


def smallest_beta(mass: float, *, n_tokens: int, wanted: int = 2) -> float:
    """Give the smallest β ≥ 0 with which the wanted keys together have the mass."""
    _check(n_tokens, wanted)
    if not 0 < mass < 1:
        raise UserError(f"a mass of {mass:g} cannot be reached: between 0 and 1, both excluded.")
    if n_tokens == wanted:
        return 0.0
    return max(0.0, math.log(mass * (n_tokens - wanted) / ((1 - mass) * wanted)))


def mass_at(beta: float, *, n_tokens: int, wanted: int = 2) -> float:
    """Give the mass of the wanted keys together."""
    _check(n_tokens, wanted)
    return wanted / (wanted + (n_tokens - wanted) * math.exp(-beta))


def weight_of_plain_sum(width: int, *, n_tokens: int, wanted: int = 2) -> float:
    """Give the weight of each wanted key for q = k_a + k_b, which 1/√d keeps near 1/n."""
    if width < n_tokens:
        raise UserError(
            f"{n_tokens} keys of width {width} are not possible: at most as many as the width are"
            " at right angles to each other. Give fewer tokens or a larger width."
        )
    return mass_at(1 / math.sqrt(width), n_tokens=n_tokens, wanted=wanted) / wanted


def _check(n_tokens: int, wanted: int) -> None:
    if not 1 <= wanted <= n_tokens:
        raise UserError(
            f"{wanted} wanted of {n_tokens} keys is not possible: from 1 up to all of them."
        )
