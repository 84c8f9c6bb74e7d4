"""Problem 3, 1(b): are the MLM inputs masked as the assignment says, and are their labels right?

Shares are compared with what chance allows: five standard deviations.
"""

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grading.findings import Finding, judge, not_judged
from grading.probing import Answer
from grading.yelp.checkpoint import CLS, MASK, PAD, SEP, SIZE

SHARES = (0.15, 0.4)
"""The document's, and another: the flag must be used."""
N_ROWS, LONGEST, DRAWS = 40, 30, 40
FIRST_WORD = 5
"""The tokens before it are special."""
IGNORED = -100
DEVIATIONS = 5.0
RUNS = "classifier_mlm.py: get_mlm_inputs(rows, tokenizer, mlm_probability) returns inputs, labels"


class Masked(NamedTuple):
    """All draws with one share: inputs, labels and the rows they come from, (draws, B, T)."""

    share: float
    inputs: np.ndarray
    labels: np.ndarray
    originals: np.ndarray

    @property
    def is_chosen(self) -> np.ndarray:
        """Where there is something to predict."""
        return self.labels != IGNORED

    @property
    def is_word(self) -> np.ndarray:
        """Where there is a token that is not special."""
        return self.originals >= FIRST_WORD


def request(folder: Path, *, seed: int = 0, draws: int = DRAWS) -> dict[str, Any]:
    """Say what the probe is to run."""
    asked = {"kind": "masking", "checkpoint": str(folder), "shares": SHARES}
    return {**asked, "rows": rows(), "seed": seed, "draws": draws}


def rows() -> list[list[int]]:
    """Return rows of different lengths, [CLS] … [SEP] each."""
    rng = np.random.default_rng(0)
    lengths = [LONGEST, *rng.integers(5, LONGEST, N_ROWS - 1)]
    return [[CLS, *rng.integers(FIRST_WORD, SIZE.vocab_size, n - 2).tolist(), SEP] for n in lengths]


def grade(answer: Answer) -> list[Finding]:
    """Judge what the probe ran."""
    said, arrays = answer
    problem = said.get("fatal")
    findings = [judge("runs", RUNS, problem, f"{len(arrays)} shares")]
    if problem is not None:
        return findings + [
            not_judged(name, wanted, "it does not run") for name, wanted, _ in CHECKS
        ]
    originals = np.full((N_ROWS, LONGEST), PAD)
    for line, row in zip(originals, rows(), strict=True):
        line[: len(row)] = row
    drawn = [
        Masked(share, found[:, 0], found[:, 1], np.broadcast_to(originals, found[:, 0].shape))
        for share, found in ((share, arrays[str(share)]) for share in SHARES)
    ]
    return findings + [judge(name, wanted, *_first(check, drawn)) for name, wanted, check in CHECKS]


def _first(check: Callable[[Masked], tuple[str | None, str]], drawn: list[Masked]) -> Any:
    """Return the first problem, or what was seen with the document's share."""
    verdicts = [check(one) for one in drawn]
    return next((verdict for verdict in verdicts if verdict[0]), verdicts[0])


def special(masked: Masked) -> tuple[str | None, str]:
    """Check that [CLS], [SEP] and padding stay, and are never to be predicted."""
    names = {CLS: "[CLS]", SEP: "[SEP]", PAD: "padding"}
    for token, name in names.items():
        there = masked.originals == token
        if masked.is_chosen[there].any():
            return f"{name} is to be predicted in {masked.is_chosen[there].mean():.0%} of cases", ""
        if (masked.inputs[there] != token).any():
            return f"{name} becomes another token", ""
    return None, "they stay as they are"


def targets(masked: Masked) -> tuple[str | None, str]:
    """Check that a label is the original token."""
    is_chosen = masked.is_chosen & masked.is_word
    labels, originals = masked.labels[is_chosen], masked.originals[is_chosen]
    if not labels.size:
        return "there are no labels: all are -100", ""
    wrong = labels != originals
    if not wrong.any():
        return None, f"{labels.size} labels"
    same = (labels == masked.inputs[is_chosen]).all()
    why = ": the labels are the masked inputs" if same else ""
    return f"{wrong.mean():.0%} of the labels are not the original token{why}", ""


def others(masked: Masked) -> tuple[str | None, str]:
    """Check that a token without a label is not changed."""
    rest = ~masked.is_chosen & masked.is_word
    changed = (masked.inputs != masked.originals) & rest
    problem = f"{changed.sum() / rest.sum():.1%} of them are changed" if changed.any() else None
    return problem, "they stay as they are"


def share(masked: Masked) -> tuple[str | None, str]:
    """Check how many tokens are chosen."""
    found = masked.is_chosen[masked.is_word]
    problem = _unlikely(found, masked.share)
    seen = f"{found.mean():.1%} at mlm_probability {masked.share}"
    return (seen if problem else None), seen


def kinds(masked: Masked) -> tuple[str | None, str]:
    """Check what becomes of the chosen tokens."""
    is_chosen = masked.is_chosen & masked.is_word
    inputs, originals = masked.inputs[is_chosen], masked.originals[is_chosen]
    if not inputs.size:
        return "no token is chosen", ""
    is_mask, is_same = inputs == MASK, inputs == originals
    found = {"[MASK]": is_mask, "random": ~is_mask & ~is_same, "unchanged": is_same}
    seen = ", ".join(f"{part.mean():.1%} {name}" for name, part in found.items())
    wanted = zip(found.values(), (0.8, 0.1, 0.1), strict=True)
    return (seen if any(_unlikely(part, p) for part, p in wanted) else None), seen


def fresh(masked: Masked) -> tuple[str | None, str]:
    """Check that every call chooses other tokens."""
    same = (masked.is_chosen == masked.is_chosen[:1]).all()
    return ("every call masks the same tokens" if same else None), f"{len(masked.inputs)} calls"


def _unlikely(found: np.ndarray, p: float) -> bool:
    """Say whether a share is not what chance makes of a probability.

    A random token is the original or [MASK] now and then, which moves the shares a little.
    """
    slack = 0.1 * 2 / (SIZE.vocab_size - FIRST_WORD)
    return bool(abs(found.mean() - p) > DEVIATIONS * sqrt(p * (1 - p) / found.size) + slack)


CHECKS: tuple[tuple[str, str, Callable[[Masked], tuple[str | None, str]]], ...] = (
    ("special tokens", "[CLS], [SEP] and padding are never masked", special),
    ("targets", "a label is the original token", targets),
    ("other tokens", "a token that is not chosen stays, and its label is -100", others),
    ("fresh draws", "every call masks other tokens", fresh),
    ("15 %", "tokens are chosen with mlm_probability", share),
    ("80/10/10", "80 % [MASK], 10 % a random token, 10 % unchanged", kinds),
)
