"""Every tuning method as a run: it is counted, resumes bit for bit, and predicts what it did."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.assets.tensors import read_tensors
from attnlab.errors import DamagedFileError, RunError, StoppedError, UserError
from attnlab.models.bert_format import read_bert
from attnlab.recipes.classify.settings import ClassifySettings, MaskedSettings, PredictSettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.training import loop
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from attnlab.tuning import TUNING
from attnlab.tuning.settings import TuningSettings
from small_bert import write_reviews, write_small_bert

pytestmark = pytest.mark.precision

QUIET = Console(quiet=True)
TRAINING = TrainingSettings(
    length="12 steps", optimizer=OptimizerSettings("adamw", lr=5e-2), evaluate_every=6, threads=1
)
D, L, CLASSES = 24, 2, 5
COUNTS = {
    "head": CLASSES * D + CLASSES,
    "lora": 4 * L * 8 * D + CLASSES * D + CLASSES,
    "prompt": 16 * D + CLASSES * D + CLASSES,
    "prefix": 2 * L * 16 * D + CLASSES * D + CLASSES,
}


@pytest.fixture
def settings(tmp_path: Path) -> ClassifySettings:
    model = write_small_bert(tmp_path / "bert", dropout=0.1, attention_dropout=0.1)
    data = write_reviews(tmp_path / "reviews", train=40, dev=20)
    return ClassifySettings(
        model=str(model),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        max_len=16,
        batch_size=20,
        training=TRAINING,
    )


def trained(settings: ClassifySettings, folder: Path, name: str = "run") -> Run:
    return find_job("classify-train").run(settings, place=RunPlace(folder, name), console=QUIET)


def weights(run: Run) -> dict[str, torch.Tensor]:
    return {
        f"{file.name}/{name}": value
        for file in (run.path / "model").glob("*.safetensors")
        for name, value in read_tensors(file).items()
    }


@pytest.mark.parametrize("method", TUNING.names())
def test_a_stopped_run_goes_on_to_the_same_weights_and_its_predictions_are_repeated(
    method: str, settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(settings, tuning=TuningSettings(method))
    whole = trained(settings, tmp_path, "whole")
    original = loop.Training.finish_step

    def interrupted(self: loop.Training, step: int, result: object, began: float) -> None:
        stop = result._replace(stop_signal=2) if step == 8 else result  # type: ignore[attr-defined]
        original(self, step, stop, began)  # type: ignore[arg-type]

    monkeypatch.setattr(loop.Training, "finish_step", interrupted)
    with pytest.raises(StoppedError, match="stopped after step 8"):
        trained(settings, tmp_path, "cut")
    monkeypatch.undo()
    cut = trained(settings, tmp_path, "cut")
    first, second = weights(whole), weights(cut)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert whole.predictions("dev") == cut.predictions("dev")
    assert whole.record["tuning"] == method
    assert whole.record["n_trainable"] == COUNTS.get(method, whole.record["n_trainable"])
    asked = find_job("classify-predict").run(
        PredictSettings(run=str(whole.path), texts=settings.dev),
        place=RunPlace(tmp_path, "asked"),
        console=QUIET,
    )
    for before, after in zip(whole.predictions("dev"), asked.predictions("dev"), strict=True):
        assert after["prediction"] == before["prediction"]
        assert after["confidence"] == pytest.approx(before["confidence"], abs=2e-2)


@pytest.mark.parametrize("method", [name for name in TUNING.names() if name != "full"])
def test_what_a_method_freezes_is_written_as_it_was_read(
    method: str, settings: ClassifySettings, tmp_path: Path
) -> None:
    tuning = TuningSettings(method, merge=False)
    run = trained(replace(settings, tuning=tuning), tmp_path)
    before, after = read_bert(Path(settings.model)), read_bert(run.path / "model")
    moved = {
        name
        for name, value in before.tensors.items()
        if name in after.tensors and not torch.equal(value, after.tensors[name])
    }
    may_move = {"bitfit": ("bias",), "projections": ("query", "key")}.get(method, ())
    assert all(any(part in name for part in may_move) for name in moved)
    assert bool(moved) == bool(may_move)
    has_file = (run.path / "model" / "tuning.safetensors").is_file()
    assert has_file == (method in ("lora", "ia3", "prompt", "prefix"))


def test_what_is_trained_is_said_of_the_whole_model(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    """Not of the one whose table has lost the rows that no text needs."""
    console = Console(record=True, width=200, file=io.StringIO())
    settings = replace(settings, tuning=TuningSettings("head"), labels=5)
    find_job("classify-train").run(settings, place=RunPlace(tmp_path, "run"), console=console)
    body = sum(value.numel() for n, value in read_bert(Path(settings.model)).tensors.items()
               if n.startswith("body."))  # fmt: skip
    total = body + CLASSES * D + CLASSES
    assert f"5·d + 5 = 125 of {total:,} parameters are trained" in console.export_text()


def test_what_cannot_be_tuned_is_refused_before_step_1(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"no tuning method is called 'lore'\. Did you mean 'lora'"):
        trained(replace(settings, tuning=TuningSettings("lore")), tmp_path, "lore")
    text = MaskedSettings(text=str(tmp_path / "reviews" / "unlabeled.txt"), block=16)
    with pytest.raises(UserError, match="masked language modelling could teach it nothing"):
        trained(replace(settings, masked=text, tuning=TuningSettings("head")), tmp_path, "head")
    assert not (tmp_path / "lore").exists()


def test_a_frozen_weight_that_moves_ends_the_run(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a step that pulls on every parameter, as weight decay over all of them would."""
    original = loop.Training.finish_step

    def decaying(self: loop.Training, step: int, result: object, began: float) -> None:
        with torch.no_grad():
            for parameter in self.task.model.parameters():
                parameter.mul_(0.99)
        original(self, step, result, began)  # type: ignore[arg-type]

    monkeypatch.setattr(loop.Training, "finish_step", decaying)
    with pytest.raises(RunError, match=r"frozen tensors have changed during training"):
        trained(replace(settings, tuning=TuningSettings("lora")), tmp_path)


def test_a_file_of_another_method_is_refused(settings: ClassifySettings, tmp_path: Path) -> None:
    from attnlab.recipes.classify.classifier import new_classifier
    from attnlab.recipes.classify.tuned_model import load_tuned

    run = trained(replace(settings, tuning=TuningSettings("prefix")), tmp_path)
    model = new_classifier(
        read_bert(run.path / "model"), run.record["classes"], settings, fills_in=False
    )[0].model
    with pytest.raises(DamagedFileError, match="is not of the tuning 'prompt': it differs in"):
        load_tuned(model, TuningSettings("prompt"), run.path / "model")
