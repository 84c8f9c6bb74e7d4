"""Fine-tuning a model of transformers: it learns, resumes, predicts, and refuses what it must."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.errors import StoppedError, UserError
from attnlab.models.encoder import open_checkpoint
from attnlab.models.hub_classifier import FAMILIES
from attnlab.recipes.classify.settings import ClassifySettings, MaskedSettings, PredictSettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.training import loop
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from small_bert import write_reviews
from small_hub import write_small_hub

pytestmark = pytest.mark.precision

QUIET = Console(quiet=True)
TRAINING = TrainingSettings(
    length="10 steps", optimizer=OptimizerSettings("adamw", lr=5e-3), evaluate_every=5, threads=1
)


def settings_of(kind: str, folder: Path, *, rows: int = 40, **model: float) -> ClassifySettings:
    data = write_reviews(folder / "reviews", train=rows, dev=rows // 2)
    return ClassifySettings(
        model=str(write_small_hub(folder / "model", kind, **({"dropout": 0.1} | model))),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        max_len=24,
        batch_size=20,
        training=TRAINING,
    )


def trained(settings: ClassifySettings, folder: Path, name: str) -> Run:
    return find_job("classify-train").run(settings, place=RunPlace(folder, name), console=QUIET)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_stopped_run_goes_on_to_the_same_weights_and_predicts_what_it_predicted(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(kind, tmp_path)
    whole = trained(settings, tmp_path, "whole")
    original = loop.Training.finish_step

    def interrupted(self: loop.Training, step: int, result: object, began: float) -> None:
        stop = result._replace(stop_signal=2) if step == 7 else result  # type: ignore[attr-defined]
        original(self, step, stop, began)  # type: ignore[arg-type]

    monkeypatch.setattr(loop.Training, "finish_step", interrupted)
    with pytest.raises(StoppedError, match="stopped after step 7"):
        trained(settings, tmp_path, "cut")
    monkeypatch.undo()
    cut = trained(settings, tmp_path, "cut")
    first, second = (open_checkpoint(run.path / "model").tensors for run in (whole, cut))  # type: ignore[attr-defined]
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert whole.predictions("dev") == cut.predictions("dev")
    asked = find_job("classify-predict").run(
        PredictSettings(run=str(whole.path), texts=settings.dev),
        place=RunPlace(tmp_path, "asked"),
        console=QUIET,
    )
    learned = {row["input"]: row["prediction"] for row in whole.predictions("dev")}
    assert {row["input"]: row["prediction"] for row in asked.predictions("dev")} == learned


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_it_learns_the_word_that_tells(kind: str, tmp_path: Path) -> None:
    """Twelve numbers a token start too close together with the usual 0.02, and may never part."""
    settings = settings_of(kind, tmp_path, rows=200, dropout=0.0, initializer_range=0.3)
    longer = replace(TRAINING, length="150 steps", evaluate_every=25)
    run = trained(replace(settings, training=longer), tmp_path, "run")
    score = run.record["scores"]["dev"]
    assert score["interval"][0] > 0.5 > score["baseline"]["value"] == 0.2


def test_masked_text_and_rows_that_are_too_long_are_refused_before_step_1(tmp_path: Path) -> None:
    settings = settings_of("roberta", tmp_path)
    text = MaskedSettings(text=str(tmp_path / "reviews" / "unlabeled.txt"), block=16)
    with pytest.raises(UserError, match="masked text is learned alongside by BERT only"):
        trained(replace(settings, masked=text), tmp_path, "masked")
    with pytest.raises(UserError, match="max_len = 33 is more than the 32 positions"):
        trained(replace(settings, max_len=33), tmp_path, "long")
    assert not (tmp_path / "long").exists()


def test_resuming_with_another_tokenizer_is_refused(tmp_path: Path) -> None:
    settings = settings_of("distilbert", tmp_path)
    run = trained(settings, tmp_path, "run")
    file = Path(settings.model) / "tokenizer.json"
    file.write_text(file.read_text().replace("service", "SERVICE"))
    (run.path / "record.json").unlink()
    with pytest.raises(UserError, match=r"the model .* has changed since run was begun"):
        trained(settings, tmp_path, "run")
