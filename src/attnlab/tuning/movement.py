"""What training did to the parameters: the frozen ones are bit-equal, the others have moved."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnlab.errors import RunError
from attnlab.models.bert_names import listed
from attnlab.tuning.tuned import Tuned


@dataclass(frozen=True)
class Movement:
    """How many parameters stayed frozen, how many moved, and which should have moved too."""

    n_frozen: int
    n_moved: int
    still: tuple[str, ...]

    def describe(self) -> str:
        """Say it in one sentence."""
        moved = f"{self.n_moved} trained tensors moved"
        if self.still:
            moved += f", {len(self.still)} did not: {listed(self.still)}"
        return f"{self.n_frozen} frozen tensors are bit-equal, {moved}"


def fingerprints(model: nn.Module) -> dict[str, str]:
    """Hash every parameter, to compare it later; tied ones once.

    The model must have its final precision and its final tables by then.
    """
    return {name: _sha256(parameter.detach()) for name, parameter in model.named_parameters()}


def check_movement(tuned: Tuned, before: Mapping[str, str], *, steps: int) -> Movement:
    """Compare a trained model with its fingerprints before the first of these steps.

    A frozen parameter that changed is an error. One that should have moved and did not is
    reported: a tiny learning rate can be the reason.
    """
    after = fingerprints(tuned.model)
    assert after.keys() == before.keys(), "take the fingerprints last, and compare before merging"
    same_kind = all(_kind(after[name]) == _kind(before[name]) for name in after)
    assert same_kind, "place the model on its hardware first, then take its fingerprints"
    moved = {name for name in after if after[name] != before[name]}
    changed = moved - tuned.trainable.names
    if changed:
        raise RunError(
            f"tuning {tuned.method!r}: frozen tensors have changed during training:"
            f" {listed(changed)}. The result is not that of {tuned.method!r}."
        )
    excused = tuned.null_directions | (tuned.trainable.late if steps < 2 else frozenset())
    still = tuned.trainable.names - moved - excused
    return Movement(len(after) - len(tuned.trainable.names), len(moved), tuple(sorted(still)))


def _sha256(tensor: Tensor) -> str:
    """Return type and shape, and a hash of the numbers."""
    content = tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().data
    return f"{tensor.dtype} {tuple(tensor.shape)} {hashlib.sha256(content).hexdigest()}"


def _kind(fingerprint: str) -> str:
    return fingerprint.rpartition(" ")[0]
