"""A reader's way: few frames from a command to attention, few files to see what a job does."""

import ast
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch.nn.functional as F
from command_line import Attnlab

import attnlab as package
from attnlab.attention import fast_path
from attnlab.data.settings import WorldSettings
from attnlab.recipes.classify import train as classify_train
from attnlab.recipes.knowledge import finetune, pretrain
from attnlab.recipes.knowledge.world import write_world
from small_bert import write_reviews, write_small_bert

SOURCE = str(Path(package.__file__).parent)
MOST_FRAMES, MOST_FILES = 10, 7
SHORT = ("--length", "2 steps", "--set", "training.threads=1", "--set", "training.log_every=1")


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Collect our frames at every call of torch's attention kernel in a step of training."""
    found: list[list[str]] = []
    kernel = F.scaled_dot_product_attention

    def spy(*arguments: Any, **keywords: Any) -> Any:
        frames = [f for f in traceback.extract_stack() if f.filename.startswith(SOURCE)]
        names = [f"{Path(f.filename).stem}.{f.name}" for f in frames]
        if "step.take" in names:
            found.append(names)
        return kernel(*arguments, **keywords)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    monkeypatch.setattr(fast_path, "recorded_or_measured", lambda _: 0)
    return found


def test_pretraining_is_ten_frames_from_attention(
    attnlab: Attnlab, tmp_path: Path, stacks: list[list[str]]
) -> None:
    write_world(WorldSettings(people=20, biographies=1), tmp_path / "world")
    words = ("knowledge", "pretrain", "world/wiki.txt", "--set", "model.d_model=24", *SHORT)
    assert attnlab(*words).code == 0
    assert stacks
    assert max(map(len, stacks)) <= MOST_FRAMES, max(stacks, key=len)


def test_fine_tuning_is_ten_frames_from_attention(
    attnlab: Attnlab, tmp_path: Path, stacks: list[list[str]]
) -> None:
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")
    words = ("classify", "train", "reviews/train.csv", "--model", "bert", "--max-len", "16")
    assert attnlab(*words, *SHORT).code == 0
    assert stacks
    assert max(map(len, stacks)) <= MOST_FRAMES, max(stacks, key=len)


@pytest.mark.parametrize(
    "job",
    [pretrain.run_pretrain, finetune.run_finetune, classify_train.run_train],
    ids=["pretrain", "finetune", "train"],
)
def test_what_a_job_learns_from_what_is_read_with_seven_files_open(
    job: Callable[..., Any],
) -> None:
    """The job's own file, and those of ours that its function calls."""
    module = sys.modules[job.__module__]
    tree = ast.parse(inspect.getsource(job))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    files = {getattr(module, name).__module__ for name in called if hasattr(module, name)}
    files = {name for name in files if name.startswith("attnlab.")} | {job.__module__}
    assert len(files) <= MOST_FILES, sorted(files)
