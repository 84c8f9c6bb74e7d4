"""Layers with a plain ``forward(self, x)``, as most tutorials write them, and how to build them.

They are checked like others, except for what needs a mask: padding, packed texts, empty rows.
"""

import inspect
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from attnlab.attention.contract import AttentionOutput
from attnlab.checks.findings import NotWrittenError
from attnlab.checks.promises import D, H, T

CONFIG = SimpleNamespace(
    d_model=D, n_embd=D, n_heads=H, n_head=H, max_len=T, block_size=T, bias=True,
    dropout=0.0, attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0,
)  # fmt: skip
"""For classes in minGPT's manner, which take all settings as one object."""
LENGTHS = {"max_len", "block_size", "max_seq_len", "seq_len", "context_length", "n_tok"}


def takes_mask(variant: type[nn.Module]) -> bool:
    """Whether its forward has our contract."""
    return "mask" in inspect.signature(variant.forward).parameters


def is_plain(variant: type[nn.Module]) -> bool:
    """Whether its forward takes the tokens and needs nothing else."""
    _, *parameters = inspect.signature(variant.forward).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind.name[:3] != "VAR"]
    return len(needed) == 1 and not takes_mask(variant)


def settings_of(variant: type[nn.Module]) -> tuple[Any, ...]:
    """Give what its constructor is called with: a config, or width, heads and length in order."""
    named = list(inspect.signature(variant).parameters.values())
    places = [p for p in named if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if places and places[0].name in ("config", "cfg"):
        return (CONFIG,)
    needed = sum(p.default is p.empty for p in places)
    has_length = len(places) > 2 and places[2].name in LENGTHS
    return (D, H, T)[: 3 if has_length else needed]


def with_contract(variant: type[nn.Module]) -> type[nn.Module]:
    """Return the class with our contract: a mask is taken and ignored, since it has its own."""

    class Adapted(variant):  # type: ignore[misc, valid-type]
        def forward(self, x: Tensor, **_: Any) -> AttentionOutput:
            given = super().forward(x)
            out = given[0] if isinstance(given, tuple) and given else given
            if out is None:
                raise NotWrittenError("forward returns nothing")
            if not isinstance(out, Tensor):
                raise TypeError(f"forward returns {type(out).__name__}, not a tensor")
            return AttentionOutput(out)

    return Adapted
