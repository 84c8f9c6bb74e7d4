"""What a model's answers rest on is the same from any folder, and refused or said if it changed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Attnlab
from knowledge_files import PRETRAIN, TEST, TINY, TRAIN

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge import saved
from attnlab.recipes.knowledge.world import write_world
from attnlab.runs.directory import Run

pytestmark = pytest.mark.usefixtures("short_answers")

NOBODY = "Where was Nemo Nobody born?"
NAMES_ANOTHER = "import torch\n# another way to compute the same thing\n"
MINE = "from attnlab.attention.variants.dot_product import DotProduct as Mine\n"


@pytest.fixture
def known(tmp_path: Path) -> str:
    """Make a world; return a question about somebody in it."""
    write_world(WorldSettings(people=12, biographies=2, unwritten=0.1), tmp_path / "world")
    return (tmp_path / TEST).read_text(encoding="utf-8").partition("\t")[0]


def go(attnlab: Attnlab, *words: str) -> str:
    done = attnlab(*words)
    assert done.code == 0, done.err
    return done.out


def ask(attnlab: Attnlab, question: str, *more: str, run: str = "runs/read") -> dict[str, Any]:
    words = ("knowledge", "ask", run, question, "--samples", "2", "--json", *more)
    found: dict[str, Any] = json.loads(go(attnlab, *words))
    return found


def test_an_answer_does_not_depend_on_the_current_folder(
    attnlab: Attnlab, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(attnlab, *PRETRAIN, "--name", "read")
    here = [ask(attnlab, question) for question in (known, NOBODY)]
    assert here[1]["verdict"] == "made up"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run = str(tmp_path / "runs" / "read")
    assert [ask(attnlab, question, run=run) for question in (known, NOBODY)] == here


def test_the_same_command_from_another_folder_finds_the_same_run(
    attnlab: Attnlab, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known
    (tmp_path / "elsewhere").mkdir()
    go(attnlab, *PRETRAIN)
    (run,) = (tmp_path / "runs").iterdir()
    config = Run.open(run).config
    assert config["settings"]["corpus"] == str(tmp_path / "world" / "wiki.txt")
    assert config["resolved"]["data"].keys() == {"corpus", "questions", "dev", "test"}
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = [word.replace("world/", "../world/") for word in PRETRAIN]
    go(attnlab, *again, "--runs", "../runs")
    assert list((tmp_path / "runs").iterdir()) == [run]


def test_another_file_under_the_same_words_is_another_run(
    attnlab: Attnlab, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known
    go(attnlab, *PRETRAIN)
    shutil.copytree(tmp_path / "world", tmp_path / "elsewhere" / "world")
    monkeypatch.chdir(tmp_path / "elsewhere")
    go(attnlab, *PRETRAIN, "--runs", "../runs")
    assert len(list((tmp_path / "runs").iterdir())) == 2


@pytest.mark.parametrize("what", ["missing", "changed"])
def test_without_its_corpus_no_answer_is_believed(
    attnlab: Attnlab, known: str, tmp_path: Path, what: str
) -> None:
    go(attnlab, *PRETRAIN, "--name", "read")
    with_it = ask(attnlab, known)
    corpus = tmp_path / "world" / "wiki.txt"
    shutil.copy(corpus, tmp_path / "moved.txt")
    if what == "missing":
        corpus.unlink()
    else:
        corpus.write_text("Nemo Nobody. Nemo Nobody was born in Oslo.\n", encoding="utf-8")
    said = "is missing" if what == "missing" else "has changed since read was begun"
    for question in (known, NOBODY):
        told = ask(attnlab, question)
        assert told["verdict"] == "not checked"
        assert told["warnings"] == [
            f"the corpus {corpus} {said}: whether the model has read a name is not checked"
        ]
    shown = go(attnlab, "knowledge", "ask", "runs/read", NOBODY)
    assert "not checked: it would be made up if the model has read nothing about" in shown
    assert f"warning: the corpus {corpus} {said}" in shown
    assert ask(attnlab, known, "--corpus", "moved.txt") == with_it
    assert ask(attnlab, NOBODY, "--corpus", "moved.txt")["verdict"] == "made up"

    go(attnlab, "knowledge", "evaluate", "runs/read", TEST, "--name", "asked")
    asked = Run.open(Path("runs/asked"))
    assert asked.record["warnings"] == told["warnings"]
    assert all("was_read" not in row for row in asked.predictions("birth_test"))
    assert said in go(attnlab, "runs", "show", "asked")


def test_the_bug_a_corpus_that_is_gone_counts_as_none(
    attnlab: Attnlab, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert known
    go(attnlab, *PRETRAIN, "--name", "read")
    (tmp_path / "world" / "wiki.txt").unlink()
    assert ask(attnlab, NOBODY)["verdict"] == "not checked"
    monkeypatch.setattr(saved, "_read_by", lambda *_: ([], ""))
    assert ask(attnlab, NOBODY)["verdict"] == "unsure"  # and nobody would notice


def test_a_finetuned_model_has_read_what_the_run_before_it_had_read(
    attnlab: Attnlab, known: str, tmp_path: Path
) -> None:
    go(attnlab, *PRETRAIN[:3], *TINY, "--name", "pre")
    (tmp_path / "world" / "wiki.txt").rename(tmp_path / "moved.txt")
    tune = ("knowledge", "finetune", TRAIN, "--start", "pre", "--length", "2 steps")
    go(attnlab, *tune, "--set", "training.threads=1", "--name", "read")
    record = Run.open(Path("runs/read")).record
    assert record["has_read"] is True
    (warning,) = record["warnings"]
    assert "wiki.txt is missing" in warning
    assert ask(attnlab, NOBODY)["verdict"] == "not checked"
    (tmp_path / "moved.txt").rename(tmp_path / "world" / "wiki.txt")
    assert ask(attnlab, NOBODY)["verdict"] == "made up"
    assert ask(attnlab, known)["verdict"] == "unsure"
    (tmp_path / "runs" / "pre").rename(tmp_path / "runs" / "gone")
    told = ask(attnlab, NOBODY)
    assert told["verdict"] == "not checked"
    assert f"the run {tmp_path / 'runs' / 'pre'} is missing" in told["warnings"][0]


def test_rows_of_a_run_that_is_gone_are_not_taken_for_new(
    attnlab: Attnlab, known: str, tmp_path: Path
) -> None:
    assert known
    go(attnlab, *PRETRAIN, "--name", "pre")
    lines = (tmp_path / TRAIN).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "some.tsv").write_text("".join(lines[:2]), encoding="utf-8")
    (tmp_path / "rest.tsv").write_text("".join(lines[2:]), encoding="utf-8")
    tune = ("knowledge", "finetune", "some.tsv", "--start", "pre", "--length", "2 steps")
    go(attnlab, *tune, "--set", "training.threads=1", "--name", "read")
    evaluate = ("knowledge", "evaluate", "runs/read", "rest.tsv", "--samples", "0")
    n = len(lines) - 2
    told = f"rest: {n} of {n} rows were trained on: this is not a test score"
    assert told in go(attnlab, *evaluate, "--name", "before")
    shutil.rmtree(tmp_path / "runs" / "pre")
    shown = go(attnlab, *evaluate, "--name", "after")
    pre = tmp_path / "runs" / "pre"
    assert f"rest: rows that {pre} was trained on are not counted: it is gone" in shown


def test_held_out_answers_that_are_gone_are_missed(
    attnlab: Attnlab, known: str, tmp_path: Path
) -> None:
    go(attnlab, *PRETRAIN, "--held-out", "0.4", "--name", "read")
    (tmp_path / "runs" / "read" / "predictions" / "held_out.jsonl").unlink()
    done = attnlab("knowledge", "ask", "runs/read", known)
    assert done.code == 2
    assert "predictions/held_out.jsonl is missing, but manifest.json lists it" in done.err


@pytest.fixture
def changed(attnlab: Attnlab, known: str, tmp_path: Path) -> Path:
    """Train with a user's attention, then change its file."""
    assert known
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    own = ("--attention", "mine.py:Mine", "--name", "read")
    go(attnlab, *PRETRAIN, *own)
    file.write_text(MINE + NAMES_ANOTHER, encoding="utf-8")
    return file


