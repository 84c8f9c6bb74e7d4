"""The loop: where it stops, what it keeps, how it goes on."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from toy import ToyTask, tensors, toy_session

from attnlab.errors import DamagedFileError, StoppedError, UserError
from attnlab.training import loop
from attnlab.training import speed_trial as trial
from attnlab.training.checkpoint import Checkpoints
from attnlab.training.loop import Training, TrainingState, train
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from attnlab.training.step import NonFiniteError, Stepper
from attnlab.training.task import Evaluation

SETTINGS = TrainingSettings(
    length="12 steps",
    optimizer=OptimizerSettings("muon", lr=0.02),
    schedule=ScheduleSettings("cosine", warmup=3),
    precision="float64",
    threads=1,
    log_every=1,
    save_every=4,
)


def run(
    folder: Path, task: ToyTask, settings: TrainingSettings = SETTINGS, log: StringIO | None = None
) -> TrainingState:
    with toy_session(folder, settings, log=log) as session:
        return train(task, settings, session)


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "toy" / "metrics.jsonl").read_text().splitlines()
    timed = ("seconds", "evaluation_seconds")
    return [{k: v for k, v in json.loads(line).items() if k not in timed} for line in lines]


def steps_kept(folder: Path) -> list[int]:
    return sorted(int(p.name[5:]) for p in (folder / "toy" / "checkpoints").glob("step-*"))


@contextmanager
def stopped_at(step: int) -> Iterator[pytest.ExceptionInfo[StoppedError]]:
    """Send this process a signal in the middle of a step; the run must end by it."""
    take = Stepper.take

    def wrapped(stepper: Stepper, at: int, **keywords: Any) -> Any:
        if at == step:
            signal.raise_signal(signal.SIGUSR1)
        return take(stepper, at, **keywords)

    with (
        mock.patch.object(Stepper, "take", wrapped),
        pytest.raises(StoppedError, match="stopped after step") as caught,
    ):
        yield caught


@pytest.mark.parametrize("interrupted_at", [1, 5, 8, 11])
def test_a_run_that_was_stopped_goes_on_bit_for_bit(interrupted_at: int, tmp_path: Path) -> None:
    scores = [0.1, 0.3, 0.2, 0.4]
    settings = replace(SETTINGS, evaluate_every=3)
    whole, first, second = (ToyTask(dropout=0.3, scores=scores) for _ in range(3))
    run(tmp_path / "whole", whole, settings)
    with stopped_at(interrupted_at) as caught:
        run(tmp_path / "cut", first, settings)
    assert caught.value.exit_code == 128 + signal.SIGUSR1
    second.evaluations = first.evaluations
    run(tmp_path / "cut", second, settings)
    assert metrics(tmp_path / "cut") == metrics(tmp_path / "whole")
    for name, value in tensors(whole.model).items():
        assert torch.equal(tensors(second.model)[name], value), name


def test_a_kill_between_the_last_save_and_its_pruning_is_made_good(tmp_path: Path) -> None:
    with (
        mock.patch.object(Checkpoints, "prune", side_effect=[None, None, KeyboardInterrupt]),
        pytest.raises(KeyboardInterrupt),
    ):
        run(tmp_path, ToyTask())
    assert steps_kept(tmp_path) == [4, 8, 12]
    run(tmp_path, ToyTask())
    assert steps_kept(tmp_path) == [8, 12]


def test_resume_would_notice_randomness_that_is_not_keyed_by_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: dropout drawn from a generator that a restart sets back."""
    monkeypatch.setattr("attnlab.training.step.seed_torch", lambda *_: None)
    torch.manual_seed(1)
    run(tmp_path / "whole", ToyTask(dropout=0.3))
    with stopped_at(5):
        run(tmp_path / "cut", ToyTask(dropout=0.3))
    run(tmp_path / "cut", ToyTask(dropout=0.3))
    assert metrics(tmp_path / "cut") != metrics(tmp_path / "whole")


