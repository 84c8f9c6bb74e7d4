"""Two processes that train together: sparse tables, parameters without a gradient, errors."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from toy import BATCH, ToyTask, toy_session

from attnlab.training.loop import train
from attnlab.training.settings import OptimizerSettings, TrainingSettings

SETTINGS = TrainingSettings(
    length="15 steps", optimizer=OptimizerSettings("adamw", lr=0.01), precision="float64", threads=1
)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which two real processes have trained."""
    folder = tmp_path_factory.mktemp("together")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    script = Path(__file__).with_name("two_processes.py")
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", str(script), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_two_processes_equal_one_with_two_parts_even_with_dropout(
    together: Path, tmp_path: Path
) -> None:
    task = ToyTask(dropout=0.3, sparse=True)
    settings = replace(SETTINGS, accumulate=2)
    with toy_session(tmp_path, settings) as session:
        train(task, settings, session)
    two = load_file(together / "weights-0.safetensors")
    for name, parameter in task.model.named_parameters():
        torch.testing.assert_close(two[name], parameter.detach(), atol=1e-12, rtol=0)


def test_both_processes_hold_the_same_weights(together: Path) -> None:
    first, second = (load_file(together / f"weights-{rank}.safetensors") for rank in (0, 1))
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def test_an_error_of_the_lead_is_raised_in_every_process(together: Path) -> None:
    for rank in (0, 1):
        refusal, _ = json.loads((together / f"errors-{rank}.json").read_text())
        assert refusal == ["the lead refuses", 2]


def test_all_processes_agree_on_a_non_finite_step_and_its_examples(together: Path) -> None:
    row = ToyTask().batch(1).ids[-1]
    for rank in (0, 1):
        _, (message, exit_code) = json.loads((together / f"errors-{rank}.json").read_text())
        assert f"step 1: the loss is nan, from 1 of the batch's 5 examples: {row}." in message
        assert exit_code == 1


@pytest.mark.parametrize("rows", [1, 2])
def test_a_process_without_rows_and_a_table_nobody_uses_change_nothing(
    rows: int, together: Path, tmp_path: Path
) -> None:
    task = ToyTask(sparse=True)
    task.batch = lambda step: ToyTask().batch(step).part(0, BATCH // rows)  # type: ignore[method-assign]
    task.model.extra = nn.Embedding(3, 2, sparse=True)
    settings = replace(SETTINGS, accumulate=2)
    with toy_session(tmp_path, settings) as session:
        train(task, settings, session)
    two = load_file(together / f"small-{rows}-1.safetensors")
    for name, parameter in task.model.named_parameters():
        if not name.startswith("extra"):
            torch.testing.assert_close(two[name], parameter.detach(), atol=1e-12, rtol=0)
