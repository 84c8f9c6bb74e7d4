"""Faults 4 and 5: a checkpoint that was damaged or forged is found out."""

import hashlib
import json
import pickle
import shutil
import struct
from pathlib import Path

import pytest
import torch
from torch import nn

from attnlab.errors import DamagedFileError, RunError
from attnlab.training.checkpoint import (
    Checkpoint,
    Checkpoints,
    frozen_sha256,
    load_model_tensors,
    model_tensors,
)

FILES = ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"]


def save(checkpoints: Checkpoints, step: int, *, best: int | None = None) -> None:
    tensors = {"weight": torch.full((3, 2), float(step))}
    state = {"step": step, "best_step": best}
    checkpoints.save(step, Checkpoint(tensors, {"weight/moment": torch.ones(2)}, state))


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    found = Checkpoints(tmp_path / "checkpoints", keep_last=3)
    for step in (10, 20, 30):
        save(found, step)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(bytes(content))


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES = [truncate, flip_a_bit, empty, Path.unlink]


def test_what_was_saved_comes_back(checkpoints: Checkpoints) -> None:
    loaded = checkpoints.load(20)
    assert torch.equal(loaded.model["weight"], torch.full((3, 2), 20.0))
    assert torch.equal(loaded.optimizer["weight/moment"], torch.ones(2))
    assert loaded.state == {"step": 20, "best_step": None}


@pytest.mark.parametrize("damage", DAMAGES, ids=["truncated", "bit flipped", "emptied", "gone"])
@pytest.mark.parametrize("name", FILES)
def test_damage_is_found_and_the_older_checkpoint_taken(
    checkpoints: Checkpoints, name: str, damage: object
) -> None:
    assert callable(damage)
    damage(checkpoints.path(30) / name)
    with pytest.raises(DamagedFileError, match=r"step-00000030"):
        checkpoints.load(30)
    said: list[str] = []
    assert checkpoints.newest_complete(said.append) == 20
    assert "step-00000030" in said[0]
    assert "Going back to the checkpoint of step 20." in said[0]
    save(checkpoints, 30)  # the run comes by again and writes a good one
    assert checkpoints.newest_complete(said.append) == 30
    assert len(said) == 1


def test_a_flipped_bit_is_something_safetensors_alone_would_load(checkpoints: Checkpoints) -> None:
    from safetensors.torch import load_file

    path = checkpoints.path(30) / "model.safetensors"
    flip_a_bit(path)
    assert not torch.equal(load_file(path)["weight"], torch.full((3, 2), 30.0))


def test_if_every_checkpoint_is_damaged_nothing_is_changed(checkpoints: Checkpoints) -> None:
    for step in checkpoints.steps():
        flip_a_bit(checkpoints.path(step) / "model.safetensors")
    before = contents(checkpoints.folder)
    with pytest.raises(DamagedFileError, match=r"no checkpoint in .* is whole") as caught:
        checkpoints.newest_complete(lambda _: None)
    assert caught.value.exit_code == 2
    assert contents(checkpoints.folder) == before


def test_the_last_ones_and_the_best_one_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep_last=2)
    for step in (1, 2, 3, 4, 5):
        save(checkpoints, step, best=2 if step > 1 else 1)
    assert checkpoints.steps() == [5, 4, 2]


def test_what_a_kill_kept_from_being_pruned_goes_later(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep_last=2)
    for step in (1, 2, 3, 4):
        save(Checkpoints(tmp_path, keep_last=9), step, best=1)
    checkpoints.prune(best=1)
    assert checkpoints.steps() == [4, 3, 1]


class Evil:
    def __init__(self, trap: Path) -> None:
        self.trap = trap

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trap,)


def forge(checkpoints: Checkpoints, name: str, content: bytes) -> None:
    """Replace a file and make the manifest agree, as an attacker would."""
    folder = checkpoints.path(30)
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest[name] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_pickle_in_the_place_of_tensors_is_refused_and_not_executed(
    checkpoints: Checkpoints, tmp_path: Path
) -> None:
    trap = tmp_path / "executed"
    forge(checkpoints, "model.safetensors", pickle.dumps(Evil(trap)))
    with pytest.raises(DamagedFileError, match=r"model.safetensors is not a safetensors file"):
        checkpoints.load(30)
    assert not trap.exists()


def test_an_oversized_header_is_refused(checkpoints: Checkpoints) -> None:
    forge(checkpoints, "model.safetensors", struct.pack("<Q", 2**60) + b"{}")
    with pytest.raises(DamagedFileError, match="is not a safetensors file"):
        checkpoints.load(30)


def test_a_manifest_that_points_elsewhere_is_refused(
    checkpoints: Checkpoints, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x")
    folder = checkpoints.path(30)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["../../outside"] = hashlib.sha256(b"x").hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DamagedFileError, match=r"manifest.json names"):
        checkpoints.load(30)


def test_tensors_named_like_paths_write_no_file(checkpoints: Checkpoints) -> None:
    from safetensors.torch import save as encode

    forge(checkpoints, "model.safetensors", encode({"../../evil": torch.ones(1)}))
    model = nn.Linear(2, 3)
    with pytest.raises(DamagedFileError, match=r"differs in: \.\./\.\./evil, bias, weight"):
        load_model_tensors(model, checkpoints.load(30).model)


def test_an_error_while_saving_names_the_path_and_leaves_nothing(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnlab.training import checkpoint

    def full(path: Path, content: bytes) -> None:
        path.write_bytes(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_synced", full)
    with pytest.raises(RunError, match=r"cannot write .*step-00000040: No space left") as caught:
        save(checkpoints, 40)
    assert caught.value.exit_code == 1
    assert sorted(p.name for p in checkpoints.folder.iterdir()) == [
        "step-00000010",
        "step-00000020",
        "step-00000030",
    ]


def test_leftovers_of_a_crash_are_removed(checkpoints: Checkpoints) -> None:
    shutil.copytree(checkpoints.path(30), checkpoints.folder / ".tmp-step-00000040")
    checkpoints.remove_leftovers()
    assert not list(checkpoints.folder.glob(".*"))
    assert checkpoints.steps() == [30, 20, 10]


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(4, 3)
        self.frozen = nn.Linear(3, 3).requires_grad_(False)
        self.head = nn.Linear(3, 4, bias=False)
        self.head.weight = self.table.weight
        self.norm = nn.BatchNorm1d(3)


def test_tied_weights_are_stored_once_frozen_ones_not_and_buffers_too() -> None:
    assert sorted(model_tensors(Tied())) == [
        "norm.bias",
        "norm.num_batches_tracked",
        "norm.running_mean",
        "norm.running_var",
        "norm.weight",
        "table.weight",
    ]


def test_the_base_model_is_what_is_frozen() -> None:
    torch.manual_seed(0)
    model = Tied()
    before = frozen_sha256(model)
    with torch.no_grad():
        model.table.weight.add_(1)
    assert frozen_sha256(model) == before
    with torch.no_grad():
        model.frozen.weight.add_(1)
    assert frozen_sha256(model) != before
    assert frozen_sha256(nn.Linear(2, 2)) is None


def test_a_checkpoint_of_another_shape_names_the_tensor() -> None:
    with pytest.raises(DamagedFileError, match=r"weight has shape \(2, 3\), the model \(3, 3\)"):
        load_model_tensors(nn.Linear(3, 3), {"weight": torch.ones(2, 3), "bias": torch.ones(3)})
