"""Tab completion through a real shell: bash sources the script that attnlab prints for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.runs.directory import Run, RunPlace

BASH = shutil.which("bash")
COMPLETE = """
source <(attnlab --show-completion bash)
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_attnlab_completion attnlab
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["runs", "show", "tin"], ["tiny-a", "tiny-b"]),
        (["runs", "compare", "tiny-a", "tiny-b", "o"], ["other"]),
        (["knowledge", "ask", "oth"], ["other"]),
        (["classify", "predict", "tiny-b"], ["tiny-b"]),
        (["runs", "show", "none"], [""]),
        (["run", "classify-pre"], ["classify-predict"]),
        (["attention", "show", "dot"], ["dot_product"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_bash_completes_names(tmp_path: Path, typed: list[str], offered: list[str]) -> None:
    for name in ("tiny-a", "tiny-b", "other"):
        Run.begin("job", {}, RunPlace(tmp_path / "runs", name))
    command = tmp_path / "attnlab"
    command.write_text(f"#!{sys.executable}\nfrom attnlab.cli import main\nmain()\n")
    command.chmod(0o755)
    done = subprocess.run(
        [str(BASH), "--norc", "-c", COMPLETE, "bash", "attnlab", *typed],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == offered
