"""How a run ends: what is predicted, which rows there were, and the record."""

import hashlib
from pathlib import Path

from attnlab.recipes.closing import Splits, close_run
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.predictions import prediction_row

TRAIN = [{"text": "fine", "label": "1"}, {"text": "awful", "label": "0"}]
TEST = [
    {"text": "awful", "label": "0"},
    {"text": "good", "label": "1"},
    {"text": "bad", "label": "0"},
]


def closed(folder: Path, *, labelled: bool = True, train_gold: tuple[str, ...] = ("1", "0")) -> Run:
    run = Run.begin("job", {}, RunPlace(folder, "mine"))
    run.resolve_once("steps", lambda: 7)
    rows = [
        prediction_row(
            row["text"],
            row["text"],
            gold=row["label"] if labelled else None,
            prediction="1",
            confidence=0.7,
        )
        for row in TEST
    ]
    splits = Splits({"train": TRAIN, "test": TEST}, inputs=["text"])
    close_run(run, {"test": rows}, splits=splits, train_gold=train_gold, leak=None)
    return run


def test_the_record_has_scores_ledger_and_what_was_resolved(tmp_path: Path) -> None:
    record = closed(tmp_path).record
    assert record["job"] == "job"
    assert record["scores"]["test"]["value"] == 1 / 3
    assert record["resolved"] == {"steps": 7}
    assert record["test"] == "evaluated once"
    assert {"leak", "versions", "cpu", "commit", "command"} <= record.keys()
    (overlap,) = record["ledger"]["overlaps"]
    assert overlap["shared"]["identical rows"] == 1


def test_every_row_of_every_split_is_found_again_by_its_hash(tmp_path: Path) -> None:
    run = closed(tmp_path)
    train, test = run.rows("train"), run.rows("test")
    assert [len(digest) for digest in (*train, *test)] == [16] * 5
    assert set(train) & set(test) == {train[1]} == {test[0]}
    expected = hashlib.sha256(b'{"text": "awful"}').hexdigest()[:16]
    assert train[1] == expected, "of the input alone, so that labels do not hide a row"


def test_without_labels_there_are_predictions_and_no_score(tmp_path: Path) -> None:
    run = closed(tmp_path, labelled=False)
    assert run.record["scores"] == {}
    assert len(run.predictions("test")) == 3


def test_where_no_training_answers_are_known_the_commonest_right_one_is_the_guess(
    tmp_path: Path,
) -> None:
    known = closed(tmp_path / "known", train_gold=("1", "1")).record["scores"]["test"]
    assert known["baseline"]["value"] == 1 / 3
    unknown = closed(tmp_path / "unknown", train_gold=()).record["scores"]["test"]
    assert unknown["baseline"]["value"] == 2 / 3
