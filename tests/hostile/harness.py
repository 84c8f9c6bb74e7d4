"""Hostile commands: whatever they are given, they end with a code and a few words."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from commands_here import Outcome as Ended
from commands_here import run_main

MOST_LINES = 3
CODES = (0, 1, 2)


Hostile = Callable[..., Ended]


def check(ended: Ended) -> Ended:
    """Assert what holds for every command, whatever it was given."""
    assert ended.code in CODES or 128 < ended.code < 160, ended
    for words in ("Traceback", "This is a bug", "Exception ignored"):
        assert words not in ended.out + ended.err, ended
    said = [line for line in ended.err.splitlines() if line.strip()]
    assert len(said) <= MOST_LINES, ended
    return ended


def snapshot(folder: Path) -> dict[str, int]:
    """Return what is in a folder, with when it was changed; a lock that is tried may be."""
    return {
        os.path.join(here, name): os.lstat(os.path.join(here, name)).st_mtime_ns  # noqa: PTH118
        for here, folders, files in os.walk(folder)
        for name in (*folders, *files)
        if name != ".lock"
    }


@pytest.fixture
def hostile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Hostile:
    """Return a function that runs `attnlab ARGUMENTS` in ``tmp_path/work`` and checks its end.

    Nothing beside that folder may change.
    """
    work, beside = tmp_path / "work", tmp_path / "beside"
    work.mkdir()
    beside.mkdir()
    (beside / "precious.txt").write_text("keep me\n")
    before = snapshot(beside)
    monkeypatch.chdir(work)
    for name in ("ATTNLAB_DEBUG", "ATTNLAB_QUIET"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)

    def run(*arguments: str) -> Ended:
        capfd.readouterr()
        with warnings.catch_warnings(action="ignore"):
            code = run_main(monkeypatch, *arguments)
        assert snapshot(beside) == before, arguments
        return check(Ended(code, *capfd.readouterr()))

    return run
