"""The list of runs: one line each; a study is one line that unfolds into its cells."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.config import flatten
from attnlab.errors import UserError, did_you_mean, unknown_name
from attnlab.evaluation.common_splits import SPLITS
from attnlab.evaluation.ledger import was_trained_on
from attnlab.evaluation.metrics import metric_called
from attnlab.report.one_line import OneLineTable
from attnlab.runs.directory import Run
from attnlab.runs.listing import changed_at
from attnlab.runs.lock import is_held
from attnlab.runs.study import STUDY, Study, read_study

FINISHED, RUNNING, FAILED, STOPPED = "finished", "running", "failed", "stopped"
BY_CELL = (RUNNING, FAILED)
"""The states that a study takes over from one of its cells."""
AGES = ((60, "s"), (60, "m"), (24, "h"), (math.inf, "d"))


@dataclass(frozen=True)
class Line:
    """What the list says about a run or a study."""

    name: str
    job: str
    model: str
    state: str
    progress: str
    """How far it is, if it is not finished."""
    changed: float
    """When it was last worked on, in seconds since 1970."""
    settings: Mapping[str, Any]
    resolved: Mapping[str, Any]
    failure: Mapping[str, Any] | None = None
    """What ended it, if it failed."""
    split: str | None = None
    score: Mapping[str, Any] | None = None
    trained_on: bool = False
    """Whether all rows of that split were trained on."""
    cells: tuple["Line", ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        scored = {"split": self.split, "score": dict(self.score)} if self.score else {}
        memory = {"trained_on": True} if self.trained_on else {}
        cells = {"cells": [cell.as_json() for cell in self.cells]} if self.cells else {}
        return {
            "name": self.name,
            "job": self.job,
            "model": self.model,
            "state": self.state,
            "progress": self.progress or None,
            **({"failure": dict(self.failure)} if self.failure else {}),
            "changed": self.changed,
            **scored,
            **memory,
            "settings": dict(self.settings),
            "resolved": dict(self.resolved),
            **cells,
        }


def run_state(run: Run) -> str:
    """Say in a word how far a run is."""
    if run.finished:
        return FAILED if run.failure else FINISHED
    return RUNNING if is_held(run.path) else FAILED if run.failure else STOPPED


def run_line(run: Run, root: Path) -> Line:
    """Sum up a run."""
    config = run.config
    split, score = _headline(run)
    return Line(
        name=str(run.path.relative_to(root)),
        job=config["job"],
        model=_model(config["settings"]),
        state=run_state(run),
        progress="" if run.finished else progress(run),
        changed=changed_at(run),
        settings=config["settings"],
        resolved=config["resolved"],
        failure=run.failure,
        split=split,
        score=score,
        trained_on=bool(score and split and was_trained_on(run.record, split)),
    )


def study_line(study: Study, runs: Sequence[Run], root: Path) -> Line:
    """Sum up a study; its score is that of the best run it compares."""
    cells = tuple(run_line(run, root) for run in runs)
    compared = {f"{study.path.relative_to(root)}/{name}" for name in study.runs}
    scored = [cell for cell in cells if cell.score and (not compared or cell.name in compared)]
    best = max(scored, key=_goodness, default=None)
    done, total = sum(c.state == FINISHED for c in cells), len(study.cells or study.runs)
    is_finished = study.is_finished if study.cells else done == total
    states = {cell.state for cell in cells}
    return Line(
        name=str(study.path.relative_to(root)),
        job=study.job or "study",
        model=f"best of {len(scored)}" if best else f"{total} cells",
        state=FINISHED if is_finished else next((s for s in BY_CELL if s in states), STOPPED),
        progress="" if is_finished else f"{done} of {total} cells",
        changed=max((cell.changed for cell in cells), default=(study.path / STUDY).stat().st_mtime),
        settings=read_study(study.path).get("settings", {}),
        resolved={},
        split=best.split if best else None,
        score=best.score if best else None,
        trained_on=bool(best and best.trained_on),
        cells=cells,
    )


def progress(run: Run) -> str:
    """Say how far a run is that is not finished."""
    total = run.config["resolved"].get("steps")
    logged = [line["step"] for line in run.metrics()]
    return f"step {logged[-1] if logged else 0:,} of {total:,}" if total else "begun"


def lines_view(lines: Sequence[Line], *, unfold: bool = False) -> RenderableType:
    """Show one line per run, cells indented below their study; then why runs have failed."""
    rows = []
    for line in lines:
        rows.append(_cells(line, line.name))
        if unfold:
            inner = [_cells(cell, f"  {Path(cell.name).name}") for cell in line.cells]
            rows += inner
    columns = ["name", "age", "job", "model", "score [95 %]", "state"]
    reasons = [
        Text(f"{one.name} failed: {one.failure['message']}", "red")
        for line in lines
        for one in (line, *line.cells)
        if one.state == FAILED and one.failure
    ]
    return Group(OneLineTable(columns, rows, shrinkable=(0, 2, 3)), *reasons)


def sorted_lines(lines: Sequence[Line], by: str) -> list[Line]:
    """Sort the newest or the best first, names and jobs by the alphabet."""
    keys: dict[str, Callable[[Line], Any]] = {
        "age": lambda line: -line.changed,
        "name": lambda line: line.name,
        "job": lambda line: (line.job, -line.changed),
        "score": lambda line: -_goodness(line),
    }
    if by not in keys:
        raise unknown_name("order", by, keys)
    if by == "age":  # the cells of a study have an order of their own
        return sorted(lines, key=keys[by])
    inside = [replace(line, cells=tuple(sorted(line.cells, key=keys[by]))) for line in lines]
    return sorted(inside, key=keys[by])


def filtered(lines: Sequence[Line], wanted: Sequence[str]) -> list[Line]:
    """Keep the lines that fit every ``key=value``; of a study that does not, the cells that do."""
    known: set[str] = set()
    for text in wanted:
        key, equals, _ = text.partition("=")
        if not equals:
            raise UserError(f"--filter {text}: expected KEY=VALUE, for example --filter job=NAME.")
        known = {name for line in lines for one in (line, *line.cells) for name in _values(one)}
        if lines and key not in known:
            raise UserError(
                f"--filter {text}: no run has {key!r}.{did_you_mean(key, known)} Possible: job,"
                " model, name, state, and every setting."
            )
    kept = []
    for line in lines:
        cells = tuple(cell for cell in line.cells if _fits(cell, wanted))
        if _fits(line, wanted):
            kept.append(line)
        elif cells:
            kept.append(replace(line, cells=cells))
    return kept


def _fits(line: Line, wanted: Sequence[str]) -> bool:
    values = _values(line)
    pairs = [text.partition("=") for text in wanted]
    return all(key in values and _same(values[key], value) for key, _, value in pairs)


def _values(line: Line) -> dict[str, Any]:
    settings = dict(flatten(line.settings))
    by_last_part = {key.rpartition(".")[2]: value for key, value in settings.items()}
    own = {key: getattr(line, key) for key in ("name", "job", "model", "state")}
    return by_last_part | settings | own


def _same(value: Any, text: str) -> bool:
    """Compare as a user would: 5e-4 is 0.0005."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text == (value if isinstance(value, str) else json.dumps(value))


