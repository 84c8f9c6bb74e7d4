"""Files that settings name are found from any folder; names of datasets, models and parts stay."""

from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import (
    ClassifySettings,
    LabelBudgetSettings,
    MaskedSettings,
    PredictSettings,
)
from attnlab.recipes.knowledge.settings import EvaluateSettings, PretrainSettings
from attnlab.runs.folders import refuse_other_settings
from attnlab.runs.references import absolute_path, absolute_settings


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_files_become_absolute_and_what_is_not_given_stays_so(tmp_path: Path) -> None:
    given = PretrainSettings(corpus="x/../wiki.txt", dev="~nobody-here/dev.tsv")
    found = absolute_settings(given, Path("runs"))
    assert found.corpus == str(tmp_path / "wiki.txt")
    assert found.dev == str(tmp_path / "~nobody-here" / "dev.tsv")
    assert found.questions == ""
    assert absolute_settings(found, Path("elsewhere")) == found


def test_names_of_datasets_and_models_are_not_paths(tmp_path: Path) -> None:
    names = ("rotten-tomatoes", "boolq:dev", "boolq:no-split", "-")
    for name in names:
        assert absolute_settings(PredictSettings(texts=name), Path("runs")).texts == name
    assert absolute_settings(ClassifySettings(), Path("runs")) == ClassifySettings()
    for name in ("bert-base-uncased", "google/bert_uncased_L-2_H-128_A-2"):
        assert absolute_settings(ClassifySettings(model=name), Path("runs")).model == name
    (tmp_path / "bert").mkdir()
    found = absolute_settings(ClassifySettings(model="bert", train="rotten.csv"), Path("runs"))
    assert found.model == str(tmp_path / "bert")
    assert found.train == str(tmp_path / "rotten.csv")
    for gone in ("./gone", "a/b/c", "/gone"):
        assert Path(absolute_settings(replace(found, model=gone), Path("runs")).model).is_absolute()


def test_a_name_that_stands_for_a_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assets.yaml").write_text("mine: data/train.csv\n'my model': models/bert\n")
    monkeypatch.setenv("ATTNLAB_ASSETS", str(tmp_path / "assets.yaml"))
    settings = ClassifySettings(train="mine", model="my model")
    assert absolute_settings(settings, Path("runs")) == settings


def test_sections_and_a_users_own_parts_are_found_too(tmp_path: Path) -> None:
    base = ClassifySettings(train="a.csv", masked=MaskedSettings(text="b.txt"))
    found = absolute_settings(LabelBudgetSettings(base=base), Path("runs"))
    assert found.base.masked.text == str(tmp_path / "b.txt")
    options = {"score": "mine.py:score", "scale": 2, "kind": "dot"}
    attention = AttentionSettings("custom", options, "../places.py:Mine")
    found_attention = absolute_settings(attention, Path("runs"))
    assert found_attention.options == {**options, "score": f"{tmp_path / 'mine.py'}:score"}
    assert found_attention.positions == f"{tmp_path.parent / 'places.py'}:Mine"
    assert found_attention.name == "custom"


def test_a_link_keeps_the_name_that_says_its_format(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("1,good\n")
    (tmp_path / "train.csv").symlink_to("blob")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert absolute_path("train.csv") == str(tmp_path / "train.csv")
    assert absolute_path("link/dev.csv") == str(tmp_path / "folder" / "dev.csv")


def test_a_file_of_weights_is_found_like_other_files(tmp_path: Path) -> None:
    (tmp_path / "old.params").write_bytes(b"")
    found = absolute_settings(EvaluateSettings(run="old.params"), Path("runs"))
    assert found.run == str(tmp_path / "old.params")


def test_a_model_folder_that_is_gone_is_still_the_one_of_the_run(tmp_path: Path) -> None:
    there = {"settings": {"model": str(tmp_path / "bert"), "seed": 1}}
    refuse_other_settings("run x", there, {"settings": {"model": "bert", "seed": 1}})
    with pytest.raises(UserError, match=r"model: .*'other' now"):
        refuse_other_settings("run x", there, {"settings": {"model": "other", "seed": 1}})
