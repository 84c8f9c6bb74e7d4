"""A dataset's name stands for its files."""

from pathlib import Path

import pytest

from attnlab.assets.datasets import dataset_file, get_dataset, has_split, is_name
from attnlab.errors import UserError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_name_stands_for_the_split_that_is_asked_for(cache: Path) -> None:
    boolq = cache / "data" / "boolq"
    assert dataset_file("boolq", "train") == boolq / "train.jsonl"
    assert dataset_file("boolq", "dev") == boolq / "dev.jsonl"
    assert dataset_file("boolq:dev", "test") == boolq / "dev.jsonl"
    assert (has_split("boolq", "dev"), has_split("boolq:train", "dev")) == (True, False)
    assert not has_split("rotten-tomatoes", "dev")
    with pytest.raises(UserError, match=r"imdb has no split 'test'\. Give imdb:train\."):
        dataset_file("imdb", "test")


def test_a_file_comes_before_a_name(tmp_path: Path) -> None:
    assert is_name("boolq")
    (tmp_path / "boolq").write_text("")
    assert not is_name("boolq")
    assert dataset_file("boolq", "train") == Path("boolq")
    get_dataset("boolq")


def test_a_name_may_stand_for_a_file_or_another_dataset(
    cache: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cache.mkdir()
    (tmp_path / "sst2.tsv").write_text("good\t1\n")
    (cache / "assets.yaml").write_text("sst2: ../sst2.tsv\nsuperglue: boolq:dev\n")
    assert is_name("sst2")
    assert dataset_file("sst2", "train") == tmp_path / "sst2.tsv"
    assert dataset_file("superglue", "train") == cache / "data" / "boolq" / "dev.jsonl"
    get_dataset("sst2")
    assert f"sst2 is substituted by {tmp_path / 'sst2.tsv'}" in capfd.readouterr().err


def test_what_is_neither_a_file_nor_a_name_is_refused_with_those_that_are(cache: Path) -> None:
    cache.mkdir()
    (cache / "mine.tsv").write_text("good\t1\n")
    (cache / "assets.yaml").write_text("mine: mine.tsv\n")
    with pytest.raises(
        UserError,
        match=r"there is no file bolq\. Did you mean 'boolq'\? Datasets here: mine; from the"
        r" package index: rotten-tomatoes, imdb, boolq\.$",
    ):
        get_dataset("bolq")