def test_resume_would_notice_an_optimizer_that_starts_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the optimizers' tensors are not taken back."""
    run(tmp_path / "whole", ToyTask())
    with stopped_at(5):
        run(tmp_path / "cut", ToyTask())
    monkeypatch.setattr("attnlab.training.optimization.Optimization.load", lambda *_: None)
    run(tmp_path / "cut", ToyTask())
    assert metrics(tmp_path / "cut") != metrics(tmp_path / "whole")


def test_a_line_is_logged_for_every_step_and_evaluation(tmp_path: Path) -> None:
    run(tmp_path, ToyTask(scores=[0.5]), replace(SETTINGS, evaluate_every=6))
    lines = metrics(tmp_path)
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, 13))
    assert [line["step"] for line in lines if "dev_accuracy" in line] == [6, 12]
    assert lines[0].keys() == {"step", "loss", "square", "even", "gradient_norm", "lr", "tokens"}


def test_the_best_weights_on_dev_are_left_in_the_model(tmp_path: Path) -> None:
    task = ToyTask(scores=[0.2, 0.9, 0.5, 0.9])
    state = run(tmp_path, task, replace(SETTINGS, evaluate_every=3))
    assert (state.best_step, state.best_score, state.step) == (6, 0.9, 12)
    assert steps_kept(tmp_path) == [6, 8, 12]
    short = ToyTask()
    with stopped_at(6):
        run(tmp_path / "short", short)
    assert torch.equal(
        task.model.get_parameter("hidden.weight"), short.model.get_parameter("hidden.weight")
    )


def test_without_a_score_the_last_weights_stay(tmp_path: Path) -> None:
    state = run(tmp_path, ToyTask())
    assert (state.best_step, state.best_score) == (None, None)
    assert steps_kept(tmp_path) == [8, 12]


def test_an_evaluation_without_a_score_is_logged_but_chooses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = ToyTask()
    monkeypatch.setattr(task, "evaluate", lambda: Evaluation(None, {"dev_accuracy": 0.25}))
    state = run(tmp_path, task, replace(SETTINGS, evaluate_every=6, patience=1))
    assert (state.best_step, state.best_score, state.stopped_early) == (None, None, False)
    assert steps_kept(tmp_path) == [8, 12]
    lines = [line for line in metrics(tmp_path) if "dev_accuracy" in line]
    assert lines == [{"step": step, "dev_accuracy": 0.25} for step in (6, 12)]


def test_a_logged_number_that_is_none_ends_the_run_without_a_score_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = ToyTask()
    monkeypatch.setattr(task, "evaluate", lambda: Evaluation(None, {"dev_loss": float("nan")}))
    with pytest.raises(NonFiniteError, match=r"^evaluated after step 12: dev_loss is nan\."):
        run(tmp_path, task)


def test_it_stops_early_after_evaluations_without_progress(tmp_path: Path) -> None:
    task = ToyTask(scores=[0.5, 0.4, 0.5, 0.9])
    settings = replace(SETTINGS, evaluate_every=2, patience=2)
    state = run(tmp_path, task, settings)
    assert (state.step, state.best_step, state.stopped_early) == (6, 2, True)
    again = run(tmp_path, ToyTask(scores=[0.9]), settings)
    assert again == state, "a run that stopped early must not go on"


@pytest.mark.parametrize(
    ("length", "steps"), [("7 steps", 7), ("3 epochs", 7), ("30 tokens", 6), ("1 step", 1)]
)
def test_every_length_becomes_steps(length: str, steps: int, tmp_path: Path) -> None:
    schedule = ScheduleSettings()
    assert run(tmp_path, ToyTask(), replace(SETTINGS, length=length, schedule=schedule)).step == (
        steps
    )


