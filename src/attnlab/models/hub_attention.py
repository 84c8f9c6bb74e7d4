"""Where the heads of a model of transformers look: its attention is watched during one call."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.errors import UserError
from attnlab.models.attention_maps import Heads, LayerLook, Side
from attnlab.models.hub_classifier import HubClassifier, causal_of, with_prefix

WATCHED = "attnlab_watched"
"""What transformers calls attention that is watched."""


@dataclass(frozen=True)
class HubLayer:
    """An attention of transformers, with the queries and keys that it computed."""

    name: str
    query: Float[Tensor, "1 H T K"]
    key: Float[Tensor, "1 H S K"]
    mask: Bool[Tensor, "b h T S"] | None
    scaling: float
    bias: Float[Tensor, "b H T S"] | None = None
    """What positions add to the scores, as in T5."""
    queries: Side = "text"
    keys: Side = "text"

    def heads(self) -> Heads:
        """Compute what the fused kernel of transformers computes, step by step in float32."""
        query, key = self.query[0].float(), self.key[0].float()
        with torch.autocast(query.device.type, enabled=False):
            scores = query @ key.transpose(-2, -1) * self.scaling
        masked = scores if self.bias is None else scores + self.bias[0].float()
        if self.mask is not None:
            masked = masked.masked_fill(~self.mask[0], -torch.inf)
        return Heads(masked.softmax(-1), scores, masked)


def hub_layers(
    model: HubClassifier, tokens: Int[Tensor, "1 T"], types: Int[Tensor, "1 T"]
) -> Sequence[LayerLook]:
    """Let a model read a text, and keep the queries and keys of its layers."""
    names = {id(module): name for name, module in model.net.named_modules()}
    found: list[HubLayer] = []
    with _watching(model.net, found, names):
        model.summary(tokens, types, None)
    if not found:
        raise UserError(
            f"a model of the kind {cast('Any', model.net).config.model_type!r} does not show where"
            " it looks."
        )
    return found


@contextmanager
def _watching(net: nn.Module, found: list[HubLayer], names: dict[int, str]) -> Iterator[None]:
    """Let transformers call attention that is kept, and afterwards its own again."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Any, **given: Any
    ) -> Any:
        if getattr(module, "prefix", None) is None:
            mask = causal_of(module, query, key, mask)
        else:
            key, value, mask, given = with_prefix(module, query, key, value, mask, given)
        name, queries, keys = _named(names[id(module)])
        scaling = given.get("scaling")
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        bias = given.get("position_bias")
        found.append(HubLayer(name, query, key, mask, scaling, bias, queries, keys))
        given = given | {"is_causal": False}
        return sdpa_attention_forward(module, query, key, value, mask, **given)

    AttentionInterface.register(WATCHED, attend)
    AttentionMaskInterface.register(WATCHED, sdpa_mask)
    theirs: Any = net
    before = theirs.config._attn_implementation
    theirs.set_attn_implementation(WATCHED)
    try:
        yield
    finally:
        theirs.set_attn_implementation(before)


def _named(path: str) -> tuple[str, Side, Side]:
    """Say which layer a module is, and whose tokens it reads; numbers of layers begin at 1."""
    number = 1 + next(int(part) for part in path.split(".") if part.isdigit())
    if "decoder" not in path.split("."):
        return f"layer {number}", "text", "text"
    if "EncDecAttention" in path:
        return f"decoder {number}, to the text", "decoder", "text"
    return f"decoder {number}", "decoder", "decoder"
