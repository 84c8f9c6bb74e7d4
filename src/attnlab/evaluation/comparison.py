"""Compares several runs: scores, which differences are real, what to distrust.

Runs that differ in nothing but the seed are one condition with several seeds. All runs must have
answered the same examples; different test sets are not compared.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnlab.config import flatten
from attnlab.evaluation.accuracy import collapse_verdict
from attnlab.evaluation.bootstrap import Array, Bootstrap, Estimate
from attnlab.evaluation.common_splits import common_splits
from attnlab.evaluation.comparable import (
    aligned_answers,
    common_metric,
    refuse_unfinished_and_double,
)
from attnlab.evaluation.differing import IGNORED, Differing, differing_settings
from attnlab.evaluation.held_out_text import repeats_warning
from attnlab.evaluation.intervals import Interval, wilson
from attnlab.evaluation.ledger import ledger_notes
from attnlab.evaluation.metrics import ACCURACY, Answers, Metric
from attnlab.evaluation.pairs import Pair, compare_pairs
from attnlab.evaluation.standings import Standing, standings
from attnlab.phases import phase
from attnlab.runs.directory import CONFIG, Run

MODELS_FROM = ("start", "run")
"""Settings that name the run whose model is fine-tuned or evaluated."""
SEED = re.compile(r"-seed-\d+$")
FEW = 3
"""So many conditions are compared pair by pair; more of them with the best."""


@dataclass(frozen=True)
class Condition:
    """One or more runs that differ only in the seed."""

    name: str
    runs: tuple[str, ...]
    scores: tuple[float, ...]
    """One per run."""
    score: float
    """Their mean."""
    interval: Interval
    baseline: Mapping[str, Any] | None


@dataclass(frozen=True)
class Comparison:
    """Everything that can be said about some runs on one split."""

    splits: Mapping[str, str]
    """What each run calls the split."""
    n: int
    metric: Metric
    conditions: tuple[Condition, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    differing: tuple[Differing, ...] = ()
    """Settings that are not the same in all conditions."""
    standings: tuple[Standing, ...] = ()
    """Every condition relative to the best; none if they were compared with another."""

    @property
    def split(self) -> str:
        """What the split is called, with every name that the runs have for it."""
        return " = ".join(dict.fromkeys(self.splits.values()))

    @property
    def title(self) -> str:
        """What is compared with what."""
        names = [condition.name for condition in self.conditions]
        return " vs ".join(names) if len(names) <= FEW else f"{len(names)} conditions"


@phase("comparing runs")
def compare(
    runs: Sequence[Run],
    *,
    split: str | None = None,
    metric: str | None = None,
    all_pairs: bool = True,
    against: str | None = None,
) -> Comparison:
    """Compare finished runs on a split, by a metric.

    Without ``all_pairs``, more than a few conditions are each compared with the best alone. With
    ``against``, the name of a run, each is compared with that run's condition, however many.

    Without a split, on test if all have it, else on dev; without a metric, by the one they were
    scored by. The split may have another name in some runs, if it holds the same rows.
    """
    refuse_unfinished_and_double(runs)
    splits = common_splits(runs, split)
    measure = common_metric(runs, splits, metric)
    answers = aligned_answers(runs, measure, splits)
    features = dict(zip(answers, measure.features(list(answers.values())), strict=True))
    groups = conditions_of(runs)
    tables = [np.stack([features[run.name] for run in group]) for group in groups.values()]
    bootstrap = Bootstrap(tables, measure.finish)
    conditions = []
    for number, (name, group) in enumerate(groups.items()):
        first, table, estimate = group[0], tables[number], bootstrap.score(number)
        condition = Condition(
            name=name,
            runs=tuple(run.name for run in group),
            scores=tuple(float(score) for score in measure.finish(table.sum(axis=1))),
            score=estimate.value,
            interval=_interval(table, measure, estimate),
            baseline=_baseline(
                measure, first.record["scores"][splits[first.name]], answers[first.name]
            ),
        )
        conditions.append(condition)
    sign = 1 if measure.higher_is_better else -1
    best = max(range(len(conditions)), key=lambda number: sign * conditions[number].score)
    reference = None if all_pairs or len(groups) <= FEW else best
    if against is not None:
        (reference,) = (i for i, one in enumerate(conditions) if against in one.runs)
    pairs = compare_pairs(
        list(groups), tables, metric=measure, bootstrap=bootstrap, reference=reference
    )
    constant = _constant(groups, answers, measure)
    return Comparison(
        splits=splits,
        n=len(answers[runs[0].name]),
        metric=measure,
        conditions=tuple(conditions),
        pairs=tuple(pairs),
        notes=tuple(_notes(runs, answers, measure, features, splits)),
        differing=tuple(differing_settings(groups)),
        standings=()
        if against is not None
        else tuple(standings(list(groups), conditions[best].name, pairs, constant)),
    )


def conditions_of(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Group runs that differ in nothing but the seed, each under a name that tells them apart."""
    groups: defaultdict[tuple[tuple[str, str], ...], list[Run]] = defaultdict(list)
    for run in runs:
        written = {key: json.dumps(value, sort_keys=True) for key, value in _made_by(run).items()}
        groups[tuple(sorted(i for i in written.items() if not i[0].endswith(IGNORED)))].append(run)
    shared = set.intersection(*(set(key) for key in groups))
    names = sorted({name for key in groups for name, _ in set(key) - shared})
    named: dict[str, list[Run]] = {}
    for key, group in groups.items():
        values = dict(key)  # a setting that is missing is not the same as null
        title = ", ".join(f"{n.rpartition('.')[2]}={values.get(n, '–')}" for n in names)
        if any(n.startswith(tuple(f"{source}." for source in MODELS_FROM)) for n in names):
            title = SEED.sub("", group[0].name)  # the settings of other runs make no name
        name = group[0].name if len(group) == 1 else title or group[0].config["job"]
        named[name if name not in named else f"{name} ({group[0].name})"] = group
    return named


