"""Types and shapes of attnlab's functions, checked while tests run.

jaxtyping's import hook decorates every function, and checks the arguments of each twice. Here a
function gets what its annotations need: one pass over types, and one over shapes if it has any.
"""

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, install_import_hook, jaxtyped

# as in static typing, an int may stand for a float
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check_package(name: str) -> None:
    """Check every annotated function of a package that is imported from here on."""
    jaxtyping.jaxtyped = checked_as_needed
    install_import_hook(name, "typecheck.checked")


def checked_as_needed(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """Stand for ``jaxtyping.jaxtyped`` in the code that its hook writes."""

    def decorate(target: Any) -> Any:
        if not isinstance(target, type):
            return checked_function(target, typechecker)
        if dataclasses.is_dataclass(target):
            target.__init__ = checked_function(target.__init__, typechecker)
        return target

    return decorate


def checked_function(function: Any, typechecker: Callable[..., Any]) -> Any:
    """Check the types of arguments and result, and that their shapes agree."""
    annotations = list(getattr(function, "__annotations__", {}).values())
    if any(mentions(annotation, _is_name) for annotation in annotations):
        return jaxtyped(function, typechecker=typechecker)  # passes names that are not imported
    if inspect.isgeneratorfunction(function):
        # its body runs when shapes are forgotten; and beartype's own generator around it would
        # close it if GeneratorExit comes through a context manager
        return jaxtyped(function, typechecker=typechecker)
    if not any(mentions(annotation, _is_shape) for annotation in annotations):
        return typechecker(function)
    inner = typechecker(function)

    @functools.wraps(function)
    def with_shapes(*arguments: Any, **named: Any) -> Any:
        with jaxtyped("context"):
            return inner(*arguments, **named)

    return with_shapes


def mentions(annotation: Any, what: Callable[[Any], bool]) -> bool:
    """Look through an annotation and all its parts."""
    parts = annotation if isinstance(annotation, list) else typing.get_args(annotation)
    return what(annotation) or any(mentions(part, what) for part in parts)


def _is_name(annotation: Any) -> bool:
    return isinstance(annotation, str | typing.ForwardRef)


def _is_shape(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, AbstractArray)
