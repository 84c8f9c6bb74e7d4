"""Random Synthesizer attention (Tay et al. 2020, arXiv:2005.00743, §3.2).

The scores are parameters: they are learned, begin at random, and are the same for every text.
"""

from typing import Unpack

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.softmax_core import Given
from attnlab.attention.variants.synthesizer import SynthesizerLayer


@ATTENTION.register("random_synthesizer")
class RandomSynthesizer(SynthesizerLayer):
    """Each position looks at the same positions, whatever the tokens are."""

    def __init__(self, d_model: int, n_heads: int, max_len: int, **given: Unpack[Given]) -> None:
        super().__init__(d_model, n_heads, max_len, **given)
        self.scores = nn.Parameter(torch.randn(n_heads, max_len, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)

    def synthesize(self, x: Float[Tensor, "B T D"], n_keys: int) -> Float[Tensor, "B H T S"]:
        """Take the learned rows of these positions."""
        rows = self.scores[:, n_keys - x.shape[1] : n_keys, :n_keys]
        return rows.expand(len(x), -1, -1, -1)
