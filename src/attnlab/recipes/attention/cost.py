"""Measure what attentions cost against the length of a row."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import yaml

from attnlab.attention.assemble import attention_builder, build_positions
from attnlab.attention.contract import AttentionMask
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.evaluation.cost import Cost, Limits, Work, measure_costs

CAUSAL = AttentionMask(causal=True)


def measure_attention(
    names: Sequence[str],
    lengths: Sequence[int],
    *,
    d_model: int,
    n_heads: int,
    rounds: int,
    on_round: Callable[[], None],
) -> list[Cost]:
    """Measure a causal layer forward and back, one row, no dropout, in float32."""
    shape = {"d_model": d_model, "n_heads": n_heads}
    candidates = {name: layer_work(name, shape) for name in names}
    return measure_costs(candidates, lengths, rounds=rounds, limits=Limits(), on_round=on_round)


def layer_work(name: str, shape: Mapping[str, int]) -> Callable[[int], Work]:
    """Return what makes the work of a layer for a length; ``name`` may carry options."""
    settings = with_options(name)

    def make(length: int) -> Work:
        how = {**shape, "max_len": length}
        torch.manual_seed(0)
        layer = attention_builder(settings, build_positions(settings, **how), **how)()
        x = torch.randn(1, length, shape["d_model"], requires_grad=True)
        gradient = torch.randn(1, length, shape["d_model"])
        sources = [x, *layer.parameters()]

        def work() -> object:
            out = layer(x, mask=CAUSAL).out
            return torch.autograd.grad(out, sources, gradient, allow_unused=True)

        return work

    make(2)  # what cannot be built is told before anything is measured
    return make


def with_options(text: str) -> AttentionSettings:
    """Read ``NAME`` or ``NAME:option=value,option=value``."""
    name, colon, tail = text.rpartition(":")
    if "=" not in tail:
        return AttentionSettings(text, positions="none")
    options: dict[str, Any] = {}
    for pair in tail.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not colon:
            raise UserError(f"{text!r} is not of the form NAME:option=value,option=value.")
        options[key] = yaml.safe_load(value)
    return AttentionSettings(name, options, positions="none")
