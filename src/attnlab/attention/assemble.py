"""From settings to layers: one position scheme for a model, and an attention for each layer."""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.contract import CAPABILITIES, Positions
from attnlab.attention.positions import POSITIONS
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError


def build_positions(
    settings: AttentionSettings, *, d_model: int, n_heads: int, max_len: int
) -> Positions:
    """Build the position scheme that all layers share."""
    scheme: Positions = POSITIONS.build(
        settings.positions, d_model, n_heads, max_len, options=settings.position_options
    )
    return scheme


def attention_builder(
    settings: AttentionSettings,
    positions: Positions,
    *,
    d_model: int,
    n_heads: int,
    max_len: int,
    dropout: float = 0.0,
) -> Callable[[], nn.Module]:
    """Return what builds one layer's attention; a combination that cannot work is refused here."""
    variant = variant_class(settings.name)
    given: dict[str, Any] = {}
    if "dropout" in inspect.signature(variant).parameters:
        given["dropout"] = dropout
    if positions.needs is not None:
        if positions.needs not in supports_of(variant):
            raise UserError(
                f"attention {settings.name!r} does not support {positions.needs} positions."
                f" Those that do: {', '.join(supporting(positions.needs))}."
                " learned, sinusoidal and none go with every attention."
            )
        given["positions"] = positions

    def build() -> nn.Module:
        layer: nn.Module = ATTENTION.build(
            settings.name, d_model, n_heads, max_len, options=settings.options, **given
        )
        return layer

    return build


def variant_class(name: str) -> type[nn.Module]:
    """Return the class of a variant, registered or in a user's file."""
    part = ATTENTION.get(name)
    if not (isinstance(part, type) and issubclass(part, nn.Module)):
        raise UserError(f"attention {name!r} is not a class derived from torch.nn.Module.")
    return part


def supports_of(variant: type[nn.Module]) -> frozenset[str]:
    """Return what a variant declares to support."""
    declared = frozenset(getattr(variant, "supports", ()))
    unknown = sorted(declared - set(CAPABILITIES))
    if unknown:
        raise UserError(
            f"{variant.__name__}.supports has {', '.join(unknown)}."
            f" Allowed: {', '.join(CAPABILITIES)}."
        )
    return declared


def hash_of_users_files(settings: AttentionSettings) -> str | None:
    """Return what tells whether a user's own files have changed; None if there are none."""
    references = [settings.name, *map(str, settings.options.values())]
    paths = [reference.rpartition(":")[0] for reference in references if ".py:" in reference]
    if not paths:
        return None
    digest = hashlib.sha256()
    for path in map(Path, paths):
        if not path.is_file():
            raise UserError(f"there is no file {path}.")
        digest.update(path.read_bytes())
    return digest.hexdigest()


def supporting(capability: str) -> list[str]:
    """List the registered variants that support something."""
    return [n for n in ATTENTION.names() if capability in supports_of(variant_class(n))]