def test_seconds_become_steps_once_and_leave_the_weights_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "TIMED_STEPS", 3)
    settings = replace(SETTINGS, length="0.05 seconds", schedule=ScheduleSettings())
    task = ToyTask()
    before = tensors(task.model.double())
    with toy_session(tmp_path, settings) as session:
        training = Training(task, settings, session)
        assert training.steps >= 1
        for name, value in tensors(task.model).items():
            assert torch.equal(value, before[name]), name
    with toy_session(tmp_path, settings) as session:
        monkeypatch.setattr(loop, "seconds_per_step", lambda *_: 1e-9)
        assert Training(ToyTask(), settings, session).steps == training.steps


@pytest.mark.parametrize("kind", ["loss", "gradient"])
def test_a_non_finite_step_keeps_the_last_good_checkpoint(kind: str, tmp_path: Path) -> None:
    batches = [ToyTask().batch(step).ids for step in (1, 2)]
    step, guilty = 2, next(name for name in batches[1] if name not in batches[0])
    every_step = replace(SETTINGS, save_every=1)
    with pytest.raises(NonFiniteError, match=rf"step {step}: .*{guilty}.*step {step - 1} is kept"):
        run(tmp_path, ToyTask(poison={guilty: kind}), every_step)
    assert steps_kept(tmp_path)[-1] == step - 1
    # once the example is mended, the same command goes on
    assert run(tmp_path, ToyTask(), every_step).step == 12


def test_a_damaged_checkpoint_is_named_and_an_older_one_taken(tmp_path: Path) -> None:
    whole = ToyTask()
    run(tmp_path / "whole", whole)
    with stopped_at(10):
        run(tmp_path / "hurt", ToyTask())
    newest = tmp_path / "hurt" / "toy" / "checkpoints" / "step-00000010" / "state.json"
    newest.write_text(newest.read_text().replace("10", "11"))
    log, task = StringIO(), ToyTask()
    run(tmp_path / "hurt", task, log=log)
    assert "state.json is not what was saved. Going back to the checkpoint of step 8" in (
        log.getvalue()
    )
    assert metrics(tmp_path / "hurt") == metrics(tmp_path / "whole")


def test_another_base_model_is_refused(tmp_path: Path) -> None:
    def frozen(change: float) -> ToyTask:
        task = ToyTask()
        task.model.get_parameter("unused.weight").requires_grad_(False).add_(change)
        return task

    with stopped_at(5):
        run(tmp_path, frozen(0))
    with pytest.raises(DamagedFileError, match="trained on another base model"):
        run(tmp_path, frozen(1))
    assert run(tmp_path, frozen(0)).step == 12


