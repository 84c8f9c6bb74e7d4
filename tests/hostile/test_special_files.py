"""Paths that exist and are no files: pipes, devices, sockets, links that lead nowhere."""

import os
import socket
from pathlib import Path

import pytest
from harness import Hostile

from attnlab.guard import explain

COMMANDS = [
    "knowledge pretrain {}",
    "knowledge finetune {} --length x",
    "knowledge evaluate {} good.tsv",
    "knowledge ask {} who",
    "knowledge write {} hello",
    "classify train {} --model bert",
    "classify predict {} good.csv",
    "run classify-train --config {}",
    "attention show {}:Mine",
    "attention solve select --keys {}",
    "runs list --runs {}",
    "runs show {}",
    "runs check {}",
    "runs rm {}",
    "runs report {}",
    "knowledge world {}",
]
SPECIAL = ["pipe", "socket", "device", "loop", "loop/x", "dangling"]


@pytest.fixture
def special(hostile: Hostile) -> Hostile:
    """Make the paths in the folder of the hostile commands."""
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    Path("device").symlink_to("/dev/zero")
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("nowhere")
    return hostile


@pytest.mark.parametrize("name", SPECIAL)
def test_a_path_that_is_no_file_is_never_waited_for(special: Hostile, name: str) -> None:
    for command in COMMANDS:
        special(*command.format(name).split())


def test_a_pipe_for_a_report_is_never_waited_for(special: Hostile) -> None:
    os.mkfifo("report.md")
    special("runs", "check", "report.md")


@pytest.mark.parametrize("file", ["config.json", "record.json", "manifest.json"])
def test_a_pipe_among_the_files_of_a_run_is_never_waited_for(special: Hostile, file: str) -> None:
    run = Path("runs/one")
    run.mkdir(parents=True)
    (run / "config.json").write_text('{"job": "x", "settings": {}, "resolved": {}}')
    (run / file).unlink(missing_ok=True)
    os.mkfifo(run / file)
    for command in ("show one", "check one", "list", "report one", "diff one one"):
        special("runs", *command.split())


def test_a_link_to_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises((RuntimeError, OSError)) as caught:
        (tmp_path / "loop").resolve(strict=True)
    text, code = explain("attnlab", caught.value)
    assert code == 2
    assert str(tmp_path / "loop") in text
