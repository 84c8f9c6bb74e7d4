"""A file says which name stands for which path or other name."""

from pathlib import Path

import pytest

from attnlab.assets.substitutions import substitute, substituted_among, substitutions
from attnlab.errors import UserError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_paths_are_seen_from_the_file_and_names_stay(cache: Path, tmp_path: Path) -> None:
    (cache / "bert").mkdir()
    (cache / "assets.yaml").write_text(
        "bert-base-uncased: bert\ngoogle/electra.small: all-MiniLM-L6-v2\nsst2: ../sst2.tsv\n"
    )
    assert substitutions() == {
        "bert-base-uncased": str(cache / "bert"),
        "google/electra.small": "all-MiniLM-L6-v2",
        "sst2": str(tmp_path / "sst2.tsv"),
    }
    assert substituted_among(["bert-base-uncased", "other"]) == {
        "bert-base-uncased": str(cache / "bert")
    }


def test_a_chosen_file_comes_before_that_of_the_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (cache / "assets.yaml").write_text("a: b\n")
    (tmp_path / "mine.json").write_text('{"a": "c/d"}')
    monkeypatch.setenv("ATTNLAB_ASSETS", str(tmp_path / "mine.json"))
    assert substitute("a") == "c/d"
    assert substitute("b") == "b"
    told = capfd.readouterr()
    assert (told.out, told.err) == ("", f"a is substituted by c/d ({tmp_path / 'mine.json'})\n")


def test_without_a_file_nothing_is_substituted() -> None:
    assert substitutions() == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 5\n", r"assets\.yaml:1: a stands for 5\. Write a path, or the name of another"),
        ("a: b\nc: ''\n", r"assets\.yaml:2: c stands for ''"),
        ("- a\n", r"must hold `key: value` lines, not a list"),
        ("a: b\na: c\n", r"assets\.yaml:2 gives 'a' again"),
    ],
)
def test_a_file_that_says_nothing_clear_is_refused(cache: Path, content: str, message: str) -> None:
    (cache / "assets.yaml").write_text(content)
    with pytest.raises(UserError, match=message):
        substitutions()


def test_a_chosen_file_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNLAB_ASSETS", str(tmp_path / "none.yaml"))
    with pytest.raises(UserError, match=r"there is no settings file .*none\.yaml"):
        substitutions()
