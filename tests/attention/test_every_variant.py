"""What every registered variant promises, checked on each with every position it supports."""

from typing import Any

import pytest
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.assemble import (
    attention_builder,
    build_positions,
    supports_of,
    variant_class,
)
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionOutput, Positions
from attnlab.attention.positions import POSITIONS
from attnlab.attention.settings import AttentionSettings
from attnlab.checks.promises import D, H, Subject, T, promises_of

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "aft": [{"form": "simple"}, {"form": "local", "window": 2}],
    "hard": [{"straight_through": True}],
    "mlp_projection": [{"on": "v"}, {"on": "k", "hidden": 0}, {"hidden": 5}],
    "shared_projection": [{"share": share} for share in ("kv", "qv", "qkv")],
    "sliding_window": [{"window": window} for window in (2, 3)],
    "synthesizer": [{"shared": True}],
}
"""Options that change the computation, besides the defaults."""


class Placed(nn.Module):
    """A layer and its positions, as in a model of one layer."""

    def __init__(self, positions: Positions, layer: nn.Module) -> None:
        super().__init__()
        self.positions, self.layer = positions, layer
        self.null_directions = [f"layer.{n}" for n in getattr(layer, "null_directions", ())]

    def forward(self, x: Tensor, *, cache: Cache | None = None, **how: Any) -> AttentionOutput:
        start = 0 if cache is None else cache.n_tokens
        return self.layer(self.positions.add(x, start), cache=cache, **how)


def subject(settings: AttentionSettings) -> Subject:
    shape = {"d_model": D, "n_heads": H, "max_len": T}

    def build() -> nn.Module:
        positions = build_positions(settings, **shape)
        return Placed(positions, attention_builder(settings, positions, **shape)())

    variant = variant_class(settings.name)
    return Subject(build, supports_of(variant), getattr(variant, "breaks", frozenset()))


def positions_of(name: str) -> list[str]:
    supports = supports_of(variant_class(name))
    return [p for p in POSITIONS.names() if p not in ("rotary", "alibi") or p in supports]


CASES = {
    "-".join([name, *map(str, options.values()), positions]): AttentionSettings(
        name, options, positions
    )
    for name in ATTENTION.names()
    for options in ({}, *OPTIONS.get(name, ()))
    for positions in positions_of(name)
}


@pytest.mark.parametrize("case", CASES)
def test_every_promise_is_kept(case: str) -> None:
    under_test = subject(CASES[case])
    said = {p.__name__: p(under_test) for p in promises_of(under_test.supports)}
    assert {promise: sentence for promise, sentence in said.items() if sentence} == {}


def test_the_variants_of_the_lab_are_all_there() -> None:
    assert (
        ATTENTION.names()
        == (
            "additive aft cosine custom dot_product gaussian hard late_mask linear mlp_projection"
            " performer random_synthesizer shared_projection sliding_window synthesizer"
        ).split()
    )
    assert POSITIONS.names() == "alibi learned none rotary sinusoidal".split()
