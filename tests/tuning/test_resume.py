"""A stopped job of every method resumes bit for bit; checkpoints hold no frozen weights."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from tunable import CASES, MODELS, bert, stop_at, task_of, trained, tune

from attnlab.errors import DamagedFileError, StoppedError
from attnlab.training import checkpoint

TIMED = ("seconds", "evaluation_seconds")


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "tuned" / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in TIMED} for line in lines]


def stopped_and_resumed(folder: Path, family: str, method: str) -> nn.Module:
    with stop_at(3), pytest.raises(StoppedError, match="stopped after step 3"):
        trained(folder, task_of(tune(MODELS[family](), method).model))
    model = tune(MODELS[family](), method).model
    trained(folder, task_of(model))
    return model


@pytest.mark.parametrize(("family", "method"), CASES)
def test_a_stopped_job_resumes_bit_for_bit(family: str, method: str, tmp_path: Path) -> None:
    whole = tune(MODELS[family](), method)
    trained(tmp_path / "whole", task_of(whole.model))
    resumed = stopped_and_resumed(tmp_path / "cut", family, method)
    assert metrics(tmp_path / "cut") == metrics(tmp_path / "whole")
    for name, value in whole.model.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value), name
    (last,) = (tmp_path / "cut" / "tuned" / "checkpoints").glob("step-*5")
    assert load_file(last / checkpoint.MODEL).keys() == whole.trainable.names
    state = json.loads((last / checkpoint.STATE).read_text())
    assert (state["frozen_sha256"] is None) == (method == "full")


def test_a_resume_that_forgets_a_trained_tensor_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the prompt is not taken back from the checkpoint."""
    whole = tune(bert(), "prompt").model
    trained(tmp_path / "whole", task_of(whole))
    tensors = checkpoint.model_tensors

    def without_prompt(model: nn.Module) -> dict[str, torch.Tensor]:
        return {n: t for n, t in tensors(model).items() if not n.endswith("prompt")}

    monkeypatch.setattr("attnlab.training.loop.model_tensors", without_prompt)
    monkeypatch.setattr("attnlab.training.checkpoint.model_tensors", without_prompt)
    stopped_and_resumed(tmp_path / "cut", "bert", "prompt")
    assert metrics(tmp_path / "cut") != metrics(tmp_path / "whole")


def test_a_checkpoint_does_not_resume_on_another_base(tmp_path: Path) -> None:
    with stop_at(3), pytest.raises(StoppedError, match="stopped after step 3"):
        trained(tmp_path, task_of(tune(bert(), "lora").model))
    other = bert()
    with torch.no_grad():
        other.body.layers[0].up.weight[0, 0] += 1e-9
    with pytest.raises(DamagedFileError, match="trained on another base model: the frozen"):
        trained(tmp_path, task_of(tune(other, "lora").model))
