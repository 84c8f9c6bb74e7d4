"""A student's attention from scratch, function by function against ours."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.attention import functional
from attnlab.checks.findings import (
    FAILURES,
    Finding,
    NotWrittenError,
    Observer,
    failed,
    unobserved,
)
from attnlab.checks.mistakes import MISTAKES
from attnlab.errors import did_you_mean

B, T, D, H = 2, 7, 12, 3
CLOSE = 1e-6
"""Some write √ in float32; a mistake shows in the first digits."""
FUNCTIONS = (
    "init_qkv_proj",
    "pairwise_similarities",
    "attn_scaled",
    "attn_softmax",
    "compute_outputs",
    "make_causal_mask",
    "apply_causal_mask",
    "apply_naive_causal_mask",
    "split_heads",
    "split_heads_qkv",
    "merge_heads",
    "self_attention",
)
"""In the order of the exercise, so that the first that is wrong explains those after it."""
OPTIONAL = {"init_qkv_proj", "split_heads_qkv", "apply_naive_causal_mask"}
"""Given by the exercise, or a part of its experiments: checked if they are there."""
MISSING_BIAS = {
    "values": ": weights sum to 1, so that every output lacks exactly that bias",
    "queries": ": a token can no longer prefer some keys whatever it is itself",
}
Function = Callable[..., Any]


def check_functions(
    found: Mapping[str, Function],
    *,
    wanted: Collection[str] = (),
    others: Collection[str] = (),
    observe: Observer = unobserved,
) -> list[Finding]:
    """Compare the functions of the exercise with ours: all that are there, and those that lack.

    ``wanted`` names the only ones to look at; ``others`` are names that a missing one may have.
    """
    findings: list[Finding] = []
    for name in FUNCTIONS:
        if name not in wanted if wanted else name in OPTIONAL and name not in found:
            continue
        if name in found:
            check = partial(_finding, name, found[name], before=list(findings))
        else:
            said = f"the file has no function {name}.{did_you_mean(name, others)}"
            check = partial(Finding, name, said, "missing")
        findings.append(observe(name, check))
    return findings


def _finding(name: str, function: Function, *, before: Sequence[Finding]) -> Finding:
    """Check one function; it cannot be right while another that it calls is lacking or wrong."""
    torch.manual_seed(0)
    check = _problem_of_projections if name == "init_qkv_proj" else partial(_first_difference, name)
    called = [finding for finding in before if finding.what in _called_by(function)]
    try:
        found = Finding(name, check(function))
    except FAILURES as error:
        if waits_for := [
            one.what for one in called if one.status in ("not written yet", "missing")
        ]:
            said = f"it calls {', '.join(waits_for)}, which must be written first"
            return Finding(name, said, "not written yet")
        found = failed(name, error)
    wrong = [one.what for one in called if one.status == "wrong"]
    if found.status == "wrong" and wrong and _is_right_with_ours(name, function, wrong):
        said = f"it is right but for {', '.join(wrong)}, which it calls"
        return Finding(name, said, "wrong elsewhere")
    return found


def _called_by(function: Function) -> set[str]:
    """Name the functions of the exercise that it calls, and those that these call."""
    code, there = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    called = {name for name in getattr(code, "co_names", ()) if name in FUNCTIONS}
    given = called & there.keys() & {"split_heads_qkv"}  # all others are one line of torch
    return called.union(*(_called_by(there[name]) for name in given))


def _is_right_with_ours(name: str, function: Function, wrong: Collection[str]) -> bool:
    """Whether a function would be right if it called ours instead of the wrong ones."""
    there = function.__globals__
    theirs = {one: there[one] for one in wrong if one in there}
    there |= {one: _ours(one, wrong_one) for one, wrong_one in theirs.items()}
    try:
        return _first_difference(name, function) is None
    except FAILURES:
        return False
    finally:
        there |= theirs


def _ours(name: str, theirs: Function) -> Function:
    """Return our function for use among theirs, whose mask may be numbers."""
    if name == "make_causal_mask":
        return lambda n_tok: functional.make_causal_mask(n_tok).to(theirs(n_tok).dtype)
    if name == "apply_causal_mask":
        return lambda mask, scores: functional.apply_causal_mask(mask.bool(), scores)
    ours: Function = getattr(functional, name)
    return ours


def _first_difference(name: str, function: Function) -> str | None:
    """Return None, or what is wrong in the first case that differs."""
    ours: Function = getattr(functional, name)
    for arguments in _cases()[name]:
        expected = _comparable(name, ours(*arguments))
        given = _comparable(name, _call(function, arguments))
        if len(given) != len(expected):
            return f"it returns {len(given)} tensors instead of {len(expected)}"
        for mine, theirs in zip(expected, given, strict=True):
            if mine.shape != theirs.shape:
                wanted, got = tuple(mine.shape), tuple(theirs.shape)
                return f"it returns shape {got} instead of {wanted}"
        if not _close(expected, given):
            return _diagnosis(name, function) or _distance(expected, given)
    return None


def _diagnosis(name: str, function: Function) -> str | None:
    """Name the usual mistake that gives the same numbers in every case, if one does."""
    for mistake in MISTAKES.get(name, ()):
        if all(_agree(name, mistake.compute, function, case) for case in _cases()[name]):
            return mistake.effect
    return None


def _agree(name: str, one: Function, other: Function, arguments: tuple[Any, ...]) -> bool:
    try:
        a, b = (_comparable(name, _call(function, arguments)) for function in (one, other))
    except FAILURES:
        return False
    same_shapes = [x.shape for x in a] == [x.shape for x in b]
    return same_shapes and _close(a, b)


def _call(function: Function, arguments: tuple[Any, ...]) -> Any:
    """Call it; a mask of ones and zeros instead of yes and no is as good."""
    mask, *rest = arguments
    if not (isinstance(mask, Tensor) and mask.dtype == torch.bool):
        return function(*arguments)
    try:
        return function(*arguments)
    except FAILURES:
        return function(mask.double(), *rest)


def _cases() -> dict[str, list[tuple[Any, ...]]]:
    """Return the arguments that each function is called with, the same ones every time."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    rows = [draw(B, T, D) for _ in range(3)]
    heads = [draw(B, H, T, D // H) for _ in range(3)]
    scores = [2 * draw(B, T, T), 2 * draw(B, H, T, T)]
    mask = functional.make_causal_mask(T)
    return {
        "pairwise_similarities": [(rows[0], rows[1]), (heads[0], heads[1])],
        "attn_scaled": [(scores[0], D, 1), (scores[1], D, H)],
        "attn_softmax": [(one,) for one in scores],
        "compute_outputs": [(scores[0], rows[2]), (scores[1], heads[2])],
        "make_causal_mask": [(1,), (T,)],
        "apply_causal_mask": [(mask, one.clone()) for one in scores],
        "apply_naive_causal_mask": [(mask, one.softmax(-1)) for one in scores],
        "split_heads": [(rows[0], H), (rows[0], 1)],
        "split_heads_qkv": [(*rows, H)],
        "merge_heads": [(heads[0],)],
        "self_attention": [(*rows, n, causal) for n in (1, H) for causal in (False, True)],
    }


def _comparable(name: str, result: Any) -> list[Tensor]:
    """Return what must be equal: masks as yes and no, masked scores by the weights they give."""
    if result is None:
        raise NotWrittenError("it returns nothing")
    tensors = list(result) if isinstance(result, tuple | list) else [result]
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise TypeError(f"it returns {type(result).__name__}, not a tensor")
    if name == "make_causal_mask":
        # minGPT's has axes for batch and heads in front
        tensors = [tensor.bool().reshape(tensor.shape[-2:]) for tensor in tensors]
    if name == "apply_causal_mask":
        tensors = [tensor.double().softmax(-1) for tensor in tensors]
    return [tensor.detach().double() for tensor in tensors]


def _close(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(
        torch.allclose(x, y, atol=CLOSE, rtol=0, equal_nan=True) for x, y in zip(a, b, strict=True)
    )


def _distance(expected: list[Tensor], given: list[Tensor]) -> str:
    """Say how far off the numbers are when no usual mistake explains them."""
    apart = max(float((a - b).abs().max()) for a, b in zip(expected, given, strict=True))
    if apart != apart:
        return "some of its numbers are NaN"
    return f"its numbers are off by up to {apart:.2g}; no usual mistake gives them"


def _problem_of_projections(function: Function) -> str | None:
    """The three projections keep the width and have a bias each."""
    made = function(D)
    if made is None:
        raise NotWrittenError("it returns nothing")
    if not (isinstance(made, tuple | list) and len(made) == 3):
        return "it does not return three projections"
    for name, projection in zip(("queries", "keys", "values"), made, strict=True):
        if not isinstance(projection, nn.Module):
            return f"the projection of the {name} is no torch.nn.Module"
        out = projection(torch.zeros(B, T, D))
        if out.shape != (B, T, D):
            return f"the projection of the {name} turns width {D} into {out.shape[-1]}"
        if getattr(projection, "bias", None) is None:
            return f"the projection of the {name} has no bias" + MISSING_BIAS.get(name, "")
    return None