def test_an_impossible_length_is_refused_before_step_1(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the length '12 parsecs' is not possible"):
        run(tmp_path, ToyTask(), replace(SETTINGS, length="12 parsecs"))


def test_an_edited_number_of_steps_is_refused(tmp_path: Path) -> None:
    with stopped_at(5):
        run(tmp_path, ToyTask())
    config = tmp_path / "toy" / "config.json"
    whole = config.read_text()
    config.write_text(whole.replace('"steps": 12', '"steps": 6'))
    with pytest.raises(DamagedFileError, match=r"resolved\.steps is 6, not 12, which is what '12"):
        run(tmp_path, ToyTask())
    config.write_text(whole)
    assert run(tmp_path, ToyTask()).step == 12


@pytest.mark.parametrize(
    ("dropout", "told"),
    [
        (0.0, "the result is equal up to rounding, not bit for bit."),
        (0.3, "dropout drops other activations, so the result is that of another run"),
    ],
)
def test_going_on_with_another_number_of_processes_is_said(
    dropout: float, told: str, tmp_path: Path
) -> None:
    run(tmp_path, ToyTask(dropout=dropout))
    config = tmp_path / "toy" / "config.json"
    config.write_text(config.read_text().replace('"processes": 1', '"processes": 2'))
    log = StringIO()
    run(tmp_path, ToyTask(dropout=dropout), log=log)
    assert f"toy was begun with 2 processes and goes on with 1: {told}" in log.getvalue()
    config.write_text(config.read_text().replace('"processes": 2', '"processes": 1'))
    run(tmp_path, ToyTask(dropout=dropout), log=(log := StringIO()))
    assert "goes on with" not in log.getvalue()


def test_nothing_is_promised_of_a_users_attention_on_other_processes(tmp_path: Path) -> None:
    """`F.dropout` in a user's file is no module, so nothing shows that it is there."""
    run(tmp_path, ToyTask())
    config = tmp_path / "toy" / "config.json"
    began = '"processes": 2, "attention_files": "0123"'
    config.write_text(config.read_text().replace('"processes": 1', began))
    run(tmp_path, ToyTask(), log=(log := StringIO()))
    assert "goes on with 1: if your own attention draws random numbers, as dropout does, the" in (
        log.getvalue()
    )
    assert "equal" not in log.getvalue()


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_other_parts_are_equal_up_to_rounding_only_without_dropout(
    dropout: float, tmp_path: Path
) -> None:
    # a process is a part of the batch, and two parts of one process are cut and seeded alike
    weights = []
    for parts in (1, 2):
        task = ToyTask(dropout=dropout)
        run(tmp_path / str(parts), task, replace(SETTINGS, accumulate=parts))
        weights.append(task.model.out.weight.detach().clone())
    assert torch.allclose(*weights, rtol=0, atol=1e-10) == (dropout == 0)


def test_bfloat16_runs_where_it_is_asked_for(tmp_path: Path) -> None:
    task = ToyTask()
    state = run(tmp_path, task, replace(SETTINGS, precision="bfloat16"))
    assert state.step == 12
    assert task.model.get_parameter("hidden.weight").dtype == torch.float32
    kept = json.loads((tmp_path / "toy" / "config.json").read_text())["resolved"]["hardware"]
    assert kept["precision"] == "bfloat16"


def test_a_damaged_best_checkpoint_does_not_lose_the_run(tmp_path: Path) -> None:
    settings = replace(SETTINGS, evaluate_every=2)
    with stopped_at(11):
        run(tmp_path, ToyTask(scores=[0.9, 0.5, 0.4, 0.3, 0.2]), settings)
    assert steps_kept(tmp_path) == [2, 8, 11]
    damaged = tmp_path / "toy" / "checkpoints" / "step-00000002" / "model.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    log = StringIO()
    state = run(tmp_path, ToyTask(scores=[0.1]), settings, log=log)
    assert "It was the best one on dev; the search starts again." in log.getvalue()
    assert (state.best_step, state.best_score) == (12, 0.1)


@pytest.mark.parametrize("scores", [[float("nan")], [0.5, float("inf")]], ids=["nan", "inf later"])
def test_a_score_that_is_no_number_ends_the_run(scores: list[float], tmp_path: Path) -> None:
    settings = replace(SETTINGS, evaluate_every=4)
    with pytest.raises(NonFiniteError, match=r"evaluated after step [48]: score is (nan|inf)"):
        run(tmp_path, ToyTask(scores=scores), settings)


def test_a_length_in_seconds_may_have_a_long_warm_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "TIMED_STEPS", 2)
    schedule = ScheduleSettings(warmup=50)
    settings = replace(SETTINGS, length="60 seconds", schedule=schedule)
    with toy_session(tmp_path, settings) as session:
        assert Training(ToyTask(), settings, session).steps > 50


def test_patience_at_the_very_end_is_no_early_stop(tmp_path: Path) -> None:
    settings = replace(SETTINGS, evaluate_every=4, patience=2)
    state = run(tmp_path, ToyTask(scores=[0.5, 0.4, 0.3]), settings)
    assert (state.step, state.stopped_early) == (12, False)


def test_patience_without_evaluations_is_refused_and_leaves_no_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"patience = 1 counts evaluations, but there are none"):
        run(tmp_path, ToyTask(scores=[0.5]), replace(SETTINGS, patience=1))
    assert not (tmp_path / "toy").exists()
