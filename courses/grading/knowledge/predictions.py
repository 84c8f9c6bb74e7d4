"""A submission's predictions, its weights, and what its author has not written yet."""

from collections.abc import Sequence
from pathlib import Path

from attnlab.assets.tensors import read_tensors
from attnlab.data.knowledge_files import read_questions
from attnlab.errors import UserError, did_you_mean
from grading.accuracy import accuracy_of, collapse
from grading.findings import Finding, judge, not_judged
from grading.submission import unwritten

NO_PRETRAINING, VANILLA, SYNTHESIZER = (
    "vanilla.nopretrain",
    "vanilla.pretrain",
    "synthesizer.pretrain",
)
PARTS = {NO_PRETRAINING: "2(d)", VANILLA: "2(f)", SYNTHESIZER: "2(g)"}
CODE = {NO_PRETRAINING: "c", VANILLA: "cef", SYNTHESIZER: "cefg"}
"""The parts of the code that the predictions of a model need."""
EXPECTED = {f"{model}.{split}.predictions" for model in PARTS for split in ("dev", "test")}
PARAMS = "synthesizer.finetune.params"
LONDON = "London"
NEEDS_LABELS = "give the answers with --labels birth_test.tsv"


def read_labels(path: Path) -> list[str]:
    """Read the answers of the test set; a file without answers is a mistake."""
    answers = [question.answer for question in read_questions(path, labelled=True)]
    labels = [answer.strip() for answer in answers if answer is not None]
    if not labels:
        raise UserError(f"{path} has no labels.")
    return labels


def grade_file(folder: Path, model: str, split: str, labels: Sequence[str] | None) -> Finding:
    """Check that a model's predictions are there, one for each question."""
    n = len(labels) if labels is not None and split == "test" else None
    predicted, problem = read_predictions(folder, model, split, n)
    wanted = "one prediction per question" + (f", {n} lines" if n else "")
    return judge(f"{model}.{split}.predictions", wanted, problem, f"{len(predicted)} lines")


def read_predictions(
    folder: Path, model: str, split: str, n: int | None
) -> tuple[list[str], str | None]:
    """Read the lines of a file, or say what is wrong with it and what to do."""
    name = f"{model}.{split}.predictions"
    path = folder / name
    if not path.is_file():
        others = {entry.name for entry in folder.iterdir()} - EXPECTED
        return [], f"it is missing.{did_you_mean(name, others)} {_what_to_do(folder, model)}"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return [], f"cannot be read: {error}"
    lines = text.removesuffix("\n").split("\n")
    if not text:
        return [], f"it is empty. {_what_to_do(folder, model)}"
    if n is not None and len(lines) != n:
        return [], f"it has {len(lines)} lines, the labels have {n}"
    return lines, None


def _what_to_do(folder: Path, model: str) -> str:
    """Name the first place in the code that still has to be written, then the command."""
    command = f"run the commands of {PARTS[model]}"
    todos = unwritten(folder / "src")
    for part in CODE[model]:
        if todo := next((todo for todo in todos if todo.startswith(f"[part {part}]")), None):
            return f"Write {todo}; then {command}."
    return f"{command[0].upper()}{command[1:]}."


def grade_accuracy(
    folder: Path, model: str, labels: Sequence[str] | None, *, at_least: float
) -> tuple[list[Finding], list[str]]:
    """Compare the predictions of the test set with the labels; return notes for the teacher too."""
    name = f"{model}.test.predictions"
    n = None if labels is None else len(labels)
    predicted, problem = read_predictions(folder, model, "test", n)
    wanted = f"at least {at_least:.1%}"
    learned = "right answers other than the most frequent one"
    if problem is not None:
        why = "there are no predictions to look at"
        return [judge(name, wanted, problem, ""), not_judged("not collapsed", learned, why)], []
    if labels is None:
        return [
            not_judged(c, w, NEEDS_LABELS) for c, w in ((name, wanted), ("not collapsed", learned))
        ], []
    right = sum(a == b for a, b in zip(labels, predicted, strict=True))
    seen = accuracy_of(right, len(labels))
    found = [
        judge(name, wanted, None if right >= at_least * len(labels) else seen, seen),
        judge("not collapsed", learned, collapse(labels, predicted),
              f"{len(set(predicted))} different answers"),
    ]  # fmt: skip
    london = sum(label == LONDON for label in labels)
    reached = "which reaches" if london >= at_least * len(labels) else "which does not reach"
    share = f"{london / len(labels):.1%}"
    return found, [f"always {LONDON} gives {share}, {reached} the {at_least:.1%} asked for."]


def grade_params(folder: Path) -> Finding:
    """Check that the weights are a synthesizer's."""
    wanted = "weights of a synthesizer: w1, w2, b2, and no query and key"
    path = folder / PARAMS
    if not path.is_file():
        return judge(PARAMS, wanted, f"it is missing. {_what_to_do(folder, SYNTHESIZER)}", "")
    try:
        names = list(read_tensors(path))
    except UserError as error:
        return judge(PARAMS, wanted, f"cannot be read as weights: {error}", "")
    ends = {str(name).rpartition("attn.")[2] for name in names}
    right = {"w2", "b2"} <= ends and not any(end.startswith(("query", "key")) for end in ends)
    found = ", ".join(sorted(ends)[:6])
    return judge(PARAMS, wanted, None if right else f"it holds {found}", f"{len(names)} tensors")
