"""Fine-tuning a part of a language model: what is frozen stays, and the run is loaded again."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.errors import DamagedFileError, RunError, UserError
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge import finetune
from attnlab.recipes.knowledge.language_model import load_language_model
from attnlab.recipes.knowledge.settings import (
    EvaluateSettings,
    FinetuneSettings,
    PretrainSettings,
)
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import OptimizerSettings
from attnlab.tuning.settings import TuningSettings
from small_jobs import SHORT, TINY, WORLD

QUIET = Console(quiet=True)
FAST = replace(SHORT, optimizer=OptimizerSettings("adamw", lr=0.1))
METHODS = {
    "projections": TuningSettings("projections"),
    "norms": TuningSettings("bitfit", {"norms": True}),
    "lora": TuningSettings("lora", {"rank": 2}),
    "prefix": TuningSettings("prefix", {"length": 2}),
}


def run(job: str, settings: object, folder: Path, name: str) -> Run:
    found = find_job(job).run(settings, place=RunPlace(folder, name), console=QUIET)
    assert isinstance(found, Run)
    return found


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A model that has read about some people."""
    folder = tmp_path_factory.mktemp("tuning")
    world = run("knowledge-world", WORLD, folder, "world")
    reading = PretrainSettings(corpus=str(world.path / "wiki.txt"), model=TINY, training=SHORT)
    return run("knowledge-pretrain", reading, folder, "read")


def settings_of(read: Run, tuning: TuningSettings) -> FinetuneSettings:
    world = read.path.parent / "world"
    return FinetuneSettings(
        questions=str(world / "birth_places_train.tsv"),
        test=str(world / "birth_test.tsv"),
        start=str(read.path),
        tuning=tuning,
        training=FAST,
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_tuned_run_answers_the_same_when_it_is_loaded_again(
    method: str, read: Run, tmp_path: Path
) -> None:
    tuned = run("knowledge-finetune", settings_of(read, METHODS[method]), tmp_path, "tuned")
    asking = EvaluateSettings(str(tuned.path), tuned.setting("test"), samples=0)
    asked = run("knowledge-evaluate", asking, tmp_path, "asked")
    before, after = tuned.predictions("test"), asked.predictions("birth_test")
    assert [row["prediction"] for row in before] == [row["prediction"] for row in after]
    for one, other in zip(before, after, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-2)  # in bfloat16, other batches


@pytest.mark.parametrize("method", ["projections", "norms"])
def test_only_what_the_method_trains_has_moved(method: str, read: Run, tmp_path: Path) -> None:
    tuned = run("knowledge-finetune", settings_of(read, METHODS[method]), tmp_path, "tuned")
    old = load_language_model(read).model.state_dict()
    new = load_language_model(tuned).model.state_dict()
    moved = {name for name, value in new.items() if not torch.equal(old[name], value)}
    ours = {
        "projections": lambda name: ".query." in name or ".key." in name,
        "norms": lambda name: name.endswith("bias") or ".ln" in name or name.startswith("ln_f"),
    }[method]
    assert moved
    assert all(ours(name) for name in moved)


def test_a_frozen_parameter_that_moves_is_noticed(
    read: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: training also changes the table of tokens."""
    original = finetune.train

    def leaky(task, *args):  # type: ignore[no-untyped-def]
        state = original(task, *args)
        with torch.no_grad():
            task.model.tok_emb.weight.add_(1)
        return state

    monkeypatch.setattr(finetune, "train", leaky)
    with pytest.raises(RunError, match=r"tuning 'projections': frozen tensors have changed"):
        run("knowledge-finetune", settings_of(read, METHODS["projections"]), tmp_path, "tuned")


@pytest.mark.parametrize("start", ["", "vanilla.params"])
def test_without_a_pretrained_run_there_is_nothing_to_freeze(
    start: str, read: Run, tmp_path: Path
) -> None:
    if start:
        start = str(tmp_path / start)
        Path(start).write_bytes(b"weights")
    settings = replace(settings_of(read, METHODS["projections"]), start=start)
    with pytest.raises(
        UserError, match=r"tuning = 'projections' trains some parameters .* --start"
    ):
        run("knowledge-finetune", settings, tmp_path, "tuned")
    assert not (tmp_path / "tuned").exists()


def test_a_tuned_run_needs_the_run_it_started_from(read: Run, tmp_path: Path) -> None:
    world = read.path.parent / "world"
    reading = PretrainSettings(corpus=str(world / "wiki.txt"), model=TINY, training=SHORT)
    other = run("knowledge-pretrain", reading, tmp_path, "other")
    settings = replace(settings_of(read, METHODS["projections"]), start=str(other.path))
    tuned = run("knowledge-finetune", settings, tmp_path, "tuned")
    other.path.rename(tmp_path / "gone")
    with pytest.raises(UserError, match=r"keeps only what tuning 'projections' has trained"):
        load_language_model(tuned)
    longer = replace(reading, training=replace(SHORT, length="3 steps"))
    run("knowledge-pretrain", longer, tmp_path, "other")
    with pytest.raises(DamagedFileError, match=r"was trained on another model than"):
        load_language_model(tuned)
