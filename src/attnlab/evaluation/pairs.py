"""Pairs of conditions: the difference, the test, and a sentence that sums it up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from attnlab.evaluation.bootstrap import Array, Bootstrap, Estimate
from attnlab.evaluation.intervals import Interval
from attnlab.evaluation.metrics import ACCURACY, Metric
from attnlab.evaluation.significance import (
    SIGNIFICANT,
    examples_needed,
    holm,
    mcnemar,
    smallest_difference,
    swap_rows,
)

SHOWN_SPREADS = 2.8  # 1.96 + 0.84: found at 5 % four times in five


@dataclass(frozen=True)
class Pair:
    """Two conditions against each other."""

    first: str
    second: str
    difference: float
    """Second minus first."""
    interval: Interval
    p_value: float
    corrected_p: float
    """After Holm's correction for all pairs."""
    method: str
    verdict: str


def compare_pairs(
    names: Sequence[str],
    tables: Sequence[Array],
    *,
    metric: Metric,
    bootstrap: Bootstrap,
    reference: int | None = None,
) -> list[Pair]:
    """Compare every two conditions, given by name and features: seeds × examples × features.

    With a ``reference``, only that one with each of the others, and Holm corrects for so many.
    """
    everyone = range(len(names))
    chosen = (
        list(combinations(everyone, 2))
        if reference is None
        else [(reference, other) for other in everyone if other != reference]
    )
    estimates = [bootstrap.difference(i, j) for i, j in chosen]
    tests = [
        _test(tables[i], tables[j], metric, estimate)
        for (i, j), estimate in zip(chosen, estimates, strict=True)
    ]
    corrected, pairs = holm([p for p, _ in tests]), []
    for (i, j), estimate, (p, method), corrected_p in zip(
        chosen, estimates, tests, corrected, strict=True
    ):
        pair = Pair(
            first=names[i],
            second=names[j],
            difference=estimate.value,
            interval=estimate.interval(),
            p_value=p,
            corrected_p=corrected_p,
            method=method,
            verdict="",
        )
        power = _power(tables[i], tables[j], metric, estimate)
        verdict = pair_verdict(pair, metric, n=tables[i].shape[1], of=len(chosen), power=power)
        pairs.append(replace(pair, verdict=verdict))
    return pairs


def _test(first: Array, second: Array, metric: Metric, estimate: Estimate) -> tuple[float, str]:
    """Choose the test that fits: exact on pairs of single runs, Student's t over seeds."""
    if len(first) > 1 or len(second) > 1:
        return estimate.p_value(), "over seeds and examples"
    if metric is ACCURACY:
        return mcnemar(first[0, :, 0], second[0, :, 0]), "exact McNemar"
    return swap_rows(first[0], second[0], metric.finish), "paired permutation"


def _power(first: Array, second: Array, metric: Metric, estimate: Estimate) -> str:
    """Say what these data can show."""
    n, runs = first.shape[1], len(first) + len(second)
    if metric is ACCURACY and runs == 2:
        apart = float((first[0] != second[0]).any(axis=1).mean())
        return power_of_examples(estimate.value, n, apart, metric)
    shown = metric.write_difference(SHOWN_SPREADS * estimate.standard_error)
    return f"; these {runs} runs on {n:,} examples show {shown} or more"


def power_of_examples(difference: float, n: int, apart: float, metric: Metric) -> str:
    """Say what n examples can show if the share ``apart`` of them is answered differently."""
    needed = examples_needed(difference, apart) if apart else None
    if needed is None:
        return ""
    smallest = metric.write_difference(smallest_difference(n, apart))
    return (
        f"; about {needed:,} examples would be needed for a difference of this size,"
        f" and {n:,} show {smallest} or more"
    )


def pair_verdict(pair: Pair, metric: Metric, *, n: int, of: int, power: str) -> str:
    """Say in one sentence which of two is better, or what it would take to tell.

    ``of`` is the number of comparisons that were made, ``power`` what these data can show.
    """
    names, size = f"{pair.first} and {pair.second}", metric.write_difference(pair.difference)
    p = f"p = {pair.corrected_p:.2g}" + (f" after Holm's correction for {of}" if of > 1 else "")
    facts = f"{p}, {pair.method}, n = {n:,}"
    if pair.difference == 0:
        return f"{names} score exactly the same; neither is better ({facts})."
    word = "higher" if pair.difference > 0 else "lower"
    span = "95 %: " + " to ".join(metric.write_signed(bound) for bound in pair.interval)
    if pair.corrected_p >= SIGNIFICANT:
        return (
            f"{names} are not distinguishable: {pair.second} is {word} by {size} ({span});"
            f" {facts}{power}."
        )
    better = (pair.difference > 0) == metric.higher_is_better
    judged = "" if metric.higher_is_better else f", so {'better' if better else 'worse'}"
    return f"{pair.second} is {word} than {pair.first} by {size} ({span}){judged}; {facts}."
