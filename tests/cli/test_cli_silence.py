"""No command is silent while it loads or works; ``--quiet`` and a pipe stay clean."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Attnlab

SLOW_TORCH = """
import sys, time
time.sleep(1.5)
print("torch is loaded", file=sys.stderr)
sys.exit(3)
"""
COMMANDS = [
    "knowledge pretrain wiki.txt",
    "knowledge finetune train.tsv",
    "knowledge ask model.params question --corpus wiki.txt",
    "knowledge write model.params prompt --corpus wiki.txt",
    "knowledge demo",
    "classify train train.csv --model bert",
    "attention show dot_product",
    "attention check mine.py",
    "attention cost dot_product",
]


def with_slow_torch(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command where loading torch takes long, and then ends the process."""
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text(SLOW_TORCH)
    for name in ("wiki.txt", "train.tsv", "train.csv", "mine.py", "model.params"):
        (folder / name).write_text("Ada Lund. Ada Lund was born in Oslo.\n")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "attnlab", *command.split()],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_slow_loader_is_named_before_it_is_done(tmp_path: Path, command: str) -> None:
    done = with_slow_torch(tmp_path, command)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[-2:] == ["loading torch …", "torch is loaded"]


def test_quiet_may_stand_anywhere_and_hides_it(tmp_path: Path) -> None:
    done = with_slow_torch(tmp_path, "attention cost dot_product --quiet")
    assert (done.returncode, done.stderr) == (3, "torch is loaded\n")


def test_a_quiet_command_still_shows_its_result(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_QUIET", "")  # undone afterwards
    code, out, err = attnlab("--quiet", "knowledge", "world", "made", "--people", "20")
    assert (code, err) == (0, "")
    assert out
