"""Answers in a user's file: tables and plain lines."""

import csv
import json
from pathlib import Path

from attnlab.runs.answers_file import write_answers
from attnlab.runs.predictions import prediction_row

TEXT = 'fine, "really"\nfine'
LABELLED = [
    prediction_row(
        f"new.csv:{i}",
        TEXT,
        gold=None,
        prediction=label,
        confidence=0.75,
        probabilities={"good": 0.75, "not so\ngood": 0.25},
    )
    for i, label in enumerate(("good", "not so\ngood"), 1)
]
ANSWERED = [prediction_row("q", "Where?", gold="Oslo", prediction="Lima", confidence=0.5)]


def test_a_csv_has_text_label_and_one_probability_per_class(tmp_path: Path) -> None:
    write_answers(LABELLED, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == ["text", "label", "probability_good", "probability_not so\ngood"]
    assert first["text"] == TEXT
    assert (second["label"], second["probability_good"]) == ("not so\ngood", "0.75")


def test_json_lines_have_the_same(tmp_path: Path) -> None:
    write_answers(LABELLED, tmp_path / "a.JSONL")
    lines = (tmp_path / "a.JSONL").read_text().splitlines()
    assert [json.loads(line)["label"] for line in lines] == ["good", "not so\ngood"]
    assert json.loads(lines[0])["probabilities"] == {"good": 0.75, "not so\ngood": 0.25}


def test_any_other_file_has_one_answer_per_line(tmp_path: Path) -> None:
    write_answers(LABELLED, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "good\nnot so good\n"


def test_an_answer_without_classes_comes_with_its_confidence(tmp_path: Path) -> None:
    write_answers(ANSWERED, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "text,answer,confidence\nWhere?,Lima,0.5\n"
