"""Problem 3: does BertForCLSMLM have both heads on one body, and is it trained on both losses?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from grading.findings import Finding
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


def request(folder: Path) -> dict[str, Any]:
    """Say what the probe is to run."""
    return heads.request(folder, NAME, [classifier.HEAD, MASKED], classes=True)


def grade(answer: Answer, folder: Path) -> list[Finding]:
    """Judge what the probe ran."""
    return heads.grade(answer, folder, RUNS, [(classifier.HEAD, CLASSES), (MASKED, TOKENS)])
