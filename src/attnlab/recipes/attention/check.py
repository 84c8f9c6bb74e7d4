"""Checks a student's file: the functions of the exercise, or attention classes."""

import contextlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from torch import Tensor, nn

from attnlab.attention.assemble import supports_of, variant_class
from attnlab.attention.contract import AttentionMask
from attnlab.checks.findings import FAILURES, Finding, describe_failure
from attnlab.checks.mutants import MUTANTS, NO_BUG, class_with, functions_with
from attnlab.checks.parity import compare_with
from attnlab.checks.promises import D, H, Subject, T, promises_of, tokens
from attnlab.checks.steps import FUNCTIONS, check_functions
from attnlab.errors import UserError, did_you_mean
from attnlab.phases import phase
from attnlab.registry import is_own, load_file

Report = dict[str, list[Finding]]
"""What was found, by class; the functions of the exercise stand under ``functions``."""


@phase("checking")
def check_file(file: Path, *, name: str | None = None, like: str | None = None) -> Report:
    """Check what a file holds, or the one class of that name; ``like`` is what it should equal."""
    with contextlib.redirect_stdout(sys.stderr):  # what the file prints is not our answer
        return _check_file(file, name=name, like=like)


def _check_file(file: Path, *, name: str | None, like: str | None) -> Report:
    module = load_file(file)
    functions = {n: f for n, f in vars(module).items() if n in FUNCTIONS and is_own(f, module)}
    classes = _attention_classes(module)
    if name is not None:
        classes = {name: _chosen(name, module, file)}
        functions = {}
    if not functions and not classes:
        raise UserError(
            f"{file} has nothing to check: neither a class with forward(x, *, mask, …) nor one of"
            f" the functions {', '.join(FUNCTIONS)}."
        )
    report = {"functions": check_functions(functions)} if functions else {}
    return report | {n: check_class(part, like=like) for n, part in classes.items()}


def check_class(variant: type[nn.Module], *, like: str | None = None) -> list[Finding]:
    """Check every promise that a class makes and, with ``like``, that it equals that variant."""
    reference = None if like is None else variant_class(like)
    supports = supports_of(variant) or frozenset({"causal"})
    subject = Subject(lambda: variant(D, H, T), supports, frozenset(getattr(variant, "breaks", ())))
    if unusable := _unusable(variant, subject):
        return [unusable]
    findings = [
        Finding(promise.__name__.replace("_", " "), _said(lambda p=promise: p(subject)))  # type: ignore[misc]
        for promise in promises_of(supports)
    ]
    if reference is not None and like is not None:
        equal = _said(lambda: compare_with(subject, lambda: reference(D, H, T), like))
        findings.append(Finding(f"equals {like}", equal))
    return findings


def _unusable(variant: type[nn.Module], subject: Subject) -> Finding | None:
    """Say once what keeps every promise from being tried."""
    built = f"{variant.__name__}(d_model={D}, n_heads={H}, max_len={T})"
    try:
        variant(D, H, T)
    except FAILURES as error:
        return Finding("is built", f"{built}: {describe_failure(error)}")
    try:
        output = subject.layer()(tokens(), mask=subject.mask)
    except FAILURES as error:
        return Finding("is called", f"forward(x, mask=…): {describe_failure(error)}")
    if not isinstance(getattr(output, "out", None), Tensor):
        kind = type(output).__name__
        return Finding("is called", f"forward returns {kind}: return AttentionOutput(out, weights)")
    try:
        return _not_finite(subject)
    except FAILURES:
        return None  # with another mask it cannot be called, which the promises will say


def _not_finite(subject: Subject) -> Finding | None:
    """Say where an output is infinite or not a number: compared with itself, it seems to differ."""
    layer = subject.layer()
    for causal in subject.kinds:
        out = layer(tokens(), mask=AttentionMask(causal=causal)).out.detach()
        if bad := (~out.isfinite()).nonzero().tolist():
            value, place = float(out[tuple(bad[0])]), ", ".join(map(str, bad[0]))
            which = "a causal" if causal else "no"
            sentence = f"with {which} mask, {len(bad)} of {out.numel()} outputs are not finite:"
            return Finding("is finite", f"{sentence} out[{place}] is {value}")
    return None


@phase("checking the mutants")
def check_mutants() -> dict[str, Report]:
    """Check every mutant, as functions and as a class, and the correct code for comparison."""
    return {
        mutant.name: {
            "functions": check_functions(functions_with(mutant)),
            "MyAttention": check_class(class_with(mutant), like="dot_product"),
        }
        for mutant in (NO_BUG, *MUTANTS)
    }


def all_noticed(reports: Mapping[str, Report]) -> bool:
    """Say whether every bug was noticed in both forms, and nothing where there is none."""
    return all(
        all(finding.right for finding in findings) == (name == NO_BUG.name)
        for name, report in reports.items()
        for findings in report.values()
    )


def _said(promise: Callable[[], str | None]) -> str | None:
    try:
        return promise()
    except FAILURES as error:
        return describe_failure(error)


def _attention_classes(module: ModuleType) -> dict[str, type[nn.Module]]:
    """Find the modules that take a mask; helpers of theirs do not."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, nn.Module)
        and is_own(value, module)
        and callable(value.forward)
        and "mask" in inspect.signature(value.forward).parameters
    }


def _chosen(name: str, module: ModuleType, file: Path) -> type[nn.Module]:
    known = [n for n, v in vars(module).items() if isinstance(v, type) and is_own(v, module)]
    part = getattr(module, name, None)
    if not (isinstance(part, type) and issubclass(part, nn.Module)):
        raise UserError(
            f"{file} has no torch.nn.Module class {name!r}.{did_you_mean(name, known)}"
            f" Its classes: {', '.join(known) or 'none'}."
        )
    return part
