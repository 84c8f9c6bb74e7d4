"""What makes conditions comparable: parameters by way of the width, operations, or seconds."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from attnlab.attention.conditions import CONTROL, read_condition
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.models.gpt import GPT
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.attention.fill_in import encoder_of
from attnlab.recipes.attention.settings import AblateSettings
from attnlab.recipes.knowledge.language_model import BLOCK
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.training.length import parse_length

TOLERANCE = 0.05
"""Largest relative difference of two models' numbers of parameters."""


class Matching:
    """Turns a condition into a run that compares fairly with the control."""

    def __init__(self, settings: AblateSettings, *, vocab_size: int) -> None:
        self.match, self.base, self.vocab_size = settings.match, settings.base, vocab_size
        self.block = int(self.base.objective.options["block"])
        self.encoder = settings.encoder
        refuse_other_unit(settings)
        # what every condition is compared with
        control = replace(self.base.model, attention=attention_of(CONTROL, settings))
        self._control = 0 if self.match == "seconds" else self._cost(control)

    def run(self, condition: str, attention: AttentionSettings) -> PretrainSettings:
        """Return the settings of a condition's run."""
        model = replace(self.base.model, attention=attention)
        if self.match == "parameters":
            return replace(self.base, model=self._as_many_parameters(condition, model))
        self._built(model)  # what cannot be built is refused before anything is trained
        run = replace(self.base, model=model)
        if self.match == "seconds":
            return run
        amount, unit = parse_length(self.base.training.length)
        length = f"{amount * self._control / self._cost(model):.3f} {unit}"
        return replace(run, training=replace(self.base.training, length=length))

    def _as_many_parameters(self, condition: str, model: ModelSettings) -> ModelSettings:
        """Widen or narrow the model until its parameters are as near as they can be."""
        sizes = {model.d_model: self._cost(model)}
        step = _width_step(model)
        step = step if sizes[model.d_model] < self._control else -step
        width = model.d_model
        while (sizes[width] < self._control) == (step > 0) and width + step > 0:
            width += step
            sizes[width] = self._cost(replace(model, d_model=width))
            if sizes[width] == sizes[width - step]:
                break  # its size does not depend on the width
        best = min(sizes, key=lambda width: abs(sizes[width] - self._control))
        apart = abs(sizes[best] / self._control - 1)
        if apart > TOLERANCE:
            raise UserError(
                f"condition {condition!r}: no width has as many parameters as the control"
                f" ({self._control:,}) within {TOLERANCE:.0%}; the nearest, d_model = {best}, has"
                f" {sizes[best]:,}, which is {apart:.1%} off. Use --match flops or --match seconds."
            )
        return replace(model, d_model=best)

    def _cost(self, model: ModelSettings) -> int:
        """Count what is matched: parameters, or operations per row."""
        built = self._built(model)
        if self.match == "parameters":
            return sum(parameter.numel() for parameter in built.parameters())
        row = torch.zeros(1, self.block, dtype=torch.long)
        rows = (row, row) if self.encoder else (row,)
        built(*rows)  # a new machine measures its attention paths first, which must not be counted
        # of torch's fused kernels the counter knows only those of GPUs
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            built(*rows).sum().backward()
        return int(counter.get_total_flops())

    def _built(self, model: ModelSettings) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            if self.encoder:
                return encoder_of(model, vocab_size=self.vocab_size, max_len=self.block)
            return GPT(self.vocab_size, max(BLOCK, self.block), **vars(model))


def attention_of(condition: str, settings: AblateSettings) -> AttentionSettings:
    """Read a condition; an encoder has its own table of positions, and names none."""
    own = settings.base.model.attention.positions
    return read_condition(condition, positions="none" if settings.encoder else own)


def refuse_other_unit(settings: AblateSettings) -> None:
    """Refuse a training length that would give the conditions different budgets."""
    length = settings.base.training.length
    in_seconds = parse_length(length).unit == "seconds"
    if in_seconds and settings.match != "seconds":
        raise UserError(
            f"--length '{length}' gives a slow variant fewer tokens, and --match {settings.match}"
            " compares equal ones: give the length in tokens, or --match seconds."
        )
    if not in_seconds and settings.match == "seconds":
        raise UserError(
            f"--match seconds needs a length in seconds, not '{length}': give --length '60"
            " seconds'."
        )


def _width_step(model: ModelSettings) -> int:
    """Return by how much the width can change: heads are equally wide, and rotary ones even."""
    return model.n_heads * (2 if model.attention.positions == "rotary" else 1)
