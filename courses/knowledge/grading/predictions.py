"""A submission's files: accuracy on the labels that only the teacher has, and the weights."""

from collections.abc import Sequence
from pathlib import Path

from attnlab.assets.tensors import read_tensors
from attnlab.data.knowledge_files import read_questions
from attnlab.errors import UserError
from attnlab.evaluation.accuracy import collapse_verdict
from attnlab.evaluation.intervals import wilson
from grading.findings import Finding, judge

SYNTHESIZER, VANILLA = "synthesizer.pretrain.test.predictions", "vanilla.pretrain.test.predictions"
WANTED = {SYNTHESIZER: 0.05, VANILLA: 0.10}
PARAMS = "synthesizer.finetune.params"
LONDON = "London"


def read_labels(path: Path) -> list[str]:
    """Read the answers of the test set."""
    answers = [question.answer for question in read_questions(path, labelled=True)]
    return [answer.strip() for answer in answers if answer is not None]


def grade_accuracy(folder: Path, name: str, labels: Sequence[str]) -> tuple[Finding, list[str]]:
    """Compare a prediction file with the labels; return the finding and notes for the teacher."""
    share = WANTED[name]
    wanted = f"at least {share:.0%} of {len(labels)}"
    try:
        predicted = (folder / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        return judge(name, wanted, f"cannot be read: {error}", ""), []
    if len(predicted) != len(labels):
        lengths = f"it has {len(predicted)} lines, the labels have {len(labels)}"
        return judge(name, wanted, lengths, ""), []
    right = sum(a == b for a, b in zip(labels, predicted, strict=True))
    low, high = wilson(right, len(labels))
    seen = f"{right} right, {right / len(labels):.1%}, 95 % interval {low:.1%} – {high:.1%}"
    finding = judge(name, wanted, None if right >= share * len(labels) else seen, seen)
    return finding, _notes(name, labels, predicted)


def _notes(name: str, labels: Sequence[str], predicted: Sequence[str]) -> list[str]:
    """Say what guessing gives, and whether the model did anything else."""
    london = sum(label == LONDON for label in labels)
    share, wanted = london / len(labels), WANTED[name]
    reached = "which reaches" if london >= wanted * len(labels) else "which does not reach"
    notes = [f"{name}: always {LONDON} gives {share:.1%}, {reached} the {wanted:.0%} asked for."]
    verdict = collapse_verdict(labels, predicted)
    return [*notes, f"{name}: {verdict}."] if verdict else notes


def grade_params(folder: Path) -> Finding:
    """Check that the weights are a synthesizer's; for the teacher's information, without points."""
    wanted = "weights of a synthesizer: w1, w2, b2, and no query and key"
    path = folder / PARAMS
    if not path.is_file():
        return Finding(PARAMS, None, wanted, "it is missing", scored=False)
    try:
        names = list(read_tensors(path))
    except UserError as error:
        return Finding(PARAMS, False, wanted, f"cannot be read as weights: {error}", scored=False)
    ends = {str(name).rpartition("attn.")[2] for name in names}
    right = {"w2", "b2"} <= ends and not any(end.startswith(("query", "key")) for end in ends)
    return Finding(PARAMS, right, wanted, f"{len(names)} tensors", scored=False)


def check_labels(path: Path | None) -> list[str] | None:
    """Read the labels if there are any; a file without answers is a mistake."""
    if path is None:
        return None
    labels = read_labels(path)
    if not labels:
        raise UserError(f"{path} has no labels.")
    return labels