def _made_by(run: Run) -> dict[str, Any]:
    """Return a run's job and settings, and those of the run whose model it took.

    Two runs that took models of two seeds differ in nothing but the seed, although their settings
    name two folders. A folder that is gone stays a name.
    """
    made = {"job": run.config["job"], **dict(flatten(run.config["settings"]))}
    for key in MODELS_FROM:
        folder = Path(str(made.get(key) or "-"))
        if (folder / CONFIG).is_file():
            del made[key]
            of_source = _made_by(Run.open(folder))
            made |= {f"{key}.{name}": value for name, value in of_source.items()}
    return made


def _interval(table: Array, metric: Metric, estimate: Estimate) -> Interval:
    if metric is ACCURACY and len(table) == 1:
        return wilson(int(table[0, :, 0].sum()), table.shape[1])
    return metric.within_bounds(estimate.interval())


def _baseline(
    metric: Metric, score: Mapping[str, Any], answers: Answers
) -> Mapping[str, Any] | None:
    """Return what always giving one answer scores by this metric, if the run's record names one."""
    baseline: Mapping[str, Any] | None = score.get("baseline")
    if baseline is None or metric.name == score["metric"]:
        return baseline
    if "answer" not in baseline or "prediction" not in metric.columns:
        return None
    constant = [{**row, "prediction": baseline["answer"]} for row in answers]
    kept = {key: baseline[key] for key in ("name", "answer")}
    return kept | {"value": metric.score(constant)}


def _notes(
    runs: Sequence[Run],
    answers: Mapping[str, Answers],
    metric: Metric,
    features: Mapping[str, Array],
    splits: Mapping[str, str],
) -> list[str]:
    """List what makes a score doubtful; what is true of several runs is said once."""
    notes = _computed_differently(runs)
    if len(runs) > 1 and len(conditions_of(runs)) == 1:
        notes.append("These runs differ in the seed alone: one condition, nothing to compare.")
    notes += _of_each(runs, lambda run: _collapse(answers[run.name], metric), " ")
    by_score = defaultdict(list)
    for name, of_rows in features.items():
        by_score[float(metric.finish(of_rows.sum(axis=0)))].append(name)
    for names in by_score.values():
        if len(names) == 1:
            continue
        given = {features[name].tobytes() for name in names}
        same = "example by example" if len(given) == 1 else "on different examples"
        notes.append(
            f"{', '.join(names)} score the same to the last bit, {same}: none of them is best."
        )
    return notes + _of_each(runs, lambda run: doubts(run.record, splits[run.name]), ": ")


def doubts(record: Mapping[str, Any], split: str) -> list[str]:
    """List what a run's record says against its score on a split."""
    found = [str(note).removesuffix(".") for note in record.get("warnings") or ()]
    leak = record.get("leak")
    if leak and leak["largest_change"] != 0:
        found.append(f"it sees the future ({leak['sentence']}), so its losses cannot be trusted")
    if record.get("best_step") is not None and record.get("chosen_on", "dev") == split:
        found.append(f"its step was chosen on {split}, so this score is optimistic")
    if note := repeats_warning(record["scores"][split]):
        found.append(note)
    return found + (ledger_notes(record["ledger"]) if "ledger" in record else [])


def _collapse(rows: Answers, metric: Metric) -> list[str]:
    if "prediction" not in metric.columns:
        return []
    verdict = collapse_verdict(
        [str(row["gold"]) for row in rows], [str(row["prediction"]) for row in rows]
    )
    return [verdict] if verdict else []


def _constant(
    groups: Mapping[str, Sequence[Run]], answers: Mapping[str, Answers], metric: Metric
) -> list[str]:
    """Return the conditions whose runs all give one answer to everything."""

    def is_constant(rows: Answers) -> bool:
        given, right = ({row[column] for row in rows} for column in ("prediction", "gold"))
        return len(given) == 1 and len(right) > 1

    if "prediction" not in metric.columns:
        return []
    return [
        name for name, runs in groups.items() if all(is_constant(answers[r.name]) for r in runs)
    ]


def _of_each(
    runs: Sequence[Run], notes_of: Callable[[Run], Sequence[str]], between: str
) -> list[str]:
    """Write every run's notes, and one that several runs share only once."""
    by_note = defaultdict(list)
    for run in runs:
        for note in notes_of(run):
            by_note[note].append(run.name)

    def who(names: list[str]) -> str:
        is_everyone = len(names) == len(runs) > FEW
        return f"each of the {len(runs)} runs: " if is_everyone else ", ".join(names) + between

    return [f"{who(names)}{note}." for note, names in by_note.items()]


def _computed_differently(runs: Sequence[Run]) -> list[str]:
    """Say so where runs were computed in different precisions, which no setting shows."""
    used = defaultdict(list)
    for run in runs:
        precision = run.config["resolved"].get("hardware", {}).get("precision")
        if precision:
            used[precision].append(run.name)
    if len(used) < 2:
        return []
    listed = "; ".join(f"{precision}: {', '.join(names)}" for precision, names in used.items())
    return [f"These runs were computed in different precisions ({listed})."]
