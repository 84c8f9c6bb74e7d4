"""Steps 3 and 4: are the three lines, evaluation() and the main loop right, and does it all learn?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from grading.probing import Arrays
from grading.sst2 import toy
from grading.sst2.batches import Check, Said, Verdict, encoded
from grading.sst2.instruments import KEYS, flat, known_loader, small_model

SENTENCES = toy.sentences("dev")[:7]
RATE = 0.1
TOLERANCE = 1e-9
ENOUGH = 0.9
"""Accuracy on the toy test sentences; guessing gives about a half."""
SCRIPT = {
    "train": [(0.9, 0.5), (0.8, 0.6), (0.2, 0.9), (0.3, 0.8), (0.4, 0.7)],
    "dev": [(0.7, 0.6), (0.6, 0.8), (0.5, 0.7), (0.4, 0.5), (0.6, 0.75)],
    "test": [(0.1, 0.9), (0.6, 0.5), (0.6, 0.5), (0.6, 0.5), (0.6, 0.5)],
}
"""Loss and accuracy of each epoch: by every usual way of choosing, another epoch is the best."""
BEST = 2
CHOSEN = {
    1: "epoch 1, which is best on the test set: it must not choose",
    3: "epoch 3, which is best on train",
    4: "epoch 4, whose validation loss is lowest",
    5: "the last epoch: state_dict() is no copy, or the weights are not put back",
}


def request() -> dict[str, Any]:
    """Say what the probe is to run."""
    splits = {split: toy.sentences(split) for split in toy.COUNTS}
    return {**splits, "rows": known_rows(), "rate": RATE, "script": SCRIPT}


def known_rows() -> list[dict[str, Any]]:
    """Return sentences as the model reads them."""
    return [
        dict(zip(KEYS, (ids, [int(token != 0) for token in ids], label), strict=True))
        for ids, (_, label) in zip(encoded(SENTENCES), SENTENCES, strict=True)
    ]


class Reference:
    """What is right, and what usual mistakes give, with the same model and sentences."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder / toy.MODEL)

    def trained(self, order: str) -> np.ndarray:
        """Return the parameters after an epoch; ``order`` names zero_grad, backward and step."""
        model = small_model(self.folder)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        for batch in known_loader(known_rows()):
            ids, mask, labels = (batch[key] for key in KEYS)
            loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
            lines = {"z": optimizer.zero_grad, "b": loss.backward, "s": optimizer.step}
            for line in order:
                lines[line]()
        return flat(model)

    def evaluated(self, *, masked: bool = True) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return every sentence's loss, and whether it is right, batch by batch."""
        model, losses, right = small_model(self.folder).eval(), [], []
        with torch.no_grad():
            for batch in known_loader(known_rows()):
                ids, mask, labels = (batch[key] for key in KEYS)
                logits = model(input_ids=ids, attention_mask=mask if masked else None).logits
                losses.append(F.cross_entropy(logits, labels, reduction="none").numpy())
                right.append((logits.argmax(-1) == labels).double().numpy())
        return losses, right


def checks_of(folder: Path, arrays: Arrays) -> dict[str, tuple[Check, ...]]:
    """Return the checks of each part, given where the model is and what was recorded."""
    reference = Reference(folder)
    return {
        "3 training": (
            (
                "three lines",
                "training",
                "zero_grad, backward, step: in this order, for every batch",
                lambda _: three_lines(arrays["trained"], reference),
            ),
            ("training mode", "training", "the model is in training mode", in_training_mode),
        ),
        "3 evaluation": (
            (
                "evaluation mode",
                "evaluation",
                "the model is in evaluation mode",
                in_evaluation_mode,
            ),
            ("no_grad", "evaluation", "no gradient is recorded", without_gradients),
            ("changes nothing", "evaluation", "the parameters stay as they are", changes_nothing),
            ("loss", "evaluation", "the mean over sentences", _loss(reference)),
            (
                "accuracy",
                "evaluation",
                "the share of sentences that are right",
                _accuracy(reference),
            ),
        ),
        "4 main loop": (
            (
                "trains on train",
                "fit",
                "once per epoch, on the training set alone",
                trains_on_train,
            ),
            ("evaluates on validation", "fit", "on the validation set, never on test", evaluates),
            (
                "best epoch",
                "fit",
                "the weights of the best epoch on validation are kept",
                best_epoch,
            ),
            ("learns", "learned", f"at least {ENOUGH:.0%} of easy sentences right", learns),
        ),
    }


