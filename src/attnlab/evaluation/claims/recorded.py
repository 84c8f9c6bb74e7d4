"""What runs have recorded of a quantity: every value that a number of a report may mean."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path
from statistics import fmean
from typing import Any

from attnlab.config import flatten
from attnlab.evaluation.claims.quantities import LOSS, OWN, Quantity
from attnlab.evaluation.comparison import conditions_of
from attnlab.evaluation.differing import written_value
from attnlab.evaluation.examined import AS_TRAINED, WITHOUT_FUTURE, examined
from attnlab.evaluation.intervals import percent
from attnlab.evaluation.metrics import METRICS, Metric, metric_called
from attnlab.runs.directory import Run

TOGETHER = "together"
"""The split of rows that are counted over several splits."""
MOST_SPLITS = 6
WEIGHTS = "checkpoints/step-*/model.safetensors"
LENGTH = re.compile(r"(?P<number>[\d.]+)(?P<scale>[kM]?) (?P<unit>epochs?|steps?|tokens?)")
SCALES = {"": 1.0, "k": 1e3, "M": 1e6}


@dataclass(frozen=True)
class Value:
    """A number that runs have recorded."""

    value: float
    written: str
    """With what it is, such as "84.5 % on dev"."""
    runs: tuple[Run, ...] = ()
    split: str = ""
    is_share: bool = False
    is_logged: bool = False
    """Whether it was logged on the way and is no final score."""


def values_of(runs: Sequence[Run], quantity: Quantity) -> list[Value]:
    """Return everything that runs have recorded of a quantity; of seeds, their means as well."""
    if quantity.name == "seeds":
        return list(_seeds(runs))
    of_kind = {"score": _scores, "size": _sizes, "setting": _settings}[quantity.kind]
    by_run = {run.path: list(of_kind(run, quantity)) for run in runs if run.finished}
    return [value for values in by_run.values() for value in values] + list(_means(runs, by_run))


def baselines_of(runs: Iterable[Run]) -> Iterator[Value]:
    """Give what guessing scores: the most common answer, and any class by chance."""
    for run in runs:
        for split, score in run.record["scores"].items() if run.finished else ():
            if baseline := score.get("baseline"):
                metric = metric_called(score["metric"])
                written = f"{metric.write(baseline['value'])} on {split} ({baseline['name']})"
                yield Value(baseline["value"], written, (run,), split, is_share=metric.in_percent)
        if classes := run.record.get("classes") if run.finished else None:
            share = 1 / len(classes)
            yield Value(share, f"{percent(share, 1)} by chance", (run,), is_share=True)


def _scores(run: Run, quantity: Quantity) -> Iterator[Value]:
    for split, score in run.record["scores"].items():
        yield from _score(run, split, score, quantity)
    found = examined(run)
    for name in (AS_TRAINED, WITHOUT_FUTURE):
        if quantity.name in (scores := found.get(name, {})):
            where = "some windows, " + name.replace("_", " ")
            yield _value(scores[quantity.name], where, run, name, METRICS.get(quantity.name))
    yield from _logged(run, quantity)


def _logged(run: Run, quantity: Quantity) -> Iterator[Value]:
    """Give what was logged when the model was evaluated; of single batches, only the last."""
    lines = run.metrics()
    last_batch = next((line for line in reversed(lines) if "lr" in line), None)
    for line in lines:
        if "lr" in line and line is not last_batch:
            continue
        for key, value in line.items():
            split = "train" if key == quantity.name else key.removesuffix(f"_{quantity.name}")
            if split != key:
                where = f"{split}, logged at step {line['step']:,.0f}"
                metric = METRICS.get(quantity.name)
                yield _value(value, where, run, split, metric, is_logged=True)


def _score(run: Run, split: str, score: dict[str, Any], quantity: Quantity) -> Iterator[Value]:
    if quantity in (OWN, LOSS):
        metric = metric_called(score["metric"]) if quantity is OWN else None
    else:
        metric = METRICS[quantity.name]
    if quantity is OWN or quantity.name == score["metric"]:
        yield _value(score["value"], split, run, split, metric)
    elif quantity.name in score:
        yield _value(score[quantity.name], split, run, split, metric)
    elif run.has_predictions(split):
        rows = run.predictions(split)
        if metric and metric.columns.keys() <= rows[0].keys():
            yield _value(metric.score(rows), split, run, split, metric)
        elif quantity is LOSS and "loss" in rows[0]:
            tokens = sum(row.get("tokens", 1) for row in rows)
            yield _value(sum(row["loss"] for row in rows) / tokens, split, run, split, metric)


def _value(
    value: float,
    where: str,
    run: Run,
    split: str,
    metric: Metric | None,
    *,
    is_logged: bool = False,
) -> Value:
    written = metric.write(value) if metric else f"{value:.4g}"
    is_share = bool(metric and metric.in_percent)
    return Value(
        value, f"{written} on {where}", (run,), split, is_share=is_share, is_logged=is_logged
    )


def _means(runs: Sequence[Run], by_run: dict[Path, list[Value]]) -> Iterator[Value]:
    """Give the mean over the seeds of a condition, where each of them has one value."""
    for group in conditions_of(runs).values() if len(runs) > 1 else ():
        finals = [_by_split(by_run.get(run.path, ())) for run in group]
        for split in set.intersection(*map(set, finals)) if len(group) > 1 else ():
            values = [of_run[split] for of_run in finals]
            mean, share = fmean(value.value for value in values), values[0].is_share
            written = percent(mean, 1) if share else f"{mean:,.2f}"
            where = f" on {split}" if split else ""
            text = f"{written}{where}, mean of {len(group)} seeds"
            yield Value(mean, text, tuple(group), split, is_share=share)


def _by_split(values: Iterable[Value]) -> dict[str, Value]:
    """Return the final value of every split that has just one."""
    finals = [one for one in values if not one.is_logged]
    splits = [one.split for one in finals]
    return {one.split: one for one in finals if splits.count(one.split) == 1}


def _sizes(run: Run, quantity: Quantity) -> Iterator[Value]:
    record = run.record
    counts: dict[str, Iterable[tuple[str, float | None]]] = {
        "parameters": _parameters(run),
        "seconds": [("s of training", record.get("training_seconds"))],
        "n": (sizes := list(_rows(record))),
        "rows": [*sizes, *_sums(sizes)],
        "steps": [("steps", record.get("steps")), ("best step", record.get("best_step"))],
        "epochs": _epochs(record),
        "tokens": [
            ("tokens of training", record.get("tokens")),
            *((f"tokens of {s}", score.get("tokens")) for s, score in record["scores"].items()),
        ],
    }
    found = [*counts[quantity.name], *_length(run, quantity.name)]
    for where, value in found:
        if value is not None:
            number = f"{value:,.6g}" if value % 1 else f"{int(value):,}"
            split = where.rpartition(" ")[2] if quantity.name in ("n", "rows") else ""
            yield Value(value, f"{number} {where}", (run,), split)


def _parameters(run: Run) -> Iterator[tuple[str, float | None]]:
    record = run.record
    yield "trainable parameters", record.get("n_trainable")
    found = examined(run)
    yield "parameters", found.get("parameters")
    if "n_trainable" not in record and "parameters" not in found:
        yield "parameters", _stored_parameters(run.path)


def _stored_parameters(path: Path) -> int | None:
    """Count what is trained from the header of the newest checkpoint; no tensor is read."""
    from safetensors import safe_open

    files = sorted(path.glob(WEIGHTS))
    if not files:
        return None
    with safe_open(files[-1], framework="np") as opened:
        shapes = [opened.get_slice(name).get_shape() for name in opened.keys()]  # noqa: SIM118
    return sum(int(prod(shape)) for shape in shapes)


def _rows(record: dict[str, Any]) -> Iterator[tuple[str, int]]:
    splits = record.get("ledger", {}).get("splits", {})
    sizes = {name: split["n"] for name, split in splits.items()}
    sizes |= {name: score["n"] for name, score in record["scores"].items()}
    yield from ((f"in {name}", size) for name, size in sizes.items())


def _sums(sizes: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Give the rows of every two or more splits together."""
    for count in range(2, len(sizes) + 1):
        for some in combinations(sizes[:MOST_SPLITS], count):
            yield f"in splits {TOGETHER}", sum(size for _, size in some)


def _epochs(record: dict[str, Any]) -> Iterator[tuple[str, float | None]]:
    steps, per_epoch = record.get("steps"), record.get("steps_per_epoch")
    if steps and per_epoch:
        yield "epochs", round(steps / per_epoch, 2)


def _length(run: Run, unit: str) -> Iterator[tuple[str, float]]:
    """Give the length of training as it was set, such as 20 epochs."""
    length = run.config["settings"].get("training", {}).get("length")
    match = LENGTH.fullmatch(str(length))
    if match and match["unit"].rstrip("s") == unit.rstrip("s"):
        yield unit, float(match["number"]) * SCALES[match["scale"]]


def _settings(run: Run, quantity: Quantity) -> Iterator[Value]:
    for key, value in flatten(run.config["settings"]):
        if key.rpartition(".")[2] in quantity.keys and isinstance(value, int | float):
            yield Value(float(value), f"{key} {written_value(value)}", (run,))


def _seeds(runs: Sequence[Run]) -> Iterator[Value]:
    groups = conditions_of(runs).values() if runs else ()
    for count in dict.fromkeys([*(len(group) for group in groups), len(runs)]):
        yield Value(count, "1 seed" if count == 1 else f"{count} seeds", tuple(runs))
