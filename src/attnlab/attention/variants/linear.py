"""Linear attention (Katharopoulos et al. 2020, arXiv:2006.16236): no softmax, sums instead."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attnlab.attention import ATTENTION
from attnlab.attention.linear_core import FeatureAttention


@ATTENTION.register("linear")
class Linear(FeatureAttention):
    """Each token sees the tokens before it as one sum of their features, elu(x) + 1."""

    supports = frozenset({"causal", "bidirectional", "cache", "prefix", "weights"})

    def key_features(self, k: Float[Tensor, "b H S K"]) -> Float[Tensor, "b H S K"]:
        """Make every coordinate positive."""
        return F.elu(k) + 1
