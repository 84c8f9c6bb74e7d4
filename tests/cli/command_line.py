"""Running the command line in this process: arguments in, two texts and an exit code out."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commands_here import Outcome, run_main, same_threads

Attnlab = Callable[..., Outcome]


@pytest.fixture
def attnlab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Attnlab]:
    """Return a function that runs `attnlab ARGUMENTS` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNLAB_DEBUG", "")  # so that --debug is undone afterwards
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others

    def run(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = run_main(monkeypatch, *arguments)
        return Outcome(code, *capfd.readouterr())

    with same_threads():
        yield run


@pytest.fixture
def short_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a model that knows nothing stop after twenty tokens: quicker, and as wrong."""
    monkeypatch.setattr("attnlab.recipes.knowledge.language_model.LONGEST_ANSWER", 20)


def flowing(text: str) -> str:
    """Undo the wrapping of long lines."""
    return " ".join(text.split())


def solve(attnlab: Attnlab, *words: str, code: int = 0) -> str:
    """Run `attnlab attention solve WORDS` and return what it printed."""
    done = attnlab("attention", "solve", *words)
    assert done.code == code, done
    return flowing(done.out)


def as_json(attnlab: Attnlab, *words: str, code: int = 0) -> Any:
    """Run it with --json and read that."""
    return json.loads(solve(attnlab, *words, "--json", code=code))
