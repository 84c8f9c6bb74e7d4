"""Several runs side by side: what each scored, which differences are real, what to distrust.

Runs that differ in nothing but the seed are one condition with several seeds. All runs must have
answered the same examples; different test sets are not compared.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnlab.config import flatten
from attnlab.evaluation.collapse import collapse_verdict, identical_scores
from attnlab.evaluation.comparable import (
    aligned_answers,
    common_metric,
    common_split,
    refuse_unfinished_and_double,
)
from attnlab.evaluation.intervals import Interval, wilson
from attnlab.evaluation.ledger import ledger_notes
from attnlab.evaluation.metrics import Answers, Metric
from attnlab.evaluation.paired import (
    examples_needed,
    holm,
    mcnemar,
    sign_flip,
    smallest_difference,
)
from attnlab.evaluation.resampling import Bootstrap, Estimate
from attnlab.runs.directory import Run

SIGNIFICANT = 0.05
SHOWN_SPREADS = 2.8  # 1.96 + 0.84: found at 5 % four times in five


@dataclass(frozen=True)
class Condition:
    """One or more runs that differ only in the seed."""

    name: str
    runs: tuple[str, ...]
    scores: tuple[float, ...]
    """One a run."""
    score: float
    """Their mean."""
    interval: Interval
    baseline: Mapping[str, Any] | None


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


@dataclass(frozen=True)
class Comparison:
    """Everything that can be said about some runs on one split."""

    split: str
    n: int
    metric: Metric
    conditions: tuple[Condition, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def compare(runs: Sequence[Run], *, split: str | None = None) -> Comparison:
    """Compare finished runs on a split; without one, on test if all have it, else on dev."""
    refuse_unfinished_and_double(runs)
    split = split or common_split(runs)
    metric = common_metric(runs, split)
    answers = aligned_answers(runs, metric, split)
    groups = conditions_of(runs)
    weights = np.array(metric.weights(answers[runs[0].name]))
    tables = [np.stack([metric.values(answers[r.name]) for r in g]) for g in groups.values()]
    bootstrap = Bootstrap(tables, weights=weights)
    conditions = []
    for i, (name, group) in enumerate(groups.items()):
        means = tables[i].sum(axis=1) / weights.sum()
        scores = tuple(metric.finish(float(mean)) for mean in means)
        baseline = group[0].record["scores"][split].get("baseline")
        estimate = bootstrap.mean(i)
        interval = _interval(tables[i], metric, estimate)
        names = tuple(run.name for run in group)
        score = metric.finish(estimate.value)
        conditions.append(Condition(name, names, scores, score, interval, baseline))
    return Comparison(
        split=split,
        n=len(weights),
        metric=metric,
        conditions=tuple(conditions),
        pairs=tuple(_pairs(conditions, tables, metric, bootstrap)),
        notes=tuple(_notes(runs, answers, metric)),
    )


def conditions_of(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Group runs that differ in nothing but the seed, each under a name that tells them apart."""
    groups: dict[str, list[Run]] = {}
    settings: dict[str, dict[str, Any]] = {}
    for run in runs:
        values = {k: v for k, v in flatten(run.config["settings"]) if not k.endswith("seed")}
        key = json.dumps([run.config["job"], values], sort_keys=True)
        groups.setdefault(key, []).append(run)
        settings[key] = {"job": run.config["job"], **values}
    everything = set().union(*(values.keys() for values in settings.values()))
    differing = sorted(
        name
        for name in everything
        if len({_setting(values, name) for values in settings.values()}) > 1
    )
    named: dict[str, list[Run]] = {}
    for key, group in groups.items():
        told = ", ".join(f"{n.rpartition('.')[2]}={_setting(settings[key], n)}" for n in differing)
        name = group[0].name if len(group) == 1 else told or group[0].config["job"]
        named[name if name not in named else f"{name} ({group[0].name})"] = group
    return named


