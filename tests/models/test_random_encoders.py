"""The random encoders: made from a file of texts, read by the lab, named as random."""

import sys
from pathlib import Path

import pytest

import random_encoders
from attnlab.models.encoder import open_checkpoint
from small_bert import write_reviews


def test_one_folder_per_kind_that_the_lab_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_reviews(tmp_path / "reviews")
    given = [str(data / "train.csv"), str(tmp_path / "models"), "--vocab_size", "90"]
    monkeypatch.setattr(sys, "argv", ["random_encoders.py", *given])
    random_encoders.main()
    made = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in made] == ["random-roberta", "random-distilbert", "random-t5"]
    for folder in made:
        checkpoint = open_checkpoint(folder)
        tokens, _ = checkpoint.read_tokenizer().row("the food was fine", None, max_len=128)
        assert len(tokens) > 4
        assert checkpoint.tells_pairs_apart
    assert random_encoders.read_texts(data / "unlabeled.txt")
