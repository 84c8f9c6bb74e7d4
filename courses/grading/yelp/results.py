"""A submission's runs: which there are, what they score on the test set, what is missing.

A run is any folder of the submission with a config.json and a record.json. What it trained is read
from them, so it does not matter what the folder is called. Of several runs of one kind, the one with
the best validation score counts.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.data.labelled_text import Example, read_labelled
from attnlab.evaluation.significance import mcnemar
from grading.accuracy import accuracy_of, collapse
from grading.findings import Finding, judge, not_judged
from grading.submission import unwritten

FEW = 50
"""Labelled texts, where the assignment cuts them."""
NEEDS_LABELS = "give the test set with --labels test.csv"
ROUNDING = 5e-5


@dataclass(frozen=True)
class Kind:
    """What a run trained."""

    name: str
    few: bool
    joint: bool
    command: str

    @property
    def code(self) -> tuple[str, ...]:
        """How the TODOs of the code begin that it needs."""
        return ("Problem 2", "Problem 3") if self.joint else ("Problem 2",)

    def fits(self, run: "TrainedRun") -> bool:
        """Say whether a run is of this kind."""
        return self.few == (run.n_train <= FEW) and self.joint == run.joint


ALONE = Kind("all labels", few=False, joint=False, command="classifier.py")
JOINT = Kind("all labels, joint", few=False, joint=True, command="classifier_mlm.py")
FEW_ALONE = Kind("50 labels", few=True, joint=False, command="classifier.py --labels 50")
FEW_JOINT = Kind("50 labels, joint", few=True, joint=True, command="classifier_mlm.py --labels 50")


@dataclass(frozen=True)
class TrainedRun:
    """What a run's files say."""

    name: str
    n_train: int
    joint: bool
    dev: float
    """The best validation score."""
    reported: float | None
    """The accuracy on the test set, as the record has it."""
    answers: Sequence[tuple[str, str]]
    """Text and prediction of every text of the test set."""

    @classmethod
    def read(cls, folder: Path, name: str) -> "TrainedRun":
        """Read a run; raises KeyError, TypeError or ValueError if its files are not what they were."""
        config, record = (
            json.loads((folder / file).read_text(encoding="utf-8"))
            for file in ("config.json", "record.json")
        )
        masked, scores = config["settings"]["masked"], record["scores"]
        test = folder / "predictions" / "test.jsonl"
        lines = test.read_text(encoding="utf-8").split("\n") if test.is_file() else []
        rows = [json.loads(line) for line in lines if line]
        return cls(
            name,
            n_train=int(record["ledger"]["splits"]["train"]["n"]),
            joint=bool(masked["text"]) and masked["alpha"] > 0,
            dev=float(scores["dev"]["value"]),
            reported=float(scores["test"]["value"]) if "test" in scores else None,
            answers=[(str(row["input"]), str(row["prediction"])) for row in rows],
        )


@dataclass(frozen=True)
class Results:
    """The runs of a submission, and the files that are none."""

    folder: Path
    runs: Sequence[TrainedRun]
    damaged: Sequence[str]

    @classmethod
    def of(cls, folder: Path) -> "Results":
        """Find them all."""
        runs, damaged = [], []
        for record in sorted(folder.rglob("record.json")):
            name = str(record.parent.relative_to(folder))
            try:
                runs.append(TrainedRun.read(record.parent, name))
            except (OSError, KeyError, TypeError, ValueError) as error:
                damaged.append(f"{name} cannot be read: {type(error).__name__}: {error}")
        return cls(folder, runs, damaged)

    def best(self, kind: Kind) -> TrainedRun | None:
        """Return the run of a kind that has the best validation score."""
        fitting = [run for run in self.runs if kind.fits(run)]
        return max(fitting, key=lambda run: run.dev, default=None)

    def missing(self, kind: Kind) -> str:
        """Say that there is no such run, and what to do."""
        todos = sorted(unwritten(self.folder))  # Problem 2 comes before Problem 3
        todo = next((todo for todo in todos if todo.startswith(kind.code)), None)
        write = f"Write {todo}; then run" if todo else "Run"
        there = f" {self.damaged[0]}." if self.damaged else ""
        return f"there is no such run.{there} {write} the command of {kind.command}."


