"""What a run's stored answers say about its confidence, as saved in the record.

A row is a prediction: ``confidence`` is the probability of the answer; where answers were drawn,
``agreement`` is the share of them that equal it, ``runner_up_probability`` the probability of the
likeliest other one; where a reader has read the corpus, ``reader_probability`` is what it gives to
the answer. ``calibrated`` sums all of these up, and then decides instead of ``confidence``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from attnlab.evaluation.answer_judge import CALIBRATED
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

CALIBRATION, INVENTED, UNSEEN = "held_out", "invented", "unseen"
"""Splits with a special role: the first chooses thresholds, with people whose names are invented;
answers about those, and about the last, are all made up."""
ROLES = (CALIBRATION, INVENTED, UNSEEN)


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
    certainty: float | None = None
    """How likely it is to be right by all signals together, if people were held out to learn it."""


def judge_confidence(splits: Mapping[str, Rows]) -> dict[str, Any]:
    """Measure how useful confidence is on every split whose truth is known.

    Thresholds are chosen on held-out training people and checked on everyone else.
    """
    known = {name: rows for name, rows in splits.items() if rows and "gold" in rows[0]}
    others = {name: rows for name, rows in known.items() if name not in ROLES}
    judged: dict[str, Any] = {"splits": {name: _worth(rows) for name, rows in others.items()}}
    if CALIBRATION in known:
        rows = known[CALIBRATION]
        thresholds = thresholds_of(rows, splits.get(INVENTED, ()))
        judged["thresholds"] = asdict(thresholds)
        chosen_on = {row["id"] for row in rows if "id" in row}
        judged["kept"] = {
            name: _kept(thresholds, [row for row in rows if row.get("id") not in chosen_on])
            for name, rows in others.items()
        }
        judged["verdicts"] = {
            name: _counted(map(thresholds.verdict, certainty(rows)))
            for name, rows in splits.items()
            if name not in (CALIBRATION, INVENTED) and rows
        }
    unseen = splits.get(UNSEEN)
    if unseen:
        judged["seen"] = {
            name: _areas([*rows, *unseen], [True] * len(rows) + [False] * len(unseen))
            for name, rows in splits.items()
            if rows and name not in ROLES
        }
    return judged


def thresholds_of(held_out: Rows, invented: Rows) -> Thresholds:
    """Choose thresholds on held-out training people, of whom something is written.

    What counts as retrieved has to keep its promise among as many invented people, too. What counts
    as made up is chosen without them: it says that even people who are written about are more often
    answered wrong.
    """
    known, made_up = certainty(held_out), certainty(invented)
    written = choose_thresholds(known, right(held_out))
    if not made_up:
        return written
    mixed = choose_thresholds([*known, *made_up], [*right(held_out), *[False] * len(made_up)])
    return replace(mixed, made_up=written.made_up, invented=len(made_up))


def certainty(rows: Rows) -> list[float]:
    """Return how sure to be of every answer: by all signals together, or by its probability."""
    return [float(row.get(CALIBRATED, row["confidence"])) for row in rows]


def right(rows: Rows) -> list[bool]:
    """Return which answers are right."""
    return [row["prediction"] == row["gold"] for row in rows]


def column(rows: Rows, signal: str) -> list[float]:
    """Return one of the signals, the higher the surer."""
    return [_signal(row)[signal] for row in rows]


def _counted(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count the verdicts; one that was never given has a 0."""
    counts = Counter(verdicts)
    return {verdict: counts[verdict] for verdict in get_args(Verdict)}


def _worth(rows: Rows) -> dict[str, Any]:
    sure, is_right = certainty(rows), right(rows)
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
    if "reader_probability" in row:
        signals["reader"] = float(row["reader_probability"])
    if CALIBRATED in row:
        signals[CALIBRATED] = float(row[CALIBRATED])
    return signals


def _kept(thresholds: Thresholds, rows: Rows) -> dict[str, Any] | None:
    """Check the promise on answers that it was not chosen on."""
    if thresholds.retrieved is None:
        return None
    least = thresholds.retrieved.value
    given = [row for row, sure in zip(rows, certainty(rows), strict=True) if sure >= least]
    hits, n = sum(right(given)), len(given)
    return {
        "n": n,
        "coverage": n / len(rows) if rows else 0.0,
        "value": hits / n if n else None,
        "interval": list(wilson(hits, n)) if n else None,
    }
