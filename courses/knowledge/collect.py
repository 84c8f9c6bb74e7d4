"""Packs a submission: the code in src/, its nine output files, and a MANIFEST of them all.

    bash collect_submission.sh NAME    # in the folder of the assignment: assignment_NAME.zip

Everything is checked before anything is written.
"""

from pathlib import Path

from attnlab.cli.packing import main, need_files
from attnlab.errors import UserError

CODE = ("src/dataset.py", "src/attention.py", "src/run.py")
"""Without these there is nothing to grade; all other Python files in src/ are packed too."""
ARTEFACTS = (
    "vanilla.model.params",
    "vanilla.nopretrain.dev.predictions",
    "vanilla.nopretrain.test.predictions",
    "vanilla.finetune.params",
    "vanilla.pretrain.dev.predictions",
    "vanilla.pretrain.test.predictions",
    "synthesizer.finetune.params",
    "synthesizer.pretrain.dev.predictions",
    "synthesizer.pretrain.test.predictions",
)
QUESTIONS = {".dev.": "birth_dev.tsv", ".test.": "birth_test_inputs.tsv"}


def find(folder: Path) -> list[str]:
    """Return what is packed; refuse missing and empty files, and predictions of a wrong length."""
    need_files(folder, [*CODE, *ARTEFACTS])
    problems = [problem for name in ARTEFACTS if (problem := wrong_length(folder, name))]
    if problems:
        raise UserError("; ".join(problems) + ".")
    code = sorted(path for path in (folder / "src").rglob("*.py") if path.is_file())
    return [*(str(path.relative_to(folder)) for path in code), *ARTEFACTS]


def wrong_length(folder: Path, name: str) -> str | None:
    """Say if there are not as many predictions as questions, if the questions are in the folder."""
    asked = next((file for part, file in QUESTIONS.items() if part in name), None)
    if asked is None or not (folder / asked).is_file():
        return None
    found = len((folder / name).read_bytes().removesuffix(b"\n").split(b"\n"))
    lines = (folder / asked).read_bytes().split(b"\n")
    expected = sum(bool(line.strip()) for line in lines)
    if found == expected:
        return None
    return f"{name} has {found} lines, but {asked} has {expected} questions"


if __name__ == "__main__":
    main(find)
