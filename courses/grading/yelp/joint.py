"""Problem 3: does BertForCLSMLM have both heads on one body, and is it trained on both losses?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grading.findings import Finding, judge, not_judged
from grading.probing import Answer
from grading.yelp import classifier, heads, masked_lm

NAME = "BertForCLSMLM"
RUNS = f"mymodel.py: {NAME}.from_pretrained(folder, 5) is read; masked(…) scores all tokens"
MASKED = replace(masked_lm.HEAD, call="masked")
CLASSES = tuple(
    check._replace(name=f"{check.name} of the classes")
    for check in (classifier.SCORES, classifier.LOSS, classifier.GRADIENT)
)
TOKENS = tuple(
    check._replace(name=f"{check.name} of the tokens")
    for check in (masked_lm.SCORES, masked_lm.LOSS, masked_lm.GRADIENT)
)
ALPHA = 0.3
JOINT = "joint loss", "the loss of the classes + alpha · the loss of the masked tokens"
LEARNS = "learns both", "a few steps of training on the joint loss lower both"


def request(folder: Path) -> dict[str, Any]:
    """Say what the probe is to run."""
    asked = heads.request(folder, NAME, [classifier.HEAD, MASKED], classes=True)
    streams = [("classification", classifier.HEAD.name), ("masked", MASKED.name)]
    return {**asked, "kind": "joint", "alpha": ALPHA, "streams": streams}


def grade(answer: Answer) -> list[Finding]:
    """Judge what the probe ran."""
    found = heads.grade(answer, RUNS, [(classifier.HEAD, CLASSES), (MASKED, TOKENS)])
    if not found[0].passed:
        return found + [not_judged(*check, "it does not run") for check in (JOINT, LEARNS)]
    said, arrays = answer
    if why := said["failures"].get("joint/losses"):
        return [*found, judge(*JOINT, why, ""), not_judged(*LEARNS, "it does not run")]
    before, after = torch.from_numpy(arrays["joint/losses"])
    return [*found, _joint_loss(before), _learns(before, after)]


def _joint_loss(losses: Tensor) -> Finding:
    total, classes, tokens = losses.tolist()
    right = {
        "classes + alpha · tokens": classes + ALPHA * tokens,
        "(1 - alpha) · classes + alpha · tokens": (1 - ALPHA) * classes + ALPHA * tokens,
    }
    wrong = {
        "alpha weighs the loss of the classes": ALPHA * classes + tokens,
        "alpha is not used": classes + tokens,
        "the loss of the masked tokens is left out": classes,
        "the loss of the classes is left out": ALPHA * tokens,
    }
    named = {said: abs(total - value) < 1e-6 for said, value in (right | wrong).items()}
    same = next((said for said, is_same in named.items() if is_same), "")
    wanted = right["classes + alpha · tokens"]
    off = f"{total:.4g} instead of {wanted:.4g}" + (f": {same}" if same else "")
    return judge(*JOINT, None if same in right else off, same)


def _learns(before: Tensor, after: Tensor) -> Finding:
    names = ("classes", "tokens")
    pairs = list(zip(names, before[1:].tolist(), after[1:].tolist(), strict=True))
    seen = ", ".join(f"{name} from {a:.3g} to {b:.3g}" for name, a, b in pairs)
    learned = all(b < heads.LOWER * a for _, a, b in pairs)
    return judge(*LEARNS, None if learned else seen, seen)
