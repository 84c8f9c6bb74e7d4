"""Describes one attention variant: what it does, its options, what it promises and breaks."""

import contextlib
import inspect
import sys
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


def show_attention(name: str) -> dict[str, Any]:
    """Read all there is to say about a variant from its class and from one layer built of it.

    ``options`` are type and default by name, ``parameters`` shapes by name, at ``size``.
    """
    with contextlib.redirect_stdout(sys.stderr):  # what a user's file prints is not our answer
        variant = variant_class(name)
        supports = supports_of(variant)
        layer = attention_builder(AttentionSettings(name), Positions(), **SIZE)()
    module = inspect.getdoc(sys.modules[variant.__module__]) or ""
    return {
        "name": name,
        "about": "\n\n".join(filter(None, [module, inspect.cleandoc(variant.__doc__ or "")])),
        "options": _options(variant),
        "supports": sorted(supports),
        "positions": positions_for(supports),
        "breaks": sorted(getattr(layer, "breaks", ())),
        "null_directions": list(getattr(layer, "null_directions", ())),
        "parameters": {n: list(p.shape) for n, p in layer.named_parameters()},
        "size": SIZE,
    }


def _options(variant: Any) -> dict[str, str]:
    """Describe what the constructor takes by keyword."""
    return {
        parameter.name: f"{_kind(parameter.annotation)}, default {parameter.default}"
        for parameter in inspect.signature(variant).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in GIVEN
    }


def _kind(annotation: Any) -> str:
    """Write what an option accepts: choices, or the type with its bounds."""
    if get_origin(annotation) is Literal:
        return " or ".join(map(str, get_args(annotation)))
    if get_origin(annotation) is Annotated:
        inner, *bounds = get_args(annotation)
        least = [f" of at least {bound.ge}" for bound in bounds if isinstance(bound, Ge)]
        return _kind(inner) + "".join(least)
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return " or ".join(map(_kind, kinds))
    return NAMES.get(annotation, "anything")
