"""Any bytes as any input file."""

from pathlib import Path

import pytest
from harness import Hostile
from hostile_values import BYTES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

READERS = {
    "corpus.txt": "knowledge pretrain corpus.txt --length x",
    "questions.tsv": "knowledge finetune questions.tsv --length x",
    "train.csv": "classify train train.csv --model none",
    "train.tsv": "classify train train.tsv --model none",
    "train.jsonl": "classify train train.jsonl --model none",
    "keys.csv": "attention solve select --keys keys.csv",
    "keys.json": "attention solve select --keys keys.json",
    "keys.npy": "attention solve select --keys keys.npy",
    "settings.yaml": "run classify-train --config settings.yaml",
    "mine.py": "attention check mine.py",
    "mine.ipynb": "attention check mine.ipynb",
    "model.params": "knowledge write model.params prompt --corpus corpus.txt",
    "bert/config.json": "classify train good.csv --model bert",
    "bert/vocab.txt": "classify train good.csv --model bert",
    "runs/one/config.json": "runs show one",
    "assets.yaml": "assets list",
}
APART = ("mine.py", "mine.ipynb")
"""Read by a process of its own, which loads torch."""
APART_BYTES = ("code",)
FEWER = 5
"""The quick test takes every fifth kind of bytes."""
CONFIG = '{"model_type": "bert", "vocab_size": 5, "hidden_size": 4}'


def prepare(name: str, content: bytes) -> list[str]:
    """Write the file among good ones; return the command that reads it."""
    for folder in ("bert", "runs/one"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    Path("corpus.txt").write_text("Ada Lund was born in Oslo.\n")
    Path("good.csv").write_text("1,bad\n2,good\n")
    Path("bert/config.json").write_text(CONFIG)
    Path("bert/vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    Path(name).write_bytes(content)
    return READERS[name].split()


@pytest.mark.parametrize("name", READERS)
def test_hostile_bytes(hostile: Hostile, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file gets other bytes; all of them in the slow test."""
    if name == "assets.yaml":
        monkeypatch.setenv("ATTNLAB_ASSETS", name)
    some = list(BYTES)[list(READERS).index(name) % FEWER :: FEWER]
    for kind in APART_BYTES if name in APART else some:
        hostile(*prepare(name, BYTES[kind]))


@pytest.mark.slow
@pytest.mark.usefixtures("checks_here")
@pytest.mark.parametrize("name", READERS)
def test_all_hostile_bytes(hostile: Hostile, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "assets.yaml":
        monkeypatch.setenv("ATTNLAB_ASSETS", name)
    for content in BYTES.values():
        hostile(*prepare(name, content))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READERS if name not in APART])
@given(content=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes(hostile: Hostile, name: str, content: bytes) -> None:
    hostile(*prepare(name, content))
