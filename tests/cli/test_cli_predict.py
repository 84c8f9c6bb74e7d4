"""``attnlab classify predict``: files, texts on the command line, and standard input."""

import csv
import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import Attnlab, flowing

from attnlab.runs.directory import Run
from commands_here import attnlab_in
from small_bert import TELLING, write_reviews, write_small_bert

pytestmark = pytest.mark.precision

TINY = ["--model", "bert", "--max-len", "16", "--length", "2 steps", "--batch-size", "20"]
PREDICT = ["classify", "predict"]
RUNS = ["c", "p"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train once: a classifier of texts in runs/c, and one of pairs in runs/p."""
    folder = tmp_path_factory.mktemp("lab")
    write_small_bert(folder / "bert")
    write_reviews(folder / "reviews")
    rows = (f"the food {word}\tthe place {word}\t{stars}\n" for stars, word in TELLING.items())
    (folder / "pairs.tsv").write_text("".join(rows))
    for train, name in (("reviews/train.csv", "c"), ("pairs.tsv", "p")):
        done = attnlab_in(folder, "classify", "train", train, *TINY, "--name", name)
        assert done.code == 0, done.err
    return folder


@pytest.fixture(autouse=True)
def trained(lab: Path, tmp_path: Path) -> None:
    """Give each test its own copy."""
    shutil.copytree(lab, tmp_path, dirs_exist_ok=True)


def asked(attnlab: Attnlab, *words: str) -> list[dict[str, Any]]:
    done = attnlab(*PREDICT, *words, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def type_in(monkeypatch: pytest.MonkeyPatch, text: str | bytes) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


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
    assert "line 1: p classifies pairs of texts, but the line has 0 tabs. Put one" in flowing(
        done.err
    )
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
    assert sorted(path.name for path in Path("runs").iterdir()) == RUNS


STRANGE = [
    "NA",
    "so 👩‍👩‍👧 good",
    "מסעדה \u200fشكرا",
    "cafe\u0301",
    " two  spaces ",
    "a\u2028b",
    "x " * 500_000,
]
"""Texts that come back as they were given; the last is 1 MB."""


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("run", RUNS)
def test_every_row_of_a_file_comes_back_as_it_was(attnlab: Attnlab, run: str, suffix: str) -> None:
    keys = ("text", "pair") if run == "p" else ("text",)
    rows = [dict.fromkeys(keys, text) for text in STRANGE]
    write_rows(Path(f"new{suffix}"), rows)
    done = attnlab(*PREDICT, run, f"new{suffix}", "--outputs", "told.jsonl", "--name", "t")
    assert done.code == 0, done.err
    told = [json.loads(line) for line in Path("told.jsonl").read_bytes().splitlines()]
    assert [row["text"] for row in told] == ["\n".join(row.values()) for row in rows]
    assert len(Run.open(Path("runs/t")).predictions("new")) == len(rows)


def write_rows(path: Path, rows: Sequence[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            separator = "," if path.suffix == ".csv" else "\t"
            file.writelines(
                separator.join(row) + "\n" for row in [list(rows[0]), *map(dict.values, rows)]
            )


@pytest.mark.parametrize(
    ("run", "name", "content", "message"),
    [
        ("c", "new.csv", b"label,text\n1,good\n6,bad\nx,dull\n", "new.csv, line 3: the label '6' is"
         " not one of the 5 classes: 1, 2, 3, 4, 5. Correct it, or train on a file that has this"
         " class. 1 more of 3 records cannot be used: line 4 (the label 'x' is not one of the 5"
         " classes)."),
        ("p", "new.tsv", b"a\tb\t1\na\t\t1\nc\t1\n", "new.tsv, line 2: the pair is missing, but"
         " that of line 1 is 'b'. Give every example a pair, or none. 1 more of 3 records cannot be"
         " used: line 3 ('c, 1' has 2 columns; expected 3 columns: text, pair, label)."),
        ("p", "new.jsonl", b'{"question": "a", "passage": "b"}\n{"question": "c\xe9"}\n',
         "new.jsonl, line 2: byte 0xe9 at offset 49 is not valid UTF-8"),
        ("c", "-", b"good\ncaf\xe9 bad\n", "standard input, line 2: byte 0xe9 at offset 8 is not"),
        ("c", "-", "good\n".encode("utf-16"), "standard input, line 1: the bytes ff fe at offset"),
        ("c", "-", b"good\nb\0ad\n", "standard input, line 2: there is a NUL byte at offset 6"),
        ("p", "-", b"a\tb\n\t\na\tb\tc\n", "standard input, line 2: the text is empty. 1 more of 3"
         " records cannot be used: line 3 (p classifies pairs of texts, but the line has 2 tabs)."),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 10 else "",
)  # fmt: skip
def test_bad_rows_are_named_and_nothing_is_answered(
    attnlab: Attnlab,
    monkeypatch: pytest.MonkeyPatch,
    run: str,
    name: str,
    content: bytes,
    message: str,
) -> None:
    if name == "-":
        type_in(monkeypatch, content)
    else:
        Path(name).write_bytes(content)
    done = attnlab(*PREDICT, run, name, "--outputs", "told.jsonl")
    assert (done.code, done.out) == (2, "")
    assert message in flowing(done.err)
    assert not Path("told.jsonl").exists()
    assert sorted(path.name for path in Path("runs").iterdir()) == RUNS
