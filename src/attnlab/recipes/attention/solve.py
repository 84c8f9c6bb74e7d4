"""What can a query do with given keys and values? The assignments' or your own."""

from collections.abc import Sequence
from pathlib import Path

from attnlab.data.matrices import read_matrix
from attnlab.errors import UserError
from attnlab.geometry import targets
from attnlab.geometry.answers import Exercise
from attnlab.geometry.beyond_weights import (
    OutputExplained,
    RepairExplained,
    explain_output,
    explain_repair,
)
from attnlab.geometry.examples import example
from attnlab.geometry.explanation import (
    IdentityExplained,
    Request,
    WeightsExplained,
    explain_identity,
    explain_weights,
)
from attnlab.geometry.instance import Instance, make_instance


def load(name: str | None, keys: Path | None, values: Path | None, *, default: str) -> Instance:
    """Take a named example, or keys and values from files; without values, the weights are told."""
    if keys is None:
        if values is not None:
            raise UserError("--values needs --keys: each value belongs to a key.")
        return example(name or default)
    if name is not None:
        raise UserError("give --example or --keys, not both.")
    return make_instance(read_matrix(keys), None if values is None else read_matrix(values))


def ask(answer: str | None, *, error: float = 1e-6, tolerance: float) -> Request:
    """Check what is asked of a query and of an answer."""
    if not tolerance > 0:
        raise UserError(f"--tolerance {tolerance:g} is not possible: above 0, as 0.05.")
    if not 0 < error < 1:
        raise UserError(f"--error {error:g} cannot be asked for: between 0 and 1, both excluded.")
    return Request(error, answer, tolerance)


def select(instance: Instance, token: int, *, request: Request) -> WeightsExplained:
    """All weight on one token."""
    target = targets.select(instance.n_tokens, token)
    return explain_weights(instance, target, request=request)


def average(instance: Instance, subset: Sequence[int], *, request: Request) -> WeightsExplained:
    """The same weight on some tokens."""
    target = targets.average(instance.n_tokens, subset)
    return explain_weights(instance, target, request=request)


def weights(instance: Instance, wanted: Sequence[float], *, request: Request) -> WeightsExplained:
    """Any distribution."""
    target = targets.distribution(instance.n_tokens, wanted)
    return explain_weights(instance, target, request=request)


def identity(instance: Instance, *, request: Request) -> IdentityExplained:
    """Every token selects itself."""
    return explain_identity(instance, request=request)


def output(instance: Instance, target: str, *, request: Request) -> OutputExplained:
    """A wanted output, whatever the weights."""
    return explain_output(instance, target, request=request)


def repair(
    instance: Instance,
    token: int,
    *,
    query: str,
    subset: Sequence[int],
    unit: bool,
    request: Request,
) -> RepairExplained:
    """The smallest change of one key with which an unchanged query averages some tokens."""
    token = targets.token_index(instance.n_tokens, token)
    target = targets.average(instance.n_tokens, subset)[None]
    task = Exercise(target, token=token, query=query, unit=unit)
    return explain_repair(instance, task, request=request)
