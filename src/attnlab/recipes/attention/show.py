"""Describes one attention variant: what it does, its options, what it promises and breaks."""

import contextlib
import inspect
import sys
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge

from attnlab.attention.assemble import (
    GIVEN,
    attention_builder,
    positions_for,
    supports_of,
    variant_class,
)
from attnlab.attention.contract import Positions
from attnlab.attention.settings import AttentionSettings

SIZE = {"d_model": 256, "n_heads": 8, "max_len": 128}
NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


@dataclass(frozen=True)
class VariantInfo:
    """All there is to say about one variant."""

    name: str
    about: str
    options: dict[str, str]
    """Type and default by name."""
    supports: list[str]
    positions: list[str]
    breaks: list[str]
    null_directions: list[str]
    parameters: dict[str, list[int]]
    """Shapes by name, at ``size``."""
    size: dict[str, int]


def show_attention(name: str) -> VariantInfo:
    """Read it all from the class and from one layer built of it."""
    with contextlib.redirect_stdout(sys.stderr):  # what a user's file prints is not our answer
        variant = variant_class(name)
        supports = supports_of(variant)
        layer = attention_builder(AttentionSettings(name), Positions(), **SIZE)()
    module = inspect.getdoc(sys.modules[variant.__module__]) or ""
    return VariantInfo(
        name,
        "\n\n".join(filter(None, [module, inspect.cleandoc(variant.__doc__ or "")])),
        _options(variant),
        sorted(supports),
        positions_for(supports),
        sorted(getattr(layer, "breaks", ())),
        list(getattr(layer, "null_directions", ())),
        {n: list(p.shape) for n, p in layer.named_parameters()},
        SIZE,
    )


def _options(variant: Any) -> dict[str, str]:
    """Return what the constructor takes by keyword, as it is written there."""
    return {
        parameter.name: f"{_kind(parameter.annotation)}, {parameter.default} if not given"
        for parameter in inspect.signature(variant).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in GIVEN
    }


def _kind(annotation: Any) -> str:
    """Write what may be given: choices, or the type with its bounds."""
    if get_origin(annotation) is Literal:
        return " or ".join(map(str, get_args(annotation)))
    if get_origin(annotation) is Annotated:
        inner, *bounds = get_args(annotation)
        least = [f" from {bound.ge} on" for bound in bounds if isinstance(bound, Ge)]
        return _kind(inner) + "".join(least)
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return " or ".join(map(_kind, kinds))
    return NAMES.get(annotation, "anything")
