"""What a run's stored answers say about its confidence, as saved in the record.

A row is a prediction: ``confidence`` is the probability of the answer; where answers were drawn,
``agreement`` is the share of them that equal it, ``runner_up_probability`` the probability of the
likeliest other one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from attnlab.evaluation.confidence import (
    Thresholds,
    Verdict,
    calibration_error,
    choose_thresholds,
    risk_coverage,
    roc_area,
    surest_half,
)
from attnlab.evaluation.intervals import wilson

Rows = Sequence[Mapping[str, Any]]

CALIBRATION, UNSEEN = "held_out", "unseen"
"""Splits with a special role: one chooses thresholds, answers to the other are all made up."""


@dataclass(frozen=True)
class Answer:
    """What the model says, and how far to trust it."""

    text: str
    probability: float
    verdict: Verdict | Literal["not checked"]
    """Not checked: the corpus, which would show whether a name was read, is missing or changed."""
    reason: str
    agreement: float
    """Share of drawn answers that are the same."""
    runners_up: Sequence[tuple[str, float]]
    """Other answers that were drawn, with their probability, the likeliest first."""
    warnings: Sequence[str] = ()
    """What is not as it was in training: the corpus, or the code of the attention."""


def judge_confidence(splits: Mapping[str, Rows]) -> dict[str, Any]:
    """Measure how useful confidence is on every split whose truth is known.

    Thresholds are chosen on held-out training people and checked on everyone else.
    """
    known = {name: rows for name, rows in splits.items() if rows and "gold" in rows[0]}
    others = {name: rows for name, rows in known.items() if name not in (CALIBRATION, UNSEEN)}
    judged: dict[str, Any] = {"splits": {name: _worth(rows) for name, rows in others.items()}}
    if CALIBRATION in known:
        rows = known[CALIBRATION]
        thresholds = choose_thresholds(column(rows, "confidence"), right(rows))
        judged["thresholds"] = asdict(thresholds)
        chosen_on = {row["id"] for row in rows if "id" in row}
        judged["kept"] = {
            name: _kept(thresholds, [row for row in rows if row.get("id") not in chosen_on])
            for name, rows in others.items()
        }
        judged["verdicts"] = {
            name: Counter(thresholds.verdict(sure) for sure in column(rows, "confidence"))
            for name, rows in splits.items()
            if name != CALIBRATION and rows
        }
    unseen = splits.get(UNSEEN)
    if unseen:
        judged["seen"] = {
            name: _areas([*rows, *unseen], [True] * len(rows) + [False] * len(unseen))
            for name, rows in splits.items()
            if rows and name not in (CALIBRATION, UNSEEN)
        }
    return judged


def right(rows: Rows) -> list[bool]:
    """Return which answers are right."""
    return [row["prediction"] == row["gold"] for row in rows]


def column(rows: Rows, signal: str) -> list[float]:
    """Return one of the signals, the higher the surer."""
    return [_signal(row)[signal] for row in rows]


def _worth(rows: Rows) -> dict[str, Any]:
    sure, is_right = column(rows, "confidence"), right(rows)
    return {
        "n": len(rows),
        "right": _areas(rows, is_right),
        "risk_coverage_area": risk_coverage(sure, is_right).area,
        "calibration_error": calibration_error(sure, is_right),
        "surest_half": surest_half(sure, is_right),
    }


def _areas(rows: Rows, positive: Sequence[bool]) -> dict[str, Any]:
    """Return for every signal how well it tells the positive rows from the others."""
    found = {name: roc_area(column(rows, name), positive) for name in _signal(rows[0])}
    return {
        name: area and {"value": area.value, "interval": list(area.interval)}
        for name, area in found.items()
    }


def _signal(row: Mapping[str, Any]) -> dict[str, float]:
    signals = {"confidence": float(row["confidence"])}
    if {"agreement", "runner_up_probability"} <= row.keys():
        signals["agreement"] = float(row["agreement"])
        signals["lead"] = signals["confidence"] - float(row["runner_up_probability"])
    return signals


def _kept(thresholds: Thresholds, rows: Rows) -> dict[str, Any] | None:
    """Check the promise on answers that it was not chosen on."""
    if thresholds.retrieved is None:
        return None
    given = [row for row in rows if row["confidence"] >= thresholds.retrieved.value]
    hits, n = sum(right(given)), len(given)
    return {
        "n": n,
        "coverage": n / len(rows) if rows else 0.0,
        "value": hits / n if n else None,
        "interval": list(wilson(hits, n)) if n else None,
    }
