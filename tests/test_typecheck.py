"""The checks that run inside every test find a wrong type and a wrong shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from attnlab.attention.functional import compute_outputs
from attnlab.data.labelled_text import Example
from typecheck import checked, checked_as_needed

WRONG = (BeartypeCallHintViolation, TypeCheckError)
check: Callable[[Any], Any] = checked_as_needed(typechecker=checked)


@check
def scaled(factor: float, words: Sequence[str] = ()) -> float:
    return str(factor) if words else factor  # type: ignore[return-value]


@check
def added(x: Float[Tensor, "B T"], y: Float[Tensor, "T"] | None) -> Float[Tensor, "B T"]:
    return x if y is not None else x.T


@check
def doubled(x: Float[Tensor, "T"]) -> Float[Tensor, "2*T"]:
    return torch.cat([x, x])


@check
def named(x: "Float[Tensor, 'T']", y: "NotImported") -> "Float[Tensor, 'T']":  # type: ignore[name-defined]
    return x if y else x[1:]


@check
@dataclass
class Pair:
    x: Float[Tensor, "T"]
    y: Float[Tensor, "T"]


def test_what_is_right_passes() -> None:
    x = torch.zeros(2, 7)
    assert scaled(3) == 3  # an int may stand for a float
    assert added(x, x[0]) is x
    assert doubled(x[0]).shape == (14,)
    assert named(x[0], 1) is not None
    assert Pair(x[0], y=x[1]).y is not None


@pytest.mark.parametrize(
    "call",
    [
        lambda _: scaled("3"),
        lambda _: scaled(3.0, [1]),
        lambda _: scaled(3.0, ["a"]),
        lambda x: added(x, x),
        lambda x: added(x, x[0, 1:]),
        lambda x: added(x, None),
        lambda x: doubled(x[0].int()),
        lambda x: named(x, 1),
        lambda x: named(x[0], 0),
        lambda x: Pair(x[0], x[0, 1:]),
        lambda _: Example("a:1", 5, None, None, "a, line 1"),
        lambda x: compute_outputs(x, x),
    ],
    ids=["type", "type in a sequence", "type of the result", "rank", "length", "shape of the"
         " result", "dtype", "rank by name", "result by name", "dataclass", "our dataclass",
         "our function"],
)  # fmt: skip
def test_what_is_wrong_is_found(call: Callable[[Tensor], Any]) -> None:
    with pytest.raises(WRONG):
        call(torch.zeros(2, 7))
