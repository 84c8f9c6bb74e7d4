"""A tuned model on disk: a plain one, and what its tuning method added if that stays apart."""

from collections.abc import Sequence
from pathlib import Path

import safetensors.torch
from torch import nn

from attnlab.assets.tensors import decode_safetensors
from attnlab.errors import DamagedFileError, UserError
from attnlab.models.encoder import EncoderCheckpoint
from attnlab.recipes.classify.settings import MODEL
from attnlab.runs.files import replace_file
from attnlab.runs.manifest import read_sealed
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import Tuned, apply_tuning

ADDED = "tuning.safetensors"
"""What a tuning method added to the model in the same folder."""


def write_tuned(
    tuned: Tuned, checkpoint: EncoderCheckpoint, folder: Path, *, classes: Sequence[str]
) -> None:
    """Write a model, and beside it what a plain one does not have."""
    there = tuned.model.state_dict()
    added = {name: there[name].cpu().contiguous() for name in tuned.added & there.keys()}
    checkpoint.write(tuned.model, folder, classes=classes, without=added)
    if added:
        replace_file(folder / ADDED, safetensors.torch.save(added))


def export_note(tuned: Tuned) -> str:
    """Say what of a written model is in a file of its own, and why; nothing of a plain one."""
    if not tuned.added & tuned.model.state_dict().keys():
        return ""
    why = "tuning.merge = true merges it" if tuned.can_merge else "no plain model has room for it"
    return (
        f"{MODEL}/{ADDED} holds what {tuned.method} has added to the model ({why}): attnlab"
        " classify predict reads both, transformers would answer without it"
    )


def need_plain(folder: Path) -> None:
    """Refuse to train a model that is not whole without what tuning has added to it."""
    if (folder / ADDED).is_file():
        raise UserError(
            f"{folder} has {ADDED}: what prompt, prefix, lora or ia3 has added to the"
            " model would be left out. Begin from the model that its run began from; lora and ia3"
            " with tuning.merge = true leave a model to begin from."
        )


def load_tuned(model: nn.Module, settings: TuningSettings, folder: Path) -> None:
    """Give a plain model what its tuning method added to it, if that is in a file of its own."""
    path = folder / ADDED
    if not path.is_file():
        return
    added = decode_safetensors(read_sealed(path), path)
    tuned = apply_tuning(model, settings, seed=0)
    if added.keys() != tuned.added:
        odd = ", ".join(sorted(added.keys() ^ tuned.added))
        raise DamagedFileError(
            f"{path} is not of the tuning {settings.name!r}: it differs in {odd}."
        )
    there = model.state_dict()
    for name, value in added.items():
        if value.shape != there[name].shape:
            raise DamagedFileError(
                f"{path}: {name} has the shape {list(value.shape)}, the model"
                f" {list(there[name].shape)}."
            )
    model.load_state_dict(added, strict=False)
