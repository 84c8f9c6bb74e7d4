"""Trial steps: which number of threads they choose, and that they leave no trace."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from toy import ToyTask, tensors, toy_session

from attnlab.training import speed_trial as trial
from attnlab.training.loop import train
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from attnlab.training.speed_trial import faster_threads, trial_steps

SETTINGS = TrainingSettings(
    length="6 steps", optimizer=OptimizerSettings("adamw", lr=0.1), precision="float64"
)


@pytest.fixture(autouse=True)
def own_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ask for no number of threads, and give torch its own back."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class Steps:
    """Steps that last as long as ``seconds`` says of the number of threads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: Callable[[int], float]) -> None:
        self.seconds, self.now, self.taken = seconds, 0.0, list[int]()
        monkeypatch.setattr("time.perf_counter", lambda: self.now)

    def take(self, _: int) -> float:
        self.taken.append(torch.get_num_threads())
        self.now += self.seconds(self.taken[-1])
        return self.seconds(self.taken[-1])


@pytest.mark.parametrize(
    ("of_one", "of_all", "chosen"),
    [(0.01, 0.06, 1), (0.02, 0.011, 4), (0.0100, 0.0101, 1), (0.0101, 0.0100, 4)],
    ids=["one is faster", "all are faster", "one by a little", "all by a little"],
)
def test_the_faster_number_of_threads_is_taken(
    monkeypatch: pytest.MonkeyPatch, of_one: float, of_all: float, chosen: int
) -> None:
    steps = Steps(monkeypatch, lambda threads: of_one if threads == 1 else of_all)
    assert faster_threads(steps.take, 4, run_seconds=lambda _: 1.0) == chosen


def test_a_clear_case_is_decided_after_three_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch, lambda threads: 0.01 * threads)
    faster_threads(steps.take, 4, run_seconds=lambda _: 1.0)
    assert steps.taken == [4, 4, 1, 4, 1, 4, 1, 4, 1]


@pytest.mark.parametrize(("run", "chosen"), [(60.0, 4), (6000.0, 1)], ids=["short", "long"])
def test_a_trial_takes_two_seconds_or_a_fiftieth_of_the_run(
    monkeypatch: pytest.MonkeyPatch, run: float, chosen: int
) -> None:
    steps = Steps(monkeypatch, lambda threads: 0.5 * threads)
    assert faster_threads(steps.take, 4, run_seconds=lambda _: run) == chosen
    assert len(steps.taken) == (2 if chosen == 4 else 9)


def test_trial_steps_leave_the_weights_as_they_were(tmp_path: Path) -> None:
    task = ToyTask(dropout=0.3)
    before = {name: tensor.clone() for name, tensor in tensors(task.model).items()}
    with toy_session(tmp_path, SETTINGS) as session:
        session.hardware.place(task.model)
        with trial_steps(task, SETTINGS, session) as take:
            assert take(1) > 0
    assert all(
        torch.equal(before[name].double(), tensor) for name, tensor in tensors(task.model).items()
    )


def test_a_run_with_measured_threads_equals_one_that_was_given_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 2)
    measured, given = ToyTask(dropout=0.3), ToyTask(dropout=0.3)
    with toy_session(tmp_path / "measured", SETTINGS) as session:
        train(measured, SETTINGS, session)
        threads = session.run.config["resolved"]["threads"]
    with toy_session(tmp_path / "given", replace(SETTINGS, threads=threads)) as session:
        train(given, replace(SETTINGS, threads=threads), session)
    assert threads in (1, 2)
    assert all(
        torch.equal(tensor, tensors(given.model)[name])
        for name, tensor in tensors(measured.model).items()
    )


def test_a_resumed_run_keeps_its_threads_whatever_would_be_faster_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 2)
    monkeypatch.setattr(trial, "faster_threads", lambda *_, **__: 1)
    with toy_session(tmp_path, SETTINGS) as session:
        train(ToyTask(), SETTINGS, session)
    monkeypatch.setattr(trial, "faster_threads", lambda *_, **__: pytest.fail("timed again"))
    torch.set_num_threads(2)
    with toy_session(tmp_path, SETTINGS) as session:
        assert torch.get_num_threads() == 1
        train(ToyTask(), SETTINGS, session)
