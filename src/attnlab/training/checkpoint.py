"""Checkpoints that survive a crash at any moment, and damage to which is detected.

    checkpoints/step-00000500/
        model.safetensors       trainable parameters and buffers by name, tied ones once
        optimizer.safetensors   the optimizers' tensors, PARAMETER/KEY
        state.json              step, best score, patience, schedules, length of metrics.jsonl
        manifest.json           SHA-256 of the three

A checkpoint is written under another name, synced and renamed: under its final name it is complete.
No pickle is ever read.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor, nn

from attnlab.assets.tensors import decode_safetensors
from attnlab.errors import DamagedFileError
from attnlab.runs.files import naming_the_path, parse_object, sync_folder, to_json, write_synced
from attnlab.runs.manifest import MANIFEST, parse_manifest, read_sealed

MODEL, OPTIMIZER = "model.safetensors", "optimizer.safetensors"
STATE = "state.json"
EXPECTED = {MODEL, OPTIMIZER, STATE}
_STEP = re.compile(r"step-(\d{8,})")


@dataclass(frozen=True)
class Checkpoint:
    """One moment of a run."""

    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    state: Mapping[str, Any]


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one run."""

    folder: Path
    keep_last: int

    def path(self, step: int) -> Path:
        """Return where the checkpoint of a step lives."""
        return self.folder / f"step-{step:08d}"

    def steps(self) -> list[int]:
        """List the steps that have a checkpoint under its final name, newest first."""
        if not self.folder.is_dir():
            return []
        matches = (_STEP.fullmatch(entry.name) for entry in self.folder.iterdir())
        return sorted((int(match[1]) for match in matches if match), reverse=True)

    def save(self, step: int, checkpoint: Checkpoint) -> None:
        """Write the checkpoint of a step, then remove those that are no longer needed."""
        contents = {
            MODEL: _encode(checkpoint.model),
            OPTIMIZER: _encode(checkpoint.optimizer),
            STATE: to_json(checkpoint.state),
        }
        manifest = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        contents[MANIFEST] = to_json(manifest)
        temporary = self.folder / f".tmp-{self.path(step).name}"
        with naming_the_path(self.path(step)):
            try:
                temporary.mkdir(parents=True)
                for name, content in contents.items():
                    write_synced(temporary / name, content)
                sync_folder(temporary)
                temporary.rename(self.path(step))
            except OSError:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
            sync_folder(self.folder)
        self.prune(best=checkpoint.state.get("best_step"))

    def load(self, step: int) -> Checkpoint:
        """Read one checkpoint; every byte is checked against the manifest first."""
        contents = self._verified(step, EXPECTED)
        folder = self.path(step)
        return Checkpoint(
            decode_safetensors(contents[MODEL], folder / MODEL),
            decode_safetensors(contents[OPTIMIZER], folder / OPTIMIZER),
            parse_object(contents[STATE], folder / STATE),
        )

    def load_model(self, step: int) -> dict[str, Tensor]:
        """Read only the weights, for inference."""
        return decode_safetensors(self._verified(step, {MODEL})[MODEL], self.path(step) / MODEL)

    def problem(self, step: int) -> str | None:
        """Say what is wrong with a checkpoint, if anything."""
        try:
            self.load(step)
        except DamagedFileError as error:
            return str(error)
        return None

    def newest_complete(self, warn: Callable[[str], None]) -> int | None:
        """Find the newest checkpoint that is whole.

        Damaged ones are reported to ``warn`` and set aside. If none is whole, nothing is touched
        and the damage is the error.
        """
        problems: dict[int, str] = {}
        for step in self.steps():
            problem = self.problem(step)
            if problem:
                problems[step] = problem
                continue
            for damaged, problem in problems.items():
                warn(f"{problem} Going back to the checkpoint of step {step}.")
                self._set_aside(damaged)
            return step
        if problems:
            raise DamagedFileError(
                f"no checkpoint in {self.folder} is whole: {' '.join(problems.values())}"
                " Restore one from a copy, or delete the run's folder to start again."
            )
        return None

    def remove_leftovers(self) -> None:
        """Delete what a crash left half written or half deleted."""
        for path in self.folder.glob(".tmp-*"):
            shutil.rmtree(path, ignore_errors=True)

    def prune(self, *, best: int | None) -> None:
        """Remove the checkpoints that are neither among the newest nor the best one."""
        for step in self.steps()[self.keep_last :]:
            if step != best:
                doomed = self.folder / f".tmp-{self.path(step).name}"
                self.path(step).rename(doomed)  # one rename, so that no half is ever visible
                shutil.rmtree(doomed, ignore_errors=True)

    def _verified(self, step: int, wanted: Set[str]) -> dict[str, bytes]:
        """Read files of a checkpoint after comparing them with its manifest."""
        folder = self.path(step)
        if not (folder / MANIFEST).is_file():
            raise DamagedFileError(f"the checkpoint {folder} is damaged: {MANIFEST} is missing.")
        manifest = parse_manifest(read_sealed(folder / MANIFEST), folder / MANIFEST)
        if manifest.keys() != EXPECTED:
            raise DamagedFileError(
                f"the checkpoint {folder} is damaged: {MANIFEST} names {sorted(manifest)},"
                f" not {sorted(EXPECTED)}."
            )
        contents = {}
        for name in sorted(wanted):
            path = folder / name
            contents[name] = path.read_bytes() if path.is_file() else b""
            if hashlib.sha256(contents[name]).hexdigest() != manifest[name]:
                raise DamagedFileError(
                    f"the checkpoint {folder} is damaged: {name} is not what was saved."
                )
        return contents

    def _set_aside(self, step: int) -> None:
        target = self.folder / f"damaged-{self.path(step).name}"
        shutil.rmtree(target, ignore_errors=True)
        self.path(step).rename(target)


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return what training may change: trainable parameters once each, and saved buffers."""
    trainable = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
    saved = model.state_dict().keys()
    return trainable | {n: b for n, b in model.named_buffers() if n in saved}


def load_model_tensors(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy saved tensors into the model they came from."""
    targets = model_tensors(model)
    if targets.keys() != tensors.keys():
        odd = ", ".join(sorted(targets.keys() ^ tensors.keys()))
        raise DamagedFileError(f"the checkpoint does not fit this model; it differs in: {odd}.")
    for name, target in targets.items():
        if target.shape != tensors[name].shape:
            raise DamagedFileError(
                f"the checkpoint does not fit this model: {name} has shape"
                f" {tuple(tensors[name].shape)}, the model {tuple(target.shape)}."
            )
        target.copy_(tensors[name])


def frozen_sha256(model: nn.Module) -> str | None:
    """Hash the parameters that training leaves alone; a checkpoint fits no others."""
    frozen = {n: p for n, p in model.named_parameters() if not p.requires_grad}
    if not frozen:
        return None
    digest = hashlib.sha256()
    for name in sorted(frozen):
        digest.update(name.encode())
        digest.update(_encode({"": frozen[name].detach()}))
    return digest.hexdigest()


def _encode(tensors: Mapping[str, Tensor]) -> bytes:
    return safetensors.torch.save({n: t.detach().cpu().contiguous() for n, t in tensors.items()})
