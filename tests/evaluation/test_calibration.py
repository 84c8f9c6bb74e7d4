"""What stored answers say about confidence: right or wrong, read or not, promised and kept."""

from typing import Any

import pytest

from attnlab.evaluation.calibration import judge_confidence, thresholds_of


def row(sure: float, is_right: bool, **more: Any) -> dict[str, Any]:
    return {
        "prediction": "Lyon",
        "gold": "Lyon" if is_right else "Rome",
        "confidence": sure,
        **more,
    }


SURE_AND_RIGHT, UNSURE_AND_WRONG = [row(0.9, True)] * 60, [row(0.2, False)] * 40
ANSWERS = SURE_AND_RIGHT + UNSURE_AND_WRONG
UNSEEN = [row(0.1, False)] * 20


def test_a_split_is_judged_by_every_signal_that_was_stored() -> None:
    drawn = [one | {"agreement": one["confidence"], "runner_up_probability": 0} for one in ANSWERS]
    told = judge_confidence({"test": drawn})
    assert told.keys() == {"splits"}
    worth = told["splits"]["test"]
    assert worth["n"] == 100
    assert {name: area["value"] for name, area in worth["right"].items()} == {
        "confidence": 1,
        "agreement": 1,
        "lead": 1,
    }
    assert worth["surest_half"]["value"] == 1
    assert worth["calibration_error"] == pytest.approx(0.6 * 0.1 + 0.4 * 0.2)


def test_the_promise_is_chosen_on_held_out_people_and_checked_on_others() -> None:
    test = [row(0.95, True)] * 8 + [row(0.95, False)] * 2 + [row(0.5, True)] * 10
    told = judge_confidence({"held_out": ANSWERS, "test": test, "unseen": UNSEEN})
    assert told["thresholds"]["chosen_on"] == 100
    assert told["thresholds"]["retrieved"]["value"] == 0.9
    kept = told["kept"]["test"]
    assert (kept["n"], kept["coverage"], kept["value"]) == (10, 0.5, 0.8)
    assert told["verdicts"]["test"] == {"retrieved": 10, "unsure": 10, "made up": 0}
    assert told["verdicts"]["unseen"] == {"retrieved": 0, "unsure": 0, "made up": 20}
    assert told["seen"]["test"]["confidence"]["value"] == 1
    assert told["splits"].keys() == {"test"}, "the others have a part of their own"


def test_answers_without_truth_are_not_judged() -> None:
    unknown = [{"prediction": "Lyon", "confidence": 0.9}] * 3
    told = judge_confidence({"held_out": ANSWERS, "test": unknown})
    assert told["splits"] == {}
    assert told["verdicts"]["test"] == {"retrieved": 3, "unsure": 0, "made up": 0}


def test_nothing_to_judge_gives_nothing() -> None:
    assert judge_confidence({}) == {"splits": {}}


def test_a_threshold_that_nobody_reaches_is_kept_by_nobody() -> None:
    told = judge_confidence({"held_out": ANSWERS, "dev": [row(0.5, True)]})
    assert told["kept"]["dev"] == {"n": 0, "coverage": 0, "value": None, "interval": None}


def test_invented_people_keep_the_promise_for_those_of_whom_nothing_is_written() -> None:
    """Without them, a threshold that suits everybody who was read about lets invented ones pass."""
    held_out = [row(0.9, True)] * 90 + [row(0.6, True)] * 90 + [row(0.6, False)] * 10
    invented = [row(0.6, False)] * 60
    alone, mixed = (
        thresholds_of(held_out, []).retrieved,
        thresholds_of(held_out, invented).retrieved,
    )
    assert alone
    assert mixed
    assert (alone.value, mixed.value) == (0.6, 0.9)
    assert thresholds_of(held_out, invented).invented == 60


def test_all_signals_together_decide_where_they_were_combined() -> None:
    judged = [one | {"calibrated": 1 - one["confidence"]} for one in ANSWERS]
    areas = judge_confidence({"test": judged})["splits"]["test"]["right"]
    assert (areas["confidence"]["value"], areas["calibrated"]["value"]) == (1, 0)
    assert judge_confidence({"test": judged})["splits"]["test"]["surest_half"]["value"] < 0.5
