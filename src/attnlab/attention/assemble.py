"""From settings to layers: one position scheme per model, one attention per layer."""

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path

from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.contract import CAPABILITIES, Positions
from attnlab.attention.positions import POSITIONS
from attnlab.attention.settings import AttentionSettings
from attnlab.attention.softmax_core import AttentionLayer, Given
from attnlab.errors import UserError
from attnlab.registry import telling_the_line, users_file

GIVEN = Given.__annotations__.keys()
"""What a model gives to its attention; the rest are the variant's own options."""


def build_positions(
    settings: AttentionSettings, *, d_model: int, n_heads: int, max_len: int
) -> Positions:
    """Build the position scheme that all layers share."""
    name = settings.positions
    with telling_the_line(name):
        scheme = POSITIONS.build(name, d_model, n_heads, max_len, options=settings.position_options)
    if not isinstance(scheme, Positions):
        raise UserError(f"position scheme {name!r} is not derived from contract.Positions.")
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
    for name in GIVEN & settings.options.keys():
        raise UserError(f"attention {settings.name!r}: {name} is set by the model, not an option.")
    if positions.needs is not None and positions.needs not in supports_of(variant):
        raise UserError(
            f"attention {settings.name!r} does not support {positions.needs} positions."
            f" Those that do: {', '.join(supporting(positions.needs))}."
            f" {', '.join(positions_for(frozenset()))} go with every attention."
        )
    offered = {"dropout": dropout, "positions": positions if positions.needs else None}
    given = {name: value for name, value in offered.items() if _takes(variant, name)}

    def build() -> nn.Module:
        with telling_the_line(settings.name):
            layer: nn.Module = ATTENTION.construct(
                settings.name, variant, d_model, n_heads, max_len, options=settings.options, **given
            )
        return layer

    return build


def _takes(variant: type[nn.Module], name: str) -> bool:
    """Say whether a constructor takes something by name, or passes all it is given on to ours."""
    parameters = inspect.signature(variant).parameters
    passes_on = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return name in parameters or (passes_on and issubclass(variant, AttentionLayer))


def variant_class(name: str) -> type[nn.Module]:
    """Return the class of a variant, registered or in a user's file."""
    part = ATTENTION.get(name)
    if not (isinstance(part, type) and issubclass(part, nn.Module)):
        raise UserError(f"attention {name!r} is not a class derived from torch.nn.Module.")
    return part


def supports_of(variant: type[nn.Module]) -> frozenset[str]:
    """Return what a variant declares to support."""
    given = getattr(variant, "supports", ())
    if not isinstance(given, set | frozenset | tuple | list):
        raise UserError(f"{variant.__name__}.supports must be a set of strings, not {given!r}.")
    declared = frozenset(map(str, given))
    unknown = sorted(declared - set(CAPABILITIES))
    if unknown:
        raise UserError(
            f"{variant.__name__}.supports has {', '.join(unknown)}."
            f" Allowed: {', '.join(CAPABILITIES)}."
        )
    return declared


def users_files(settings: AttentionSettings) -> list[Path]:
    """Return the files of the user's own that an attention is made of."""
    references = [settings.name, *map(str, settings.options.values()), settings.positions]
    references += map(str, settings.position_options.values())
    return [path for path in map(users_file, references) if path is not None]


def hash_of_users_files(settings: AttentionSettings) -> str | None:
    """Hash the user's own files, to notice when they change; None if there are none."""
    paths = users_files(settings)
    if not paths:
        return None
    digest = hashlib.sha256()
    for path in paths:
        if not path.is_file():
            raise UserError(f"there is no file {path}.")
        digest.update(path.read_bytes())
    return digest.hexdigest()


def positions_for(supports: frozenset[str]) -> list[str]:
    """List the position schemes that an attention with these capabilities works with."""
    needs = {name: getattr(POSITIONS.get(name), "needs", None) for name in POSITIONS.names()}
    return [name for name, needed in needs.items() if needed is None or needed in supports]


def supporting(capability: str) -> list[str]:
    """List the registered variants that support something."""
    return [n for n in ATTENTION.names() if capability in supports_of(variant_class(n))]