def in_training_mode(found: Said) -> Verdict:
    """Check the mode of every forward pass."""
    problem = None if all(found["training"]) else "the model is in evaluation mode: dropout is off"
    return (problem if found["training"] else "the model is never called"), "in every batch"


def three_lines(trained: np.ndarray, reference: Reference) -> Verdict:
    """Compare the parameters after an epoch with those that the right order gives."""
    mistakes = {
        "": "no parameter changes: step() comes before backward(), the gradients are cleared in"
        " between, or a line is missing",
        "bs": "gradients add up over the batches: zero_grad() is missing",
    }
    if _close(trained, reference.trained("zbs")):
        return None, "equal to ours"
    for order, said in mistakes.items():
        if _close(trained, reference.trained(order)):
            return said, ""
    return "the parameters are not those after zero_grad(), backward(), step()", ""


def in_evaluation_mode(found: Said) -> Verdict:
    """Check the mode of every forward pass."""
    problem = "the model is in training mode: dropout is on" if any(found["training"]) else None
    return (problem if found["training"] else "the model is never called"), "in every batch"


def without_gradients(found: Said) -> Verdict:
    """Check whether gradients were recorded."""
    return ("gradients are recorded" if any(found["gradients"]) else None), "none is recorded"


def changes_nothing(found: Said) -> Verdict:
    """Check that evaluation does not train."""
    return ("the parameters change" if found["changed"] else None), "nothing changes"


def _loss(reference: Reference) -> Callable[[Any], Verdict]:
    def verdict(found: Said) -> Verdict:
        losses, _ = reference.evaluated()
        unmasked, _ = reference.evaluated(masked=False)
        return _mean(found["loss"], losses, unmasked)

    return verdict


def _accuracy(reference: Reference) -> Callable[[Any], Verdict]:
    def verdict(found: Said) -> Verdict:
        _, right = reference.evaluated()
        _, unmasked = reference.evaluated(masked=False)
        if _close(found["accuracy"], 100 * np.concatenate(right).mean()):
            return f"{found['accuracy']:.4g} is in percent: return a share from 0 to 1", ""
        return _mean(found["accuracy"], right, unmasked)

    return verdict


def _mean(value: float, parts: list[np.ndarray], unmasked: list[np.ndarray]) -> Verdict:
    """Compare with the mean over sentences; name the usual mistakes."""
    wanted = float(np.concatenate(parts).mean())
    mistakes = {
        "it is averaged over batches, of which the last is smaller": [p.mean() for p in parts],
        "attention_mask is not passed to the model": np.concatenate(unmasked),
    }
    if _close(value, wanted):
        return None, f"{value:.4g}"
    named = (f": {said}" for said, wrong in mistakes.items() if _close(value, np.mean(wrong)))
    summed = {": it is a sum, not divided": sum(p.sum() for p in parts)}
    summed[": it is the sum of the batches' means"] = sum(p.mean() for p in parts)
    others = (said for said, wrong in summed.items() if _close(value, wrong))
    return f"{value:.4g} instead of {wanted:.4g}{next(named, next(others, ''))}", ""


def trains_on_train(found: Said) -> Verdict:
    """Check what was trained on, and how often."""
    trained = [split for what, split in found["calls"] if what == "train"]
    for split, called in (("dev", "validation"), ("test", "test")):
        if split in trained:
            return f"it trains on the {called} set", ""
    wanted, seen = len(SCRIPT["dev"]), f"{len(trained)} epochs"
    return (None if len(trained) == wanted else f"{seen} instead of {wanted}"), seen


def evaluates(found: Said) -> Verdict:
    """Check what was evaluated on."""
    evaluated = [split for what, split in found["calls"] if what == "evaluate"]
    if "test" in evaluated:
        return "it evaluates on the test set, which is for Step 5", ""
    n, wanted = evaluated.count("dev"), len(SCRIPT["dev"])
    seen = f"{n} times in {wanted} epochs"
    return (None if n >= wanted else f"it evaluates on the validation set {seen}"), seen


def best_epoch(found: Said) -> Verdict:
    """Check which weights are left in the model."""
    kept = found["kept"]
    seen = f"epoch {kept}"
    if kept == BEST:
        return None, seen
    ends = f"the model ends with the weights of {CHOSEN.get(kept, seen)}"
    return f"{ends}; epoch {BEST} has the best validation accuracy", ""


def learns(found: float) -> Verdict:
    """Check the accuracy of all parts together."""
    seen = f"{found:.0%} right"
    return (None if found >= ENOUGH else f"{seen} after training"), seen


def _close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=TOLERANCE))
