"""Checks a student's file: the functions of the exercise, or attention classes."""

import contextlib
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from attnlab.attention.assemble import supports_of, variant_class
from attnlab.attention.contract import AttentionMask
from attnlab.checks.findings import FAILURES, Finding, Observer, failed, unobserved
from attnlab.checks.mutants import MUTANTS, NO_BUG, class_with, functions_with
from attnlab.checks.notebooks import load_submission
from attnlab.checks.null_directions import unseen_biases
from attnlab.checks.parity import compare_with
from attnlab.checks.plain_layers import (
    CONFIG,
    is_plain,
    settings_of,
    takes_mask,
    with_contract,
)
from attnlab.checks.promises import D, H, Subject, T, promises_of, tokens
from attnlab.checks.steps import FUNCTIONS, check_functions
from attnlab.errors import UserError, did_you_mean
from attnlab.phases import phase
from attnlab.registry import is_own

Report = dict[str, list[Finding]]
"""What was found, by class; the functions of the exercise stand under ``functions``."""


def check_file(
    file: Path,
    *,
    only: Collection[str] = (),
    like: str | None = None,
    observe: Callable[[str], Observer] = lambda _: unobserved,
) -> Report:
    """Check what a file holds, or only the functions and classes of some names.

    ``like`` is what classes should equal; ``observe`` gets the section that a check belongs to.
    """
    with contextlib.redirect_stdout(sys.stderr):  # what the file prints is not our answer
        return _check_file(file, only=only, like=like, observe=observe)


def _check_file(
    file: Path, *, only: Collection[str], like: str | None, observe: Callable[[str], Observer]
) -> Report:
    module = load_submission(file, set(FUNCTIONS))
    own = {name: value for name, value in vars(module).items() if is_own(value, module)}
    functions = {name: value for name, value in own.items() if name in FUNCTIONS}
    wanted = [name for name in only if name in FUNCTIONS]
    if only:
        classes = {n: _chosen(n, module, file) for n in only if n not in FUNCTIONS}
    else:
        classes = _attention_classes(own, alone=not functions)
        if not functions and not classes:
            raise UserError(
                f"{file} has nothing to check: neither a class with forward(x, *, mask, …) or"
                f" forward(x) nor one of the functions {', '.join(FUNCTIONS)}."
            )
    report: Report = {}
    if wanted or (functions and not only):
        others = [name for name in own if name not in FUNCTIONS]
        seen = observe("functions")
        report["functions"] = check_functions(functions, wanted=wanted, others=others, observe=seen)
    for name, part in classes.items():
        report[name] = check_class(part, like=like, observe=observe(name))
    return report


def check_class(
    variant: type[nn.Module], *, like: str | None = None, observe: Observer = unobserved
) -> list[Finding]:
    """Check every promise that a class makes and, with ``like``, that it equals that variant."""
    reference = None if like is None else variant_class(like)
    has_mask = takes_mask(variant)
    settings = (D, H, T) if has_mask else settings_of(variant)
    made = variant if has_mask else with_contract(variant)
    supports = supports_of(variant) or frozenset({"causal"})
    supports = supports if has_mask else supports & {"causal", "bidirectional"}
    breaks = frozenset(getattr(variant, "breaks", ()))
    subject = Subject(lambda: made(*settings), supports, breaks)
    first = observe("is built and called", lambda: _usable(variant, subject, settings))
    if not first.right:
        return [first]
    null = frozenset(getattr(reference, "null_directions", ())) | unseen_biases(subject)
    subject = replace(subject, null_directions=null)
    findings = []
    for promise in promises_of(supports, takes_mask=has_mask):
        name = promise.__name__.replace("_", " ")
        findings.append(observe(name, partial(_kept, name, partial(promise, subject))))
    if reference is not None and like is not None:
        equal = partial(compare_with, subject, lambda: reference(D, H, T), like)
        findings.append(observe(f"equals {like}", partial(_kept, f"equals {like}", equal)))
    return findings


def _usable(variant: type[nn.Module], subject: Subject, settings: tuple[Any, ...]) -> Finding:
    """Say once what keeps every promise from being tried."""
    names = ("d_model", "n_heads", "max_len")
    given = [f"{n}={s}" for n, s in zip(names, settings, strict=False)]
    is_config = settings == (CONFIG,)
    built = f"{variant.__name__}({'config' if is_config else ', '.join(given)})"
    try:
        subject.build()
    except FAILURES as error:
        return failed("is built", error, before=f"{built}: ")
    try:
        output = subject.layer()(tokens(), mask=subject.mask)
    except FAILURES as error:
        shown = "forward(x, mask=…)" if takes_mask(variant) else "forward(x)"
        return failed("is called", error, before=f"{shown}: ")
    if output is None:
        return Finding("is called", "forward returns nothing", "not written yet")
    if not isinstance(getattr(output, "out", None), Tensor):
        kind = type(output).__name__
        return Finding("is called", f"forward returns {kind}: return AttentionOutput(out, weights)")
    try:
        return _not_finite(subject) or Finding("is built and called")
    except FAILURES:  # with another mask it cannot be called, which the promises will say
        return Finding("is built and called")


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


def _kept(name: str, promise: Callable[[], str | None]) -> Finding:
    try:
        return Finding(name, promise())
    except FAILURES as error:
        return failed(name, error)


def _attention_classes(own: Mapping[str, Any], *, alone: bool) -> dict[str, type[nn.Module]]:
    """Find the modules that take a mask; without any, the plain ones that are called attention.

    Helpers of theirs are neither; ``alone``, the only module of a file needs no such name.
    """
    layers = {n: v for n, v in own.items() if isinstance(v, type) and issubclass(v, nn.Module)}
    layers = {n: v for n, v in layers.items() if callable(v.forward)}
    if masked := {n: v for n, v in layers.items() if takes_mask(v)}:
        return masked
    plain = {n: v for n, v in layers.items() if v.forward is not nn.Module.forward and is_plain(v)}
    if alone and len(layers) == 1:
        return plain
    named = {n: v for n, v in plain.items() if "attention" in n.lower() or "attn" in n.lower()}
    built_by_others = {
        used
        for layer in named.values()
        for used in getattr(getattr(layer.__init__, "__code__", None), "co_names", ())
    }
    return {n: v for n, v in named.items() if n not in built_by_others}


def _chosen(name: str, module: ModuleType, file: Path) -> type[nn.Module]:
    known = [n for n, v in vars(module).items() if isinstance(v, type) and is_own(v, module)]
    part = getattr(module, name, None)
    if not (isinstance(part, type) and issubclass(part, nn.Module)):
        hint = did_you_mean(name, [*known, *FUNCTIONS])
        raise UserError(
            f"{file} has no torch.nn.Module class {name!r}.{hint}"
            f" Its classes: {', '.join(known) or 'none'}."
        )
    return part
