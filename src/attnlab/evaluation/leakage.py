"""Does a causal model see the future? Draw the end of a text again: nothing before may change.

In float64 a causal model passes with a change of exactly 0. A leak is told as the largest change of
an output and, for a language model, in bits: by how much the next token becomes harder to predict
when it and all that follows is drawn again. That is what a reported perplexity owes to the leak.
It is measured as in evaluation: what leaks in training alone, by way of dropout, is not seen.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask
from attnlab.errors import UserError

MOST_CUTS = 128
"""Shorter rows are cut everywhere, longer ones evenly and where chunks would end."""
CHUNKS = 32
CAUSAL = AttentionMask(causal=True)


@dataclass(frozen=True)
class Leak:
    """What reached the past when the future was drawn again."""

    largest_change: float
    """Of a logit, or of a layer's output; not a number if the model gives none."""
    bits: float | None
    """Mean rise of the next token's log-loss; None for a layer, which predicts nothing."""
    reached: int | None = None
    """Position of the largest change."""
    from_: int | None = None
    """First position that was drawn again."""

    @property
    def found(self) -> bool:
        """Whether anything changed at all."""
        return self.largest_change != 0.0  # also when it is not a number

    @property
    def is_nan(self) -> bool:
        """Whether the model gave something that is no number."""
        return math.isnan(self.largest_change)

    def sentence(self) -> str:
        """Say it in words."""
        if not self.found:
            return "nothing before a change feels it"
        if self.is_nan:
            return "some outputs are not a number"
        worth = "" if self.bits is None else f", worth {self.bits:.3g} bits a token"
        return (
            f"the output at position {self.reached} changes by {self.largest_change:.2g} when the"
            f" tokens from position {self.from_} on are drawn again{worth}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what a record stores."""
        fields = {key.rstrip("_"): value for key, value in asdict(self).items()}
        return {**fields, "sentence": self.sentence()}


def model_leak(model: nn.Module, tokens: Int[Tensor, "B T"], *, seed: int = 0) -> Leak:
    """Measure a language model that maps tokens to logits; the model itself stays as it is."""
    exact = copy.deepcopy(model).to("cpu", torch.float64).eval()
    tokens = tokens.cpu()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        vocabulary = exact(tokens).shape[-1]
        shift = torch.randint(1, max(2, vocabulary), tokens.shape, generator=generator)
        other = (tokens + shift) % vocabulary  # so that every token is another
        return _measure(exact, tokens, other, targets=tokens)


def layer_leak(layer: nn.Module, x: Float[Tensor, "B T D"], *, seed: int = 0) -> Leak:
    """Measure an attention layer that is given a causal mask; pass both in float64."""
    generator = torch.Generator().manual_seed(seed)
    other = torch.randn(x.shape, generator=generator, dtype=x.dtype)

    def outputs(x: Tensor) -> Tensor:
        out: Tensor = layer(x, mask=CAUSAL).out
        return out

    with torch.no_grad():
        return _measure(outputs, x, other, targets=None)


def refuse_undeclared(leak: Leak, model: nn.Module) -> None:
    """Stop before a model that sees the future is trained or believed, unless it says it does."""
    if leak.is_nan:
        raise UserError(
            "this model gives outputs that are not a number; look at the options of its attention"
            " and positions."
        )
    if leak.found and "causal" not in breaks_of(model):
        raise UserError(
            f"this model sees the future: {leak.sentence()}. Its loss would be worth nothing."
            " Mask the scores before the softmax; an attention that leaks on purpose says so"
            " with breaks = frozenset({'causal'})."
        )


def breaks_of(model: nn.Module) -> frozenset[str]:
    """Return the promises that any part of a model declares to break."""
    return frozenset().union(*(getattr(module, "breaks", ()) for module in model.modules()))


def _measure(
    forward: Callable[[Tensor], Tensor], inputs: Tensor, other: Tensor, *, targets: Tensor | None
) -> Leak:
    """Compare the outputs before each of some cuts with those of another future."""
    n_tokens = inputs.shape[1]
    outputs = forward(inputs)
    worst = Leak(0.0, None if targets is None else 0.0)
    rises: list[float] = []
    for cut in _cuts(n_tokens):
        changed = forward(torch.cat([inputs[:, :cut], other[:, cut:]], dim=1))
        change = (changed - outputs)[:, :cut].abs().amax(dim=(0, 2))
        largest = float(change.max())
        if largest > worst.largest_change or (math.isnan(largest) and not worst.is_nan):
            worst = Leak(largest, None, int(change.argmax()), cut)
        if targets is not None:
            before, after = (
                out[:, cut - 1].log_softmax(-1).gather(1, targets[:, cut, None])
                for out in (outputs, changed)
            )
            rises.append(float((before - after).mean()) / math.log(2))
    if targets is None:
        return worst
    return Leak(worst.largest_change, sum(rises) / len(rises), worst.reached, worst.from_)


def _cuts(n_tokens: int) -> list[int]:
    """Return where the future begins: a peek at the next token shows at one cut alone."""
    assert n_tokens > 1, "one token has no future"
    if n_tokens <= MOST_CUTS:
        return list(range(1, n_tokens))
    evenly = torch.linspace(1, n_tokens - 1, MOST_CUTS).round().int().tolist()
    return sorted({*evenly, *range(CHUNKS, n_tokens, CHUNKS)})
