"""Does a value that was read from a file have the shape it should have? If not, the field is named.

A shape is a type: a ``TypedDict`` (other keys may be there, too), ``list[X]``, ``dict[str, X]``,
``tuple[X, Y]`` (a list of just these), ``X | None``, ``Literal`` or ``Annotated[X, Ge(0)]``.
pydantic would do, but listing runs would have to wait for it to load.
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from annotated_types import Ge, Le

from attnlab.errors import DamagedFileError

Problem = tuple[str, str]
"""The field, and what is wrong with it."""
Check = Callable[[Any], Problem | None]
LARGEST = 2**63
"""Whole numbers are smaller: nothing computes with more."""
SHOWN = 60
ADVICE = "Restore the file from a copy, or run its command again with another --name."
NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a finite number"}


def check_shape(value: Any, shape: Any, place: Path | str) -> None:
    """Refuse a value of another shape; ``place`` is the file, or a line of it."""
    problem = check_of(shape)(value)
    if problem:
        field, what = problem
        raise DamagedFileError(f"{place}{f': {field}' if field else ''} {what}. {ADVICE}")


@cache
def check_of(shape: Any) -> Check:
    """Return what finds the first field that does not fit a shape; None if all do."""
    kind, parts = get_origin(shape), get_args(shape)
    if shape is Any:
        return lambda _: None
    if is_typeddict(shape):
        return _fields(shape)
    if kind is Annotated:
        return _bounded(check_of(parts[0]), parts[1:], shape)
    if kind in (Union, UnionType):
        return _either([check_of(part) for part in parts], shape)
    if kind is list:
        return _items(check_of(parts[0]), shape)
    if kind is dict:
        return _values(check_of(parts[0]), check_of(parts[1]), shape)
    if kind is tuple:
        return _row([check_of(part) for part in parts], shape)
    return _plain(shape)


def _fields(shape: Any) -> Check:
    required = shape.__required_keys__
    hints = get_type_hints(shape, include_extras=True).items()
    checks = {name: check_of(_without_not_required(hint)) for name, hint in hints}

    def check(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return "", _unfit(value, shape)
        if not value.keys() >= required:
            return "", f"lacks {', '.join(n for n in checks if n in required - value.keys())}"
        for name, inner in checks.items():
            if name in value and (problem := inner(value[name])):
                return _below(name, problem)
        return None

    return check


def _values(keys: Check, values: Check, shape: Any) -> Check:
    def check(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return "", _unfit(value, shape)
        for name, inner in value.items():
            if problem := keys(name) or values(inner):
                return _below(name, problem)
        return None

    return check


def _items(inner: Check, shape: Any) -> Check:
    def check(value: Any) -> Problem | None:
        if not isinstance(value, list):
            return "", _unfit(value, shape)
        for number, item in enumerate(value):
            if problem := inner(item):
                return _below(f"[{number}]", problem)
        return None

    return check


def _row(inner: list[Check], shape: Any) -> Check:
    def check(value: Any) -> Problem | None:
        if not isinstance(value, list) or len(value) != len(inner):
            return "", _unfit(value, shape)
        for number, (item, one) in enumerate(zip(value, inner, strict=True)):
            if problem := one(item):
                return _below(f"[{number}]", problem)
        return None

    return check


def _either(inner: list[Check], shape: Any) -> Check:
    def check(value: Any) -> Problem | None:
        problems = [one(value) for one in inner]
        if None in problems:
            return None
        deepest = max((one for one in problems if one), key=lambda one: len(one[0]))
        return deepest if deepest[0] else ("", _unfit(value, shape))

    return check


def _bounded(inner: Check, bounds: tuple[Any, ...], shape: Any) -> Check:
    lows: list[Any] = [bound.ge for bound in bounds if isinstance(bound, Ge)]
    highs: list[Any] = [bound.le for bound in bounds if isinstance(bound, Le)]

    def check(value: Any) -> Problem | None:
        if problem := inner(value):
            return problem
        fits = all(value >= low for low in lows) and all(value <= high for high in highs)
        return None if fits else ("", _unfit(value, shape))

    return check


def _plain(shape: Any) -> Check:
    fits = _fits(shape)
    return lambda value: None if fits(value) else ("", _unfit(value, shape))


def _fits(shape: Any) -> Callable[[Any], bool]:
    """Return what tells whether a value is a number, a text, true, false or null as wanted."""
    if get_origin(shape) is Literal:
        known = get_args(shape)
        return lambda value: isinstance(value, str) and value in known
    if shape is int:
        return lambda value: type(value) is int and -LARGEST < value < LARGEST
    if shape is float:
        return lambda value: type(value) in (int, float) and math.isfinite(value)
    wanted = NoneType if shape is None else shape
    return lambda value: type(value) is wanted


def _below(name: str, problem: Problem) -> Problem:
    field, what = problem
    joint = "." if field and not field.startswith("[") else ""
    return f"{name}{joint}{field}", what


def _unfit(value: Any, shape: Any) -> str:
    return f"is {shown(value)}, not {_name(shape)}"


def shown(value: Any) -> str:
    """Write a value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _name(shape: Any) -> str:
    """Say what a shape is in words."""
    kind, parts = get_origin(shape), get_args(shape)
    if kind is Annotated:
        bounds = [f"at least {b.ge}" if isinstance(b, Ge) else f"at most {b.le}" for b in parts[1:]]
        return f"{_name(parts[0])} of {' and '.join(bounds)}"
    if kind in (Union, UnionType):
        return " or ".join(map(_name, parts))
    if kind is Literal:
        return " or ".join(map(repr, parts))
    if kind is tuple:
        return f"a list of {len(parts)}"
    if shape is NoneType:
        return "null"
    return NAMES.get(shape) or ("a list" if kind is list else "an object")


def _without_not_required(hint: Any) -> Any:
    """Leave out ``NotRequired``, which the class itself remembers."""
    is_marked = getattr(get_origin(hint), "_name", "") == "NotRequired"
    return get_args(hint)[0] if is_marked else hint