def read_labels(path: Path) -> list[Example]:
    """Read the test set with its labels."""
    return read_labelled(path, labelled=True)


def grade(
    results: Results,
    kind: Kind,
    labels: Sequence[Example] | None,
    *,
    at_least: float | None = None,
) -> list[Finding]:
    """Check that there is a run of a kind, that its record is right, and that it learned."""
    run, wanted = results.best(kind), "a finished run with its predictions of the test set"
    checks = _checks(kind, at_least)
    problem = results.missing(kind) if run is None else None
    if run is not None and not run.answers:
        problem = f"{run.name} has no predictions/test.jsonl: put test.csv into --data_dir"
    seen = f"{run.name}, validation {run.dev:.1%}" if run else ""
    findings = [judge(kind.name, wanted, problem, seen)]
    if problem is not None or run is None:
        return findings + [not_judged(*check, "there is no run to look at") for check in checks]
    if labels is None:
        return findings + [not_judged(*check, NEEDS_LABELS) for check in checks]
    if other := _other_texts(run, labels):
        first, *rest = checks
        return [*findings, judge(*first, other, ""), *(not_judged(*c, other) for c in rest)]
    return findings + _judged(run, labels, checks, at_least=at_least)


def _checks(kind: Kind, at_least: float | None) -> list[tuple[str, str]]:
    """Name the checks of a run; a test score is wanted in Problem 2 only."""
    score = [] if at_least is None else [(f"{kind.name}: test score", f"at least {at_least:.1%}")]
    return [
        (f"{kind.name}: record", "the test score of its predictions"),
        (f"{kind.name}: not collapsed", "right answers other than the most frequent one"),
        *score,
    ]


def _judged(
    run: TrainedRun,
    labels: Sequence[Example],
    checks: Sequence[tuple[str, str]],
    *,
    at_least: float | None,
) -> list[Finding]:
    record, collapsed, *score = checks
    truth, predicted = [str(one.label) for one in labels], [answer for _, answer in run.answers]
    right, n = sum(a == b for a, b in zip(truth, predicted, strict=True)), len(truth)
    seen, said = accuracy_of(right, n), run.reported
    agrees = said is not None and abs(said - right / n) < ROUNDING
    reported = "it has no test score" if said is None else f"it says {said:.2%}"
    off = f"{reported}, the predictions give {right / n:.2%}"
    reached = at_least is None or right >= at_least * n
    return [
        judge(*record, None if agrees else off, seen),
        judge(*collapsed, collapse(truth, predicted, "texts"), f"{len(set(predicted))} classes"),
        *(judge(*check, None if reached else seen, seen) for check in score),
    ]


def _other_texts(run: TrainedRun, labels: Sequence[Example]) -> str | None:
    """Say if the predictions are of another test set."""
    if len(run.answers) != len(labels):
        return f"{run.name} has {len(run.answers)} predictions, the labels are of {len(labels)}"
    for number, ((text, _), example) in enumerate(zip(run.answers, labels, strict=True), 1):
        if text.split() != _text(example).split():
            return f"{run.name} has predictions of other texts: number {number} is {text[:40]!r}"
    return None


def _text(example: Example) -> str:
    return example.text if example.pair is None else f"{example.text}\n{example.pair}"


def compared(
    results: Results, kinds: tuple[Kind, Kind], labels: Sequence[Example] | None
) -> list[str]:
    """Say whether joint training helped, for the teacher who reads the analysis."""
    runs = [results.best(kind) for kind in kinds]
    if labels is None or any(run is None or _other_texts(run, labels) for run in runs):
        return []
    truth = [str(example.label) for example in labels]
    right: list[Any] = [
        [label == answer for label, (_, answer) in zip(truth, run.answers, strict=True)]
        for run in runs
        if run
    ]
    alone, joint = (sum(one) / len(truth) for one in right)
    p = mcnemar(*right)
    return [
        f"alone {alone:.1%}, jointly {joint:.1%}: {100 * (joint - alone):+.1f} points on"
        f" {len(truth):,} texts, p = {p:.2g} (exact McNemar)."
    ]
