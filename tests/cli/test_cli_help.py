"""Help, version, and the answer to a command that does not exist."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

import attnlab as package
from attnlab.cli.commands import app


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """List the words of every command that does something."""
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))
    else:
        yield path


EVERY_COMMAND = sorted(commands(typer.main.get_command(app)))
GROUPS = sorted({path[:-1] for path in EVERY_COMMAND if len(path) > 1} | {()})


def test_all_commands_are_found() -> None:
    assert {("knowledge", "demo"), ("runs", "list"), ("runs", "show"), ("doctor",)} <= set(
        EVERY_COMMAND
    )


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=" ".join)
def test_the_help_of_a_command_shows_an_example_of_it(
    attnlab: Callable[..., tuple[int, str, str]], words: tuple[str, ...]
) -> None:
    code, out, _ = attnlab(*words, "--help")
    assert code == 0
    assert f"Usage: attnlab {' '.join(words)}" in out
    assert f"Example: attnlab {' '.join(words)}" in " ".join(out.split())


@pytest.mark.parametrize(
    "words", [*GROUPS, *EVERY_COMMAND], ids=lambda words: " ".join(words) or "-"
)
def test_help_has_no_colours_and_a_short_form(
    attnlab: Callable[..., tuple[int, str, str]], words: tuple[str, ...]
) -> None:
    long, short = attnlab(*words, "--help"), attnlab(*words, "-h")
    assert long == short
    assert "\x1b" not in long[1]


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=" ".join)
def test_an_unknown_option_is_a_users_mistake(
    attnlab: Callable[..., tuple[int, str, str]], words: tuple[str, ...]
) -> None:
    code, out, err = attnlab(*words, "--sead", "1")
    assert (code, out) == (2, "")
    assert "No such option" in err
    assert "--sead" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "words", [("knowlege",), ("runs", "lst"), ("knowledge", "dem")], ids=" ".join
)
def test_an_unknown_command_is_a_users_mistake(
    attnlab: Callable[..., tuple[int, str, str]], words: tuple[str, ...]
) -> None:
    code, out, err = attnlab(*words)
    assert (code, out) == (2, "")
    assert f"No such command '{words[-1]}'" in err
    assert "Traceback" not in err


def test_a_value_of_another_type_is_a_users_mistake(
    attnlab: Callable[..., tuple[int, str, str]],
) -> None:
    code, _, err = attnlab("knowledge", "demo", "--seed", "many")
    assert code == 2
    assert "Invalid value for '--seed'" in err


def test_the_version_is_that_of_the_package(attnlab: Callable[..., tuple[int, str, str]]) -> None:
    assert attnlab("--version") == (0, f"attnlab {package.__version__}\n", "")


@pytest.mark.parametrize("words", GROUPS, ids=lambda words: " ".join(words) or "attnlab")
def test_without_a_command_the_help_is_shown(
    attnlab: Callable[..., tuple[int, str, str]], words: tuple[str, ...]
) -> None:
    code, out, err = attnlab(*words)
    assert code in (0, 2)
    assert "Commands:" in out + err
