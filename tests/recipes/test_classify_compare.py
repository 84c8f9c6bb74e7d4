"""Comparing models and methods: each at what dev chose for it, test read once by each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.errors import UserError
from attnlab.recipes.classify.compare import plan
from attnlab.recipes.classify.settings import GRID_TRAINING, ClassifySettings, CompareSettings
from attnlab.recipes.jobs import find_job
from attnlab.recipes.studies import Finished
from attnlab.report.document import Figure, Table
from attnlab.report.sections.contestants import CONTESTANTS
from attnlab.runs.directory import RunPlace
from attnlab.runs.references import absolute_settings
from attnlab.runs.study import Study
from small_bert import write_reviews, write_small_bert

QUIET = Console(quiet=True)


@pytest.fixture
def settings(tmp_path: Path) -> CompareSettings:
    models = (write_small_bert(tmp_path / "deep"), write_small_bert(tmp_path / "flat", n_layers=1))
    data = write_reviews(tmp_path / "reviews")
    base = ClassifySettings(
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        test=str(data / "test.csv"),
        max_len=16,
        batch_size=20,
        training=replace(GRID_TRAINING, threads=1),
    )
    return CompareSettings(tuple(map(str, models)), lrs=(1e-6, 1e-2), epochs=(2,), base=base)


def compared(settings: CompareSettings, folder: Path) -> Study:
    place = RunPlace(folder / "runs", "study")
    study: Study = find_job("classify-compare").run(settings, place=place, console=QUIET)
    return study


def test_each_model_is_compared_at_its_own_selection(
    settings: CompareSettings, tmp_path: Path
) -> None:
    study = compared(settings, tmp_path)
    assert list(study.runs) == ["deep-chosen", "flat-chosen"]
    assert [cell["name"] for cell in study.cells] == [
        *("deep-lr-1e-6-seed-0", "deep-lr-1e-2-seed-0", "deep-chosen"),
        *("flat-lr-1e-6-seed-0", "flat-lr-1e-2-seed-0", "flat-chosen"),
    ]
    for run, model in zip(study.opened(), ("deep", "flat"), strict=True):
        assert Path(run.setting("model")).name == model
        cells = [f"{model}-lr-{lr}-seed-0" for lr in ("1e-6", "1e-2")]
        dev = {name: _dev(study, name) for name in cells}
        assert _dev(study, run.name) == max(dev.values())
        assert run.record["test"] == "evaluated once"
    assert study.notes == ["Each was run at its own learning rate, which dev chose."]
    blocks = list(CONTESTANTS.summary(study.opened()))
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert [row[0] for row in table.rows] == ["deep-chosen", "flat-chosen"]
    assert [b.name for b in blocks if isinstance(b, Figure)] == ["scores-test", "scores-dev"]


def _dev(study: Study, name: str) -> float:
    run = next(run for run in study.begun() if run.name == name)
    return float(run.record["scores"]["dev"]["value"])


def planned(settings: CompareSettings) -> list[str]:
    return [cell.name for cell in plan(settings, Finished(Path("/study"), {}))]


def test_methods_and_optimizers_are_contestants_too(settings: CompareSettings) -> None:
    one = replace(settings, models=settings.models[:1], lrs=(1e-2,))
    assert planned(replace(one, tunings=("full", "head"), optimizers=("adamw", "sgd"))) == [
        f"deep-{method}-{optimizer}-seed-0"
        for method in ("full", "head")
        for optimizer in ("adamw", "sgd")
    ]


def test_models_are_found_from_any_folder(
    settings: CompareSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    near = absolute_settings(replace(settings, models=("deep", "./flat")), tmp_path)
    assert near.models == settings.models
    assert absolute_settings(CompareSettings(), tmp_path).models == CompareSettings().models


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"models": "first"}, "there is nothing to do: give several --models"),
    ({"models": "twice"}, "would have the same name: give every model and method once"),
    ({"tunings": ("lara", "full")}, "'lara'"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=str)
def test_a_comparison_that_cannot_be_finished_is_not_begun(
    settings: CompareSettings, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    which = {"first": settings.models[:1], "twice": settings.models[:1] * 2}
    changes = {
        key: which.get(value, value) if key == "models" else value for key, value in changes.items()
    }
    with pytest.raises(UserError, match=message):
        compared(replace(settings, **changes), tmp_path)
    assert not (tmp_path / "runs" / "study").exists()
