"""Where every head of a model looks in one text, computed one layer at a time.

A model reads the text once, and what each attention layer was given is kept: one vector per token.
A layer's weights, T × S numbers for each head, are computed again from that when they are wanted,
so that long texts and many layers need no more memory than one layer does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention.watching import watched_scores
from attnlab.errors import UserError
from attnlab.models.bert import Bert
from attnlab.models.encoder import SequenceClassifier
from attnlab.models.gpt import GPT

Side = Literal["text", "decoder"]
"""Whose tokens the queries or keys are: the text's, or those that T5's decoder reads."""


@dataclass(frozen=True)
class Heads:
    """What all heads of a layer did; keys that tuning has learned come before those of tokens."""

    weights: Float[Tensor, "H T S"]
    scores: Float[Tensor, "H T S"] | None = None
    """How well queries match keys, before mask and positions; None if no scores become weights."""
    masked: Float[Tensor, "H T S"] | None = None
    """The same with what positions add, and −∞ where a query may not look."""


@runtime_checkable
class LayerLook(Protocol):
    """One attention layer that has read a text."""

    @property
    def name(self) -> str:
        """What to call it."""

    @property
    def queries(self) -> Side:
        """Which tokens look."""

    @property
    def keys(self) -> Side:
        """Which tokens are looked at."""

    def heads(self) -> Heads:
        """Compute where its heads look, for all queries, those of a prompt included."""


@dataclass(frozen=True)
class OwnLayer:
    """A layer of ours, with what it was given."""

    name: str
    module: nn.Module
    x: Float[Tensor, "1 T D"]
    given: Mapping[str, Any]
    queries: Side = "text"
    keys: Side = "text"

    def heads(self) -> Heads:
        """Let the layer attend once more, and watch it."""
        with watched_scores() as seen:
            weights = self.module(self.x, **{**self.given, "need_weights": True}).weights
        assert weights is not None, f"{self.name} supports weights but returned none"
        if not seen:
            return Heads(weights[0].float())
        scores, bias = seen[-1]
        return Heads(
            weights[0].float(),
            scores[0].float().expand_as(weights[0]),
            hidden_as_infinite(scores, bias.added)[0].float().expand_as(weights[0]),
        )


def hidden_as_infinite(
    scores: Float[Tensor, "B H T S"], added: Float[Tensor, "b h T S"] | None
) -> Float[Tensor, "B H T S"]:
    """Add what mask and positions add; the lowest finite number, which hides a key, becomes −∞."""
    if added is None:
        return scores
    hidden = added == torch.finfo(added.dtype).min
    return (scores + added).masked_fill(hidden, -torch.inf)


def gpt_layers(model: GPT, tokens: Int[Tensor, "1 T"]) -> list[LayerLook]:
    """Let a GPT read a text, and keep what its layers were given."""
    return _own_layers((block.attn for block in model.blocks), lambda: model(tokens))


def encoder_layers(
    model: SequenceClassifier, tokens: Int[Tensor, "1 T"], types: Int[Tensor, "1 T"]
) -> Sequence[LayerLook]:
    """Let a classifier read a text, and keep what its layers were given."""
    body = getattr(model, "body", None)
    if isinstance(body, Bert):  # its summary would compute one query of the last layer only
        return _own_layers((layer.attn for layer in body.layers), lambda: body(tokens, types))
    from attnlab.models.hub_attention import hub_layers
    from attnlab.models.hub_classifier import HubClassifier

    assert isinstance(model, HubClassifier), type(model).__name__
    return hub_layers(model, tokens, types)


def _own_layers(modules: Iterable[Any], read: Callable[[], object]) -> list[LayerLook]:
    found: list[LayerLook] = []

    def keep(module: nn.Module, positional: tuple[Any, ...], given: dict[str, Any]) -> None:
        found.append(OwnLayer(f"layer {len(found) + 1}", module, positional[0], given))

    with ExitStack() as hooks:
        for module in modules:
            need_weights(module)
            hook = module.register_forward_pre_hook(keep, with_kwargs=True)
            hooks.callback(hook.remove)
        read()
    return found


def need_weights(module: nn.Module) -> None:
    """Refuse an attention that cannot say where it looks."""
    if "weights" not in getattr(module, "supports", ()):
        raise UserError(
            f"the attention {type(module).__name__} of this model has no weights: it mixes the"
            " tokens without giving each a share, so there is nothing to draw."
        )
