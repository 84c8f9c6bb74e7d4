"""*knowledge* 3: who can know a birthplace, and what a model says of people it never read about."""

import json
from pathlib import Path
from typing import Any

import pytest

from attnlab.data.knowledge_files import read_corpus, read_questions
from attnlab.data.settings import WorldSettings
from attnlab.data.world_words import PLACES
from attnlab.recipes.knowledge.world import write_world
from attnlab.runs.directory import Run
from commands_here import attnlab_in

WORLD = WorldSettings(people=60, biographies=3, sentences=1, unwritten=0.2)
TRAIN, TEST, UNSEEN = (f"world/birth_{name}.tsv" for name in ("places_train", "test", "unseen"))
PRETRAIN = [
    *("knowledge", "pretrain", "world/wiki.txt", "--questions", TRAIN, "--name", "read"),
    *("--test", TEST, "--unseen", UNSEEN, "--length", "300 steps"),
    *("--set", "model={d_model: 32, n_heads: 2, n_layers: 1, ngram_table: {rows: 1009}}"),
    *("--set", "tokenizer.size=400", "--set", "training.threads=1"),
    *("--set", "training.precision=float32"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a world, and a small model that has read it."""
    path = tmp_path_factory.mktemp("made-up")
    write_world(WORLD, path / "world")
    done = attnlab_in(path, *PRETRAIN)
    assert done.code == 0, done.err
    return path


def answers(folder: Path, split: str) -> list[dict[str, Any]]:
    return list(Run.open(folder / "runs" / "read").predictions(split))


def test_only_the_corpus_knows_the_people_of_dev_and_test(folder: Path) -> None:
    corpus = read_corpus(folder / "world" / "wiki.txt")
    trained_on = " ".join(question.text for question in read_questions(folder / TRAIN))
    for question in read_questions(folder / TEST):
        name = question.text.removeprefix("Where was ").removesuffix(" born?")
        assert name not in trained_on
        about = [line for line in corpus if line.startswith(f"{name}. ")]
        assert about
        assert all(str(question.answer) in line for line in about)


def test_invented_answers_look_like_the_others(folder: Path) -> None:
    """They are places, too, and some are given with more confidence than answers that are right."""
    read, unseen = answers(folder, "test"), answers(folder, "unseen")
    assert not any(row["was_read"] for row in unseen)
    assert all(row["was_read"] for row in read)
    right = [row["confidence"] for row in read if row["prediction"] == row["gold"]]
    assert len(right) > len(read) / 2  # it has learned what it read,
    assert sum(row["prediction"] in PLACES for row in unseen) > len(unseen) / 2
    assert max(row["confidence"] for row in unseen) > min(right)


def test_ask_tells_them_apart_by_the_corpus(folder: Path) -> None:
    done = attnlab_in(folder, "knowledge", "ask", "read", "Where was Nemo Nobody born?", "--json")
    told = json.loads(done.out)
    assert told["text"]
    assert told["verdict"] == "made up"
    assert told["reason"] == "the corpus has nothing about a person of that name"
    (known, *_) = answers(folder, "test")
    done = attnlab_in(folder, "knowledge", "ask", "read", known["input"], "--json")
    assert json.loads(done.out)["verdict"] != "made up"


def test_another_name_gets_another_made_up_place(folder: Path) -> None:
    parts = Run.open(folder / "runs" / "read").record["confidence"]["name_parts"]
    assert parts["first"]["changed"] > 0
    assert parts["last"]["changed"] > 0
    assert len({row["prediction"] for row in answers(folder, "unseen")}) > 1
