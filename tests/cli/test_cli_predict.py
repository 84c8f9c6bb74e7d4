"""``attnlab classify predict``: files, texts on the command line, and standard input."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Attnlab, flowing

from attnlab.runs.directory import Run
from small_bert import TELLING, write_reviews, write_small_bert

pytestmark = pytest.mark.precision

TINY = ["--model", "bert", "--max-len", "16", "--length", "2 steps", "--batch-size", "20"]
PREDICT = ["classify", "predict"]


@pytest.fixture(autouse=True)
def trained(attnlab: Attnlab, tmp_path: Path) -> None:
    """Leave one classifier of texts in runs/c."""
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")
    done = attnlab("classify", "train", "reviews/train.csv", *TINY, "--name", "c")
    assert done.code == 0, done.err


@pytest.fixture
def pairs(attnlab: Attnlab) -> None:
    """Leave one of pairs in runs/p."""
    rows = (f"the food {word}\tthe place {word}\t{stars}\n" for stars, word in TELLING.items())
    Path("pairs.tsv").write_text("".join(rows))
    done = attnlab("classify", "train", "pairs.tsv", *TINY, "--name", "p")
    assert done.code == 0, done.err


def asked(attnlab: Attnlab, *words: str) -> list[dict[str, Any]]:
    done = attnlab(*PREDICT, *words, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_table_has_one_probability_per_class(attnlab: Attnlab) -> None:
    done = attnlab(*PREDICT, "c", "reviews/test.csv", "--outputs", "told.csv", "--name", "t")
    assert done.code == 0, done.err
    assert "3 of 25 shown" in done.out
    with Path("told.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    stored = Run.open(Path("runs/t")).predictions("test")
    assert list(rows[0]) == ["text", "label", *(f"probability_{stars}" for stars in "12345")]
    assert [row["label"] for row in rows] == [row["prediction"] for row in stored]
    for row in rows:
        likely = {stars: float(row[f"probability_{stars}"]) for stars in "12345"}
        assert sum(likely.values()) == pytest.approx(1)
        assert max(likely, key=likely.__getitem__) == row["label"]


def test_texts_are_classified_as_in_a_file_and_leave_no_run(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("new.tsv").write_text("the food superb\nthe place awful\n")
    attnlab(*PREDICT, "c", "new.tsv", "--name", "t")
    stored = [row["probabilities"] for row in Run.open(Path("runs/t")).predictions("new")]
    there = sorted(Path("runs").iterdir())
    typed = asked(attnlab, "c", "--text", "the food superb", "--text", "the place awful")
    assert [row["text"] for row in typed] == ["the food superb", "the place awful"]
    for row, expected in zip(typed, stored, strict=True):
        assert row["probabilities"] == pytest.approx(expected, abs=1e-6)
    type_in(monkeypatch, "the food superb\n\nthe place awful\n")
    assert asked(attnlab, "c", "-", "--outputs", "told.jsonl") == typed
    assert [json.loads(line) for line in Path("told.jsonl").read_text().splitlines()] == typed
    done = attnlab(*PREDICT, "c", "--text", "the food superb")
    assert done.out.split()[:3] == ["text", "label", "confidence"]
    assert f"the food superb {typed[0]['label']}" in flowing(done.out)
    assert sorted(Path("runs").iterdir()) == there


@pytest.mark.usefixtures("pairs")
def test_pairs_are_typed_or_piped_with_a_tab(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = asked(attnlab, "p", "--text", "the food", "--pair", "the place awful")
    assert (typed[0]["text"], typed[0]["pair"]) == ("the food", "the place awful")
    type_in(monkeypatch, "the food\tthe place awful\n")
    assert asked(attnlab, "p", "-") == typed
    type_in(monkeypatch, "the food\n")
    done = attnlab(*PREDICT, "p", "-")
    assert done.code == 2
    assert "standard input, line 1: p classifies pairs of texts: put a tab" in flowing(done.err)
    done = attnlab(*PREDICT, "p", "--text", "the food")
    assert "give one --pair for each --text, not 0 for 1" in flowing(done.err)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a file of texts to classify, --text TEXT, or - for standard input"),
        (["new.csv", "--text", "a"], "/new.csv exclude each other"),
        (["new.csv", "--json"], "--json needs --text TEXT, or - for standard input"),
        (["--pair", "a"], "--pair needs --text TEXT"),
        (["-", "--pair", "a"], "--pair goes with --text"),
        (["-"], "there is no text on standard input"),
        (["--text", " "], "--text 1: the text is empty"),
        (["--text", "a", "--pair", "b"], "c classifies single texts: leave out --pair"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    type_in(monkeypatch, "\n")
    done = attnlab(*PREDICT, "c", *words)
    assert done.code == 2
    assert message in flowing(done.err)
    assert [path.name for path in Path("runs").iterdir()] == ["c"]
