"""The split ledger: content, and what stands in two splits."""

import csv
import json
from pathlib import Path

import pytest

from attnlab.evaluation.ledger import content_sha256, ledger_notes, split_ledger

A, B = {"text": "a", "label": 1}, {"text": "b", "label": 0}


def test_the_hash_depends_on_rows_and_their_order_but_not_on_the_order_of_fields() -> None:
    assert content_sha256([A, B]) != content_sha256([B, A])
    assert content_sha256([A, B]) != content_sha256([A])
    assert content_sha256([A]) == content_sha256([{"label": 1, "text": "a"}])


def test_identical_rows_same_question_and_same_passage_are_told_apart() -> None:
    def row(question: str, passage: str, answer: bool) -> dict[str, object]:
        return {"question": question, "passage": passage, "answer": answer}

    train = [row("q1", "p1", True), row("q2", "p2", False), row("q3", "p3", True)]
    dev = [
        row("q1", "p1", True),
        row("q2", "p2", True),
        row("q9", "p3", True),
        row("q3", "p9", True),
    ]
    ledger = split_ledger({"train": train, "dev": dev}, inputs=["question", "passage"])
    (overlap,) = ledger["overlaps"]
    assert overlap["shared"] == {
        "identical rows": 1,
        "same input with another label": 1,
        "same question": 3,
        "same passage": 3,
    }
    (note,) = ledger_notes(ledger)
    assert note.startswith("of 4 rows in dev, also in train: 1 identical rows, 1 same input")


def test_clean_splits_have_no_notes() -> None:
    ledger = split_ledger({"train": [A], "dev": [B]}, inputs=["text"])
    assert ledger["overlaps"] == []
    assert ledger_notes(ledger) == []
    assert ledger["splits"]["dev"]["n"] == 1


@pytest.mark.data
def test_boolqs_dev_passages_stand_in_train_952_times(data_folder: Path) -> None:
    def rows(name: str) -> list[dict[str, object]]:
        lines = (data_folder / "boolq" / name).read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        return [{k: row[k] for k in ("question", "passage", "answer")} for row in found]

    splits = {"train": rows("train.jsonl"), "dev": rows("dev.jsonl")}
    ledger = split_ledger(splits, inputs=["question", "passage"])
    assert ledger["splits"]["dev"]["n"] == 3270
    assert ledger["overlaps"][0]["shared"]["same passage"] == 952


@pytest.mark.data
def test_one_birthplace_question_of_dev_is_also_in_train(data_folder: Path) -> None:
    def rows(name: str) -> list[dict[str, object]]:
        with (data_folder / "birthplace" / name).open(encoding="utf-8", newline="") as file:
            found = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        return [{"question": question, "place": place} for question, place in found]

    splits = {"train": rows("birth_places_train.tsv"), "dev": rows("birth_dev.tsv")}
    (overlap,) = split_ledger(splits, inputs=["question"])["overlaps"]
    assert sum(overlap["shared"].values()) == 1
