"""Commands in this process, which has torch loaded already: words in, two texts and a code out."""

import contextlib
import functools
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import typer

from attnlab.cli import main
from attnlab.recipes.attention import check_process

command_tree = functools.cache(typer.main.get_command)
"""Builds the tree of commands once, not for every command."""


class Outcome(NamedTuple):
    """What a user sees of a command that has ended."""

    code: int
    out: str
    err: str


def run_main(patch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `attnlab ARGUMENTS` and return its exit code."""
    patch.setattr(sys, "argv", ["attnlab", *arguments])
    patch.setattr("typer.main.get_command", command_tree)
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextlib.contextmanager
def same_threads() -> Iterator[None]:
    """Let torch have as many threads afterwards as before."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def attnlab_in(folder: Path, *arguments: str) -> Outcome:
    """Run `attnlab ARGUMENTS` in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        same_threads(),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_main(patch, *arguments)
    return Outcome(code, out.getvalue(), err.getvalue())


@pytest.fixture
def checks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `attention check` do here what it does in a process of its own."""

    def run(command: list[str], notes: Path, **_: object) -> str:
        *_, request, _ = command
        check_process._note_findings(notes, request)
        return "ended"

    monkeypatch.setattr(check_process, "_run", run)
    monkeypatch.setattr(sys, "path", sys.path[:])  # a file may be loaded from its own folder
