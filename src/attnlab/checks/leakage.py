"""Does a causal model see the future? Draw the end of a text again: nothing before may change.

In float64 a causal model passes with a change of exactly 0. A leak is reported as the largest
change of an output and, for a language model, in bits: by how much the next token becomes harder to
predict when it and all that follows is drawn again. A leak saves less: a wrong future misleads.
It is measured as in evaluation: what leaks in training alone, by way of dropout, is not seen.

Every place where the end may begin is a cut, and every cut costs a forward pass. Where seconds are
limited, the most telling cuts come first (``cuts.py``) and the record says how many were measured.
A missing mask, a late mask and a shift by one show at every cut, a chunk that sees the next one
where chunks end. A peek that shows at only one cut is missed if the time is spent before its turn.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask
from attnlab.checks.cuts import LEAST_CUTS, Budget, Clock, all_cuts, most_telling_first
from attnlab.checks.leak_meter import Change, Meter, in_float64
from attnlab.errors import UserError

SECONDS_BEFORE_TRAINING = 0.5
"""Seconds of the measurement before step 1."""
CAUSAL = AttentionMask(causal=True)


@dataclass(frozen=True)
class Leak:
    """What reached the past when the future was drawn again."""

    largest_change: float
    """Of a logit, or of a layer's output; NaN if the model returns NaN."""
    bits: float | None
    """Mean rise of the next token's log-loss; None for a layer, which predicts nothing."""
    reached: int | None = None
    """Position of the largest change."""
    from_: int | None = None
    """First position that was drawn again."""
    cuts: int | None = field(default=None, compare=False)
    """How many cuts were measured."""
    possible_cuts: int | None = field(default=None, compare=False)
    """How many there were to measure."""

    @property
    def found(self) -> bool:
        """Whether anything changed at all."""
        return self.largest_change != 0.0  # also when it is not a number

    @property
    def is_nan(self) -> bool:
        """Whether the model gave something that is no number."""
        return math.isnan(self.largest_change)

    def sentence(self) -> str:
        """Say in words what was found."""
        some = f" (measured at {self.cuts} of {self.possible_cuts} cuts)"
        return self._finding() + ("" if self.cuts == self.possible_cuts else some)

    def to_dict(self) -> dict[str, Any]:
        """Return what a record stores."""
        fields = {key.rstrip("_"): value for key, value in asdict(self).items()}
        return {**fields, "sentence": self.sentence()}

    def _finding(self) -> str:
        if not self.found:
            return "nothing before a change feels it"
        if self.is_nan:
            return "some outputs are not a number"
        worth = "" if self.bits is None else f", worth {self.bits:.3g} bits per token"
        return (
            f"the output at position {self.reached} changes by {self.largest_change:.2g} when the"
            f" tokens from position {self.from_} on are drawn again{worth}"
        )


def seconds_after_training(training_seconds: float) -> float:
    """Return how long to measure at the end of a run.

    Both measurements may together cost 1 s or 2 % of the training, whichever is more; this is what
    the one before step 1 leaves.
    """
    return max(1.0, 0.02 * training_seconds) - SECONDS_BEFORE_TRAINING


def model_leak(
    model: nn.Module,
    tokens: Int[Tensor, "B T"],
    *,
    seed: int = 0,
    seconds: float = math.inf,
    clock: Clock = time.perf_counter,
) -> Leak:
    """Measure a language model that maps tokens to logits; the model itself stays as it is.

    ``seconds`` limits the number of cuts; a few are always measured, in the first row only if
    there is no time for all rows.
    """
    budget = Budget(seconds, clock)
    exact, tokens = in_float64(model), tokens.cpu()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        before = budget.spent
        outputs = exact(tokens)
        took = budget.spent - before
        vocabulary = outputs.shape[-1]
        shift = torch.randint(1, max(2, vocabulary), tokens.shape, generator=generator)
        other = (tokens + shift) % vocabulary  # so that every token is another
        meter = Meter(exact, tokens, other, outputs, targets=tokens)
        return _measure(meter if budget.has(LEAST_CUTS * took) else meter.first_row(), budget)


def layer_leak(layer: nn.Module, x: Float[Tensor, "B T D"], *, seed: int = 0) -> Leak:
    """Measure an attention layer that is given a causal mask; pass both in float64."""
    generator = torch.Generator().manual_seed(seed)
    other = torch.randn(x.shape, generator=generator, dtype=x.dtype)

    def outputs(x: Tensor) -> Tensor:
        out: Tensor = layer(x, mask=CAUSAL).out
        return out

    with torch.no_grad():
        return _measure(Meter(outputs, x, other, outputs(x)), Budget())


def refuse_undeclared(leak: Leak, model: nn.Module) -> None:
    """Stop before a model that sees the future is trained or believed, unless it says it does."""
    if leak.is_nan:
        raise UserError(
            "this model returns outputs that are not a number; look at the options of its attention"
            " and positions."
        )
    if leak.found and "causal" not in breaks_of(model):
        raise UserError(
            f"this model sees the future: {leak.sentence()}. Its loss would mean nothing."
            " Mask the scores before the softmax. An attention that leaks on purpose declares it"
            " with breaks = frozenset({'causal'})."
        )


def breaks_of(model: nn.Module) -> frozenset[str]:
    """Return the promises that any part of a model declares to break."""
    return frozenset().union(*(getattr(module, "breaks", ()) for module in model.modules()))


def _measure(meter: Meter, budget: Budget) -> Leak:
    """Measure the most telling cuts first, until the time is spent."""
    cuts = all_cuts(meter.inputs.shape[1])
    changes = [meter.at(cut) for cut in budget.take(most_telling_first(cuts))]
    leak = _worst(sorted(changes, key=lambda change: change.cut))
    return replace(leak, cuts=len(changes), possible_cuts=len(cuts))


def _worst(changes: Sequence[Change]) -> Leak:
    """Return the largest change, at the first of equal cuts, and the mean rise."""
    rises = [change.rise for change in changes if change.rise is not None]
    bits = sum(rises) / len(rises) if rises else None
    worst = max(changes, key=lambda change: (math.isnan(change.largest), change.largest))
    if worst.largest == 0.0:
        return Leak(0.0, bits)
    return Leak(worst.largest, bits, worst.reached, worst.cut)
