"""No command is silent while it loads or works; ``--quiet`` and a pipe stay clean."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest
import typer
from command_line import Attnlab

from attnlab.cli.commands import app
from attnlab.runs.directory import Run, RunPlace

BEING_LOADED = """
import sys
print("{name} is being loaded", file=sys.stderr)
sys.exit(3)
"""
SLOW_COMMANDS = {
    "attention show dot_product": "torch",
    "attention check --mutants": "torch",
    "attention cost dot_product": "matplotlib",
    "attention solve average": "scipy",
    "knowledge world made": "torch",
    "knowledge pretrain wiki.txt": "torch",
    "knowledge finetune train.tsv": "torch",
    "knowledge evaluate reader train.tsv": "torch",
    "knowledge ask reader question": "torch",
    "knowledge write reader prompt": "torch",
    "knowledge extraction": "torch",
    "knowledge demo": "torch",
    "classify train train.csv --model bert": "torch",
    "classify predict reader train.csv": "torch",
    "classify predict reader --text fine": "torch",
    "classify label-budget train.csv --model bert": "torch",
    "classify select train.csv --model bert": "torch",
    "classify compare train.csv --models bert --tuning full,head": "torch",
    "runs compare reader writer": "matplotlib",
    "runs report reader": "matplotlib",
    "run knowledge-majority": "torch",
}
QUICK_COMMANDS = ["--help", "runs list", "runs show reader", "runs diff reader writer"]
QUICK_COMMANDS += ["assets list", "doctor", "run --list", "attention list"]

WITHOUT_LOADING = ["runs rm", "assets get"]
"""What they do takes as long as the disk or the network does."""


def command_names(group: click.Command | None = None, path: str = "") -> Iterator[str]:
    """Yield every command as it is typed."""
    group = group or typer.main.get_command(app)
    if not isinstance(group, click.Group) or path == "attention solve":
        yield path
        return
    for name, command in group.commands.items():
        yield from command_names(command, f"{path} {name}".strip())


def with_slow_packages(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command where a package that loads slowly says when that begins, and goes no further.

    What is printed before that line is there for as long as the package takes.
    """
    for name in ("torch", "scipy", "matplotlib"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(BEING_LOADED.format(name=name))
    for name in ("wiki.txt", "train.tsv", "train.csv", "mine.py"):
        (folder / name).write_text("Ada Lund. Ada Lund was born in Oslo.\n")
    place = RunPlace(folder / "runs")
    for name in ("reader", "writer"):
        Run.begin("knowledge-pretrain", {}, replace(place, name=name))
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "attnlab", *command.split()],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.parametrize(("command", "package"), SLOW_COMMANDS.items())
def test_what_loads_slowly_is_named_before_it_is_loaded(
    tmp_path: Path, command: str, package: str
) -> None:
    done = with_slow_packages(tmp_path, command)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines() == [f"loading {package} …", f"{package} is being loaded"]


@pytest.mark.parametrize("command", QUICK_COMMANDS)
def test_a_quick_command_loads_nothing_slow_and_says_nothing_of_it(
    tmp_path: Path, command: str
) -> None:
    done = with_slow_packages(tmp_path, command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_every_command_is_known_to_be_slow_or_quick() -> None:
    known = [*SLOW_COMMANDS, *QUICK_COMMANDS, *WITHOUT_LOADING]
    missing = [name for name in command_names() if not any(k.startswith(name) for k in known)]
    assert missing == []


def test_quiet_may_stand_anywhere_and_hides_it(tmp_path: Path) -> None:
    done = with_slow_packages(tmp_path, "attention show dot_product --quiet")
    assert (done.returncode, done.stderr) == (3, "torch is being loaded\n")


def test_a_quiet_command_still_shows_its_result(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_QUIET", "")  # undone afterwards
    code, out, err = attnlab("--quiet", "knowledge", "world", "made", "--people", "20")
    assert (code, err) == (0, "")
    assert out
