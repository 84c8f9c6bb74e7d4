"""All randomness is a pure function of a seed, a purpose and a number; there is no hidden state.

That is what makes a resumed run equal to an uninterrupted one bit for bit.
"""

import zlib

import numpy as np
import torch


def rng(seed: int, purpose: str, *index: int) -> np.random.Generator:
    """Return the generator for one purpose (``"order"``, ``"mask"``) and one index."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode()), *index])


def seed_torch(seed: int, purpose: str, *index: int) -> None:
    """Set torch's generators for what torch itself draws: initial weights, dropout."""
    torch.manual_seed(int(rng(seed, purpose, *index).integers(2**63)))
