"""Lists of models: the course's own where they can be had, else what is here, and told so."""

from pathlib import Path

import pytest

from attnlab.assets import model_lists
from attnlab.assets.model_lists import LISTS, named_models
from attnlab.errors import DamagedFileError, UserError
from attnlab.recipes.classify.settings import CompareSettings
from attnlab.runs.references import absolute_settings

COURSE = LISTS["boolq-course"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the hub be out of reach; return what it is asked for."""
    names: list[str] = []

    def find(name: str) -> Path:
        names.append(name)
        raise UserError("no network")

    monkeypatch.setattr(model_lists, "find_model", find)
    monkeypatch.setattr(model_lists, "_told", set())
    return names


def test_with_the_hub_the_list_is_the_assignment_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_lists, "find_model", Path)
    assert tuple(named_models("boolq-course")) == COURSE
    assert named_models("t5-small") == ["t5-small"]


def test_without_the_hub_what_is_here_stands_in_and_the_user_is_told(
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "random-t5").mkdir()
    assets = tmp_path / "assets.yaml"
    assets.write_text("distilbert-base-uncased: all-MiniLM-L6-v2\nrandom-t5: random-t5\n")
    monkeypatch.setenv("ATTNLAB_ASSETS", str(assets))
    expected = ["distilbert-base-uncased", "random-t5"]
    assert named_models("boolq-course") == expected, "MiniLM is there under another name"
    assert asked == ["bert-base-uncased"], "a hub out of reach is asked once"
    assert capsys.readouterr().err == (
        f"boolq-course: {', '.join(COURSE[1:])} cannot be had here. Compared instead:"
        " distilbert-base-uncased, random-t5.\n"
    )
    settings = CompareSettings(("boolq-course", "t5-small"))
    assert absolute_settings(settings, tmp_path).models == (*expected, "t5-small")
    assert capsys.readouterr().err == "", "once is enough"


def test_a_damaged_model_is_not_replaced_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(name: str) -> Path:
        raise DamagedFileError(f"{name} is damaged")

    monkeypatch.setattr(model_lists, "find_model", damaged)
    with pytest.raises(DamagedFileError, match="distilbert-base-uncased is damaged"):
        named_models("boolq-course")
