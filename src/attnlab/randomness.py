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
    number = int(rng(seed, purpose, *index).integers(2**63))
    # without a GPU, torch.manual_seed formats a stack trace for each kind that may come later
    seeded = torch if torch.accelerator.is_available() else torch.default_generator
    seeded.manual_seed(number)
