"""Any text as any argument of any command."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
import typer
from harness import Hostile
from hostile_values import TEXTS, WRONG_NUMBERS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnlab.cli.commands import app

STOPPED = {
    ("attention", "cost"): ["no_such_attention"],
    ("attention", "check"): ["no_such_file.py"],
    ("knowledge", "demo"): ["--set", "nothing=here"],
    ("knowledge", "extraction"): ["--set", "nothing=here"],
    ("knowledge", "world"): ["--people", "-1"],
    ("classify", "label-budget"): ["--set", "nothing=here"],
    ("classify", "select"): ["--set", "nothing=here"],
    ("classify", "batch-size"): ["--set", "nothing=here"],
    ("classify", "compare"): ["--set", "nothing=here"],
    ("assets", "get"): ["no_such_asset"],
    ("runs", "rm"): ["no_such_run"],
    ("serve",): ["--port", "-1", "--runs", "/dev/null"],  # each stops it if a flag undoes the other
}
"""What keeps commands that need little from the user from starting work."""


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Walk the tree of commands."""
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, (*path, name))
        else:
            yield (*path, name), one


def options_of(path: tuple[str, ...], command: Any) -> list[str]:
    """Return the flags of a command that take a value."""
    with command.make_context(" ".join(path), [], resilient_parsing=True) as context:
        parameters = context.command.params
    flags = [p for p in parameters if p.param_type_name == "option" and not p.is_flag]
    return [flag.opts[0] for flag in flags]


COMMANDS = dict(commands(typer.main.get_command(app)))
FLAGS = [(path, flag) for path, one in COMMANDS.items() for flag in options_of(path, one)]


def test_a_hostile_text_as_the_argument_of_every_command(hostile: Hostile) -> None:
    for text, path in zip(cycle(TEXTS), COMMANDS, strict=False):
        hostile(*path, *STOPPED.get(path, ()), text)


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_hostile_texts_as_the_arguments_of_every_command(
    hostile: Hostile, path: tuple[str, ...]
) -> None:
    for text in TEXTS:
        hostile(*path, *STOPPED.get(path, ()), text, text)
        hostile(*path, *STOPPED.get(path, ()), f"--x{text}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "flag"), FLAGS, ids=[f"{' '.join(path)} {flag}" for path, flag in FLAGS]
)
def test_wrong_values_of_every_flag(hostile: Hostile, path: tuple[str, ...], flag: str) -> None:
    for text in (*WRONG_NUMBERS, *TEXTS):
        hostile(*path, *STOPPED.get(path, ["none.csv"]), flag, text)


@pytest.mark.slow
@given(words=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4))
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@pytest.mark.parametrize("lab", ["attention", "knowledge", "classify", "runs", "jobs", "assets"])
def test_any_words_after_a_group(hostile: Hostile, lab: str, words: list[str]) -> None:
    hostile(lab, *(word.replace("\0", "0") for word in words))
