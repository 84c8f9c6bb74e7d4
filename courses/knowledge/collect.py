"""Packs a submission: the code in src/, its nine output files, and a MANIFEST of them all.

    bash collect_submission.sh NAME    # in the folder of the assignment: assignment_NAME.zip

Needs only Python. Everything is checked before anything is written.
"""

import difflib
import hashlib
import re
import sys
import zipfile
from pathlib import Path

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
USAGE = "usage: bash collect_submission.sh NAME   (letters, digits, - and _; e.g. ada_lovelace)"


class SubmissionError(Exception):
    """What keeps a submission from being packed, worded for its author."""


def collect(name: str, folder: Path) -> Path:
    """Check the folder and write the zip under a temporary name first, so that it is never half."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise SubmissionError(f"NAME may have letters, digits, - and _ only, not {name!r}.")
    check(folder)
    code = sorted(path for path in (folder / "src").rglob("*.py") if path.is_file())
    files = [str(path.relative_to(folder)) for path in code] + list(ARTEFACTS)
    target = folder / f"assignment_{name}.zip"
    partial = target.with_name(f".{target.name}.part")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in files:
                packed.write(folder / file, file)
            packed.writestr("MANIFEST", manifest(folder, files))
        partial.replace(target)
    except OSError as error:
        raise SubmissionError(f"cannot write {target}: {error.strerror or error}.") from None
    finally:
        partial.unlink(missing_ok=True)
    return target


def check(folder: Path) -> None:
    """Refuse missing and empty files and predictions of the wrong length, all in one message."""
    wanted = [*CODE, *ARTEFACTS]
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        named = ", ".join(f"{name}{nearest(folder, name)}" for name in missing)
        raise SubmissionError(f"missing in {folder}: {named}.")
    empty = [name for name in wanted if not (folder / name).stat().st_size]
    if empty:
        raise SubmissionError(f"empty: {', '.join(empty)}.")
    problems = [problem for name in ARTEFACTS if (problem := wrong_length(folder, name))]
    if problems:
        raise SubmissionError("; ".join(problems) + ".")


def nearest(folder: Path, name: str) -> str:
    """Ask whether a file with a similar name is the one that is missing."""
    path = folder / name
    others = {file.name for file in path.parent.glob("*")} - {*ARTEFACTS}
    near = difflib.get_close_matches(path.name, sorted(others), n=1, cutoff=0.8)
    return f" (is it {near[0]}?)" if near else ""


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


def manifest(folder: Path, files: list[str]) -> str:
    """Return one line per file: SHA-256, size, name."""
    lines = []
    for name in files:
        content = (folder / name).read_bytes()
        lines.append(f"{hashlib.sha256(content).hexdigest()} {len(content)} {name}\n")
    return "".join(lines)


def main() -> None:
    """Pack the current folder."""
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(USAGE)
        return
    if len(sys.argv) != 2:
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    try:
        target = collect(sys.argv[1], Path.cwd())
    except SubmissionError as error:
        print(f"collect_submission: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(
            f"collect_submission: cannot use {error.filename}: {error.strerror}.", file=sys.stderr
        )
        sys.exit(2)
    except KeyboardInterrupt:
        print("collect_submission: stopped by Ctrl-C.", file=sys.stderr)
        sys.exit(130)
    print(f"{target.name}: {target.stat().st_size:,} bytes. Hand it in.")


if __name__ == "__main__":
    main()