COMMANDS = {
    "ask": ("knowledge", "ask", "runs/read", NOBODY),
    "write": ("knowledge", "write", "runs/read", "Nemo", "--tokens", "2"),
    "evaluate": ("knowledge", "evaluate", "runs/read", TEST, "--name", "next"),
    "finetune": (
        *("knowledge", "finetune", TRAIN, "--start", "read", "--name", "next"),
        *("--length", "2 steps", "--set", "training.threads=1"),
    ),
}


def test_changed_code_is_refused_or_said(attnlab: Attnlab, changed: Path, tmp_path: Path) -> None:
    told = f"{changed} has changed since read was trained with it: SHA-256 "
    for name, words in COMMANDS.items():
        done = attnlab(*words)
        assert (done.code, done.out) == (2, ""), name
        assert told in done.err, name
        assert "Restore the file, or go on" in done.err, name
        assert not (tmp_path / "runs" / "next").exists(), name
    for name, words in COMMANDS.items():
        shutil.rmtree(tmp_path / "runs" / "next", ignore_errors=True)
        done = attnlab(*words, "--accept-changed-code")
        assert done.code == 0, done.err
        assert f"warning: {told}" in done.out + done.err, name
        if (tmp_path / "runs" / "next").exists():
            run = Run.open(tmp_path / "runs" / "next")
            assert run.config["settings"]["accept_changed_code"] is True
            assert told in run.record["warnings"][0]
    line = go(attnlab, *COMMANDS["write"], "--json", "--accept-changed-code")
    assert told in json.loads(line)["warnings"][0]
    assert told in ask(attnlab, NOBODY, "--accept-changed-code")["warnings"][0]
    changed.write_text(MINE, encoding="utf-8")
    assert ask(attnlab, NOBODY)["warnings"] == []


def test_another_file_of_the_same_name_in_the_current_folder_is_not_used(
    attnlab: Attnlab, changed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed.write_text(MINE, encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.py").write_text("raise ValueError\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert ask(attnlab, NOBODY, run=str(tmp_path / "runs" / "read"))["verdict"] == "made up"