def _cells(line: Line, name: str) -> list[str]:
    score = line.progress or score_text(line)
    return [name, age(time.time() - line.changed), line.job, line.model, score, line.state]


def score_text(line: Line) -> str:
    """Write a score with its split and interval."""
    if not line.score:
        return "–"
    metric = metric_called(line.score["metric"])
    low, high = (metric.write(bound).removesuffix(" %") for bound in line.score["interval"])
    split = f"{line.split}, trained on:" if line.trained_on else line.split
    return f"{split} {metric.write(line.score['value'])} [{low}, {high}]"


def age(seconds: float) -> str:
    """Write a time as its largest unit: 5m, 3h, 12d."""
    for size, unit in AGES:
        if seconds < size:
            return f"{max(0, int(seconds))}{unit}"
        seconds /= size
    raise AssertionError("days have no end")


def _headline(run: Run) -> tuple[str | None, Mapping[str, Any] | None]:
    scores = run.record["scores"] if run.finished else {}
    split = next((split for split in (*SPLITS, *scores) if split in scores), None)
    return split, scores.get(split)


def _goodness(line: Line) -> float:
    if not line.score:
        return -math.inf
    value = float(line.score["value"])
    return value if metric_called(line.score["metric"]).higher_is_better else -value


def _model(settings: Mapping[str, Any]) -> str:
    """Name the model: a folder or a hub's name, an attention variant, or the run it is from."""
    for key in ("run", "start", "model"):
        value = settings.get(key)
        if value and isinstance(value, str):
            return Path(value).name
    model = settings.get("model")
    attention = model.get("attention") if isinstance(model, dict) else None
    name = attention.get("name") if isinstance(attention, dict) else None
    return Path(name).name if isinstance(name, str) else "–"