def _setting(values: Mapping[str, Any], name: str) -> str:
    """Write a setting's value; one that is not there is not the same as null."""
    return json.dumps(values[name]) if name in values else "–"


def _interval(table: NDArray[np.float64], metric: Metric, estimate: Estimate) -> Interval:
    if metric.name == "accuracy" and len(table) == 1:
        return wilson(int(table.sum()), table.shape[1])
    low, high = estimate.interval()
    return Interval(metric.finish(low), metric.finish(high))


def _pairs(
    conditions: Sequence[Condition],
    tables: Sequence[NDArray[np.float64]],
    metric: Metric,
    bootstrap: Bootstrap,
) -> list[Pair]:
    chosen = list(combinations(range(len(conditions)), 2))
    estimates = [bootstrap.difference(i, j) for i, j in chosen]
    tests = [
        _test(tables[i], tables[j], metric, estimate)
        for (i, j), estimate in zip(chosen, estimates, strict=True)
    ]
    corrected, pairs = holm([p for p, _ in tests]), []
    for number, (i, j) in enumerate(chosen):
        first, second, estimate = conditions[i], conditions[j], estimates[number]
        low, high = (metric.difference(first.score, bound) for bound in estimate.interval())
        pair = Pair(
            first=first.name,
            second=second.name,
            difference=metric.difference(first.score, estimate.value),
            interval=Interval(low, high),
            p_value=tests[number][0],
            corrected_p=corrected[number],
            method=tests[number][1],
            verdict="",
        )
        n = tables[i].shape[1]
        if pair.method == "exact McNemar":
            apart = float((tables[i][0] != tables[j][0]).mean())
            power = power_of_examples(pair.difference, n, apart, metric)
        else:
            shown = metric.difference(first.score, SHOWN_SPREADS * estimate.standard_error)
            runs = len(tables[i]) + len(tables[j])
            power = f"; these {runs} runs on {n:,} examples show"
            power += f" {metric.write_difference(shown)} or more"
        verdict = pair_verdict(pair, metric, n=n, of=len(chosen), power=power)
        pairs.append(replace(pair, verdict=verdict))
    return pairs


def _test(
    first: NDArray[np.float64], second: NDArray[np.float64], metric: Metric, estimate: Estimate
) -> tuple[float, str]:
    """Choose the test that fits: exact on pairs of single runs, Student's t over seeds."""
    if len(first) > 1 or len(second) > 1:
        return estimate.p_value(), "over seeds and examples"
    if metric.name == "accuracy":
        return mcnemar(_right(first), _right(second)), "exact McNemar"
    return sign_flip([float(d) for d in second[0] - first[0]]), "paired permutation"


def _right(table: NDArray[np.float64]) -> list[bool]:
    """Return which examples the only run of a condition has right."""
    return [bool(value) for value in table[0]]


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


def _notes(runs: Sequence[Run], answers: Mapping[str, Answers], metric: Metric) -> list[str]:
    """List what makes a score doubtful."""
    notes = []
    if len(conditions_of(runs)) == 1:
        notes.append("These runs differ in the seed alone: one condition, nothing to compare.")
    if metric.name == "accuracy":
        for run in runs:
            rows = answers[run.name]
            verdict = collapse_verdict(
                [str(row["gold"]) for row in rows], [str(row["prediction"]) for row in rows]
            )
            if verdict:
                notes.append(f"{run.name} {verdict}.")
    totals = {run.name: math.fsum(metric.values(answers[run.name])) for run in runs}
    for names in identical_scores(totals):
        given = {json.dumps(metric.values(answers[name])) for name in names}
        same = "example by example" if len(given) == 1 else "on different examples"
        notes.append(
            f"{', '.join(names)} score the same to the last bit, {same}: none of them is best."
        )
    for run in runs:
        if "ledger" in run.record:
            notes += [f"{run.name}: {note}." for note in ledger_notes(run.record["ledger"])]
    return notes
