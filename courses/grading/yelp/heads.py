"""What the checks of all heads share: a submission's scores and losses next to ours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.models.bert import BertForCLSMLM
from grading.findings import Finding, judge, not_judged
from grading.probing import Answer
from grading.yelp import checkpoint
from grading.yelp.checkpoint import Inputs

TOLERANCE = {"float64": 1e-8, "float32": 1e-4}
"""By the precision in which the submission runs."""
LOWER = 0.97
"""Of the first loss: what a few steps of training must come below."""
Verdict = tuple[str | None, str]
"""The problem, or what was seen where there is none."""
Mistakes = Mapping[str, Tensor]
"""What usual mistakes give, by what is to be said of them."""


class Check(NamedTuple):
    """A check of what was recorded of a head."""

    name: str
    wanted: str
    verdict: Callable[["Recorded"], Verdict]


@dataclass(frozen=True)
class Recorded:
    """What the probe recorded of one head, and the reference."""

    arrays: Mapping[str, np.ndarray]
    failures: Mapping[str, str]
    tolerance: float
    inputs: Inputs

    def __getitem__(self, key: str) -> Tensor:
        """Return what was recorded under a name."""
        return torch.from_numpy(self.arrays[key])

    def close(self, a: Tensor, b: Tensor) -> bool:
        """Say whether two results are equal, but for rounding."""
        return a.shape == b.shape and self.distance(a, b) < self.tolerance

    def distance(self, a: Tensor, b: Tensor) -> float:
        """Return the largest difference."""
        return float((a - b).abs().nan_to_num(nan=torch.inf).max())

    def named(self, found: Tensor, mistakes: Mistakes) -> str:
        """Say which usual mistake gives the same, if one does."""
        same = (f": {said}" for said, wrong in mistakes.items() if self.close(found, wrong))
        return next(same, "")


def cases(inputs: Inputs) -> dict[str, Any]:
    """Return the batch, and the same texts with other padding."""
    longer = Inputs(*(F.pad(part, (0, 3)) for part in inputs[:3]), inputs.labels)
    other = torch.where(inputs.mask == 1, inputs.ids, checkpoint.ABSENT)
    return {
        "plain": inputs.data(),
        "longer": longer.data(),
        "other padding": inputs._replace(ids=other).data(),
    }


@dataclass(frozen=True)
class Head:
    """A forward pass of a model: what it is called with, and the shape of its scores."""

    name: str
    call: str
    """The method."""
    inputs: Inputs
    shape: tuple[int, ...]

    def request(self) -> dict[str, Any]:
        """Say how the probe is to call it."""
        return {"call": self.call, "cases": cases(self.inputs), "absent": checkpoint.ABSENT}

    def recorded(self, answer: Answer) -> Recorded:
        """Take what was recorded of it out of an answer."""
        (said, arrays), own = answer, f"{self.name}/"
        return Recorded(
            {key.removeprefix(own): array for key, array in arrays.items() if key.startswith(own)},
            {
                key.removeprefix(own): why
                for key, why in said["failures"].items()
                if key.startswith(own)
            },
            TOLERANCE[said["dtype"]],
            self.inputs,
        )

    def problem(self, answer: Answer) -> str | None:
        """Say why its scores cannot be compared with ours."""
        found = self.recorded(answer)
        if why := found.failures.get("scores plain"):
            return why
        shape = tuple(found["scores plain"].shape)
        return None if shape == self.shape else f"the scores have shape {shape}, not {self.shape}"


def request(folder: Path, name: str, heads: Iterable[Head], *, classes: bool) -> dict[str, Any]:
    """Say what the probe is to run: a class and its heads."""
    return {
        "kind": "model",
        "class": name,
        "checkpoint": str(folder),
        "num_labels": checkpoint.N_CLASSES if classes else None,
        "weights": checkpoint.heads(),
        "heads": {head.name: head.request() for head in heads},
    }


def grade(
    answer: Answer, wanted: str, heads: Sequence[tuple[Head, Sequence[Check]]]
) -> list[Finding]:
    """Judge a model: whether it runs, then every check of every head."""
    problem = answer[0].get("fatal")
    if problem is None:
        found = (head.problem(answer) for head, _ in heads)
        problem = next(filter(None, found), None)
    findings = [judge("runs", wanted, problem, f"in {answer[0].get('dtype')}")]
    for head, checks in heads:
        if problem is None:
            findings += _judged(checks, head.recorded(answer))
        else:
            findings += [not_judged(c.name, c.wanted, "it does not run") for c in checks]
    return findings


def _judged(checks: Iterable[Check], found: Recorded) -> list[Finding]:
    """Judge every check; one whose numbers are missing fails with the reason."""
    findings = []
    for check in checks:
        try:
            problem, seen = check.verdict(found)
        except KeyError as missing:
            problem, seen = found.failures[missing.args[0]], ""
        findings.append(judge(check.name, check.wanted, problem, seen))
    return findings


def padding(found: Recorded) -> Verdict:
    """Check that neither the number of padded places nor what they hold changes anything."""
    plain, longer, other = (
        _of_tokens(found, found[f"scores {name}"]) for name in ("plain", "longer", "other padding")
    )
    if not found.close(plain, longer):
        return f"three more places of padding change it by {found.distance(plain, longer):.2g}", ""
    if not found.close(plain, other):
        return f"other tokens in the padding change it by {found.distance(plain, other):.2g}", ""
    return None, "nothing changes"


def _of_tokens(found: Recorded, scores: Tensor) -> Tensor:
    """Leave out the scores of padding, which mean nothing, if there is one per place."""
    is_token = found.inputs.mask == 1
    return scores[:, : is_token.shape[1]][is_token] if scores.dim() == 3 else scores


def same_in_evaluation(found: Recorded) -> Verdict:
    """Check that evaluation is not random."""
    off = found.distance(found["scores plain"], found["scores again"])
    return (
        f"two passes differ by {off:.2g}" if off > found.tolerance else None
    ), "two equal passes"


def gradient(found: Recorded, reference: Iterable[str]) -> Verdict:
    """Check that the loss reaches the parameters of the body that it reaches in ours."""
    reached = set(found.arrays["reached"].tolist())
    wanted = {name.replace("body.", "bert.", 1) for name in reference if name.startswith("body.")}
    missing = sorted(wanted - reached)
    own = [name for name in reached if not name.startswith("bert.")]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return f"no gradient reaches {missing[0]}{more}", ""
    return (None if own else "no gradient reaches the head"), f"{len(reached)} parameters"


def reached_in(model: BertForCLSMLM, loss: Tensor) -> list[str]:
    """Return the parameters of ours that a loss reaches."""
    model.zero_grad()
    loss.backward()
    named = model.named_parameters()
    return [name for name, p in named if p.grad is not None and float(p.grad.abs().max()) > 1e-12]


def learns(found: Recorded) -> Verdict:
    """Check that a few steps of training lower the loss, and leave the model in training."""
    first, last = found.arrays["losses"].tolist()
    if not bool(found.arrays["stays in training"]):
        return "a forward pass puts the model into evaluation mode", ""
    seen = f"from {first:.3g} to {last:.3g}"
    return (None if last < LOWER * first else seen), seen


def total_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy, summed over what is labelled."""
    return F.cross_entropy(scores.flatten(0, -2), labels.flatten(), reduction="sum")
