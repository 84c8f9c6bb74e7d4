"""Numbers, vectors, targets and proofs in words."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attnlab.geometry.certificates import Certificate

MOST_NUMBERS = 12
"""A longer vector is cut on a terminal; JSON has it whole."""
LARGEST_EXPONENT = 700
"""e to this power is near the largest float."""
TINY = 1e-12
"""Smaller shares are rounding, and left out of a sentence."""


def number(value: float, digits: int = 4) -> str:
    """Write a number; what is rounding is 0."""
    if value and abs(value) < TINY:
        return f"{value:.1e}"
    return f"{value:.{digits}g}"


def exponential(exponent: float) -> str:
    """Write e^exponent; a number that would be too large is written as a power of ten."""
    if exponent < LARGEST_EXPONENT:
        return number(math.exp(exponent), 3)
    return f"10^{number(exponent / math.log(10), 3)}"


def vector(numbers: np.ndarray, digits: int = 4) -> str:
    """Write a vector so that it can be given back as an answer; nine digits keep small errors."""
    clean = [0.0 if abs(x) < TINY else float(x) for x in numbers]
    shown = ", ".join(number(x, digits) for x in clean[:MOST_NUMBERS])
    return f"[{shown}{', …' if len(clean) > MOST_NUMBERS else ''}]"


def capital(text: str) -> str:
    """Begin a sentence."""
    return f"{text[0].upper()}{text[1:]}"


def listed(items: Iterable[Any]) -> str:
    """List with commas and a last "and"."""
    words = [str(item) for item in items]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def target_words(target: np.ndarray) -> str:
    """Name what is wanted of the weights."""
    chosen = np.flatnonzero(target)
    if len(chosen) == 1:
        return f"all weight on token {chosen[0]}"
    if np.ptp(target[chosen]) > 0:
        return f"weights {vector(target)}"
    if len(chosen) == len(target):
        return f"equal weight on all {len(target)} tokens"
    return f"equal weight on tokens {listed(chosen)}, none elsewhere"


def combination(shares: Sequence[float] | np.ndarray, names: Sequence[str]) -> str:
    """Write Σ share · name, such as 0.3·k0 + 0.7·k1."""
    text = ""
    for share, name in zip(shares, names, strict=True):
        if abs(share) <= TINY:
            continue
        size = "" if math.isclose(abs(share), 1, rel_tol=1e-9) else f"{number(abs(share))}·"
        sign = "-" if share < 0 else "+" if text else ""
        text += f" {sign} {size}{name}" if text else f"{sign}{size}{name}"
    return text or "0"


def proof(certificate: Certificate, target: np.ndarray) -> str:
    """Say why no query has the wanted weights, so that it can be checked with a calculator."""
    c = certificate.dependency
    most = certificate.most_weight
    chosen = np.flatnonzero(target)
    if most is not None and len(chosen) == 1:
        return (
            f"k{chosen[0]} = {_side(c, 'k')}: {certificate.reason}. Whatever the query, its score"
            f" is the same mean of their scores, so its weight never exceeds {number(most)}."
        )
    left, right = _side(c, "log a"), _side(-c, "log a")
    said = (
        f"{_side(c, 'k')} = {_side(-c, 'k')}: {certificate.reason}. A log weight is a score plus a"
        f" constant, so the weights a of every query have {left} = {right}."
    )
    return f"{said} {_contradiction(certificate, target)}"


def _side(numbers: np.ndarray, name: str) -> str:
    """Write the terms with a positive number."""
    return combination(
        [max(float(x), 0.0) for x in numbers], [f"{name}{i}" for i in range(len(numbers))]
    )


def _contradiction(certificate: Certificate, target: np.ndarray) -> str:
    off = certificate.log_sum(target)
    if math.isfinite(off):
        return f"For the wanted weights the two sides differ by {number(abs(off))}."
    return "For the wanted weights the left side would be log 0 = -∞ and the right side finite."
