"""What is shown of work that takes its time."""

import os
import pty
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from attnlab import phases
from attnlab.phases import phase, shown_by

SLOW = "from attnlab.phases import phase\nimport time\n"


def printed(code: str, **environment: str) -> tuple[str, str]:
    """Run a few lines of Python; return standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-c", SLOW + code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout, done.stderr


def test_a_slow_phase_is_named_in_a_log_and_a_quick_one_is_not() -> None:
    code = "with phase('reading a[b].txt'): time.sleep(0.9)\nwith phase('quick'): pass"
    assert printed(code) == ("", "reading a[b].txt …\n")


@pytest.mark.parametrize(
    "environment",
    [{"ATTNLAB_QUIET": "1"}, {"RANK": "1", "WORLD_SIZE": "2"}],
    ids=["quiet", "not the lead"],
)
def test_nothing_is_shown_if_nobody_should_see_it(environment: dict[str, str]) -> None:
    assert printed("with phase('reading'): time.sleep(0.9)", **environment) == ("", "")


def test_an_inner_phase_replaces_the_outer_one_which_is_named_once() -> None:
    code = (
        "with phase('outer'):\n time.sleep(0.8)\n"
        " with phase('inner', total=3) as inner:\n  inner.advance(2); time.sleep(0.8)\n"
        " time.sleep(0.8)"
    )
    assert printed(code) == ("", "outer …\ninner 2/3 …\n")


def on_a_terminal(code: str, columns: int) -> str:
    """Run a few lines of Python; return what a terminal of that width gets on standard error."""
    terminal, stderr = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", SLOW + code], stderr=stderr, env=environment, check=True)
    os.close(stderr)
    with suppress(OSError):  # what Linux says at the end
        return os.read(terminal, 10_000).decode()
    return ""


def test_a_terminal_shows_a_line_that_fits_and_is_erased_at_the_end() -> None:
    code = "with phase('reading a-long-name.txt', total=7) as it: it.advance(5); time.sleep(0.9)"
    written = on_a_terminal(code, columns=20)
    *lines, last = written.split(phases.ERASE_LINE)
    assert lines[1] == "- reading a-long-na\r"
    assert {line[1:] for line in lines[1:]} == {" reading a-long-na\r"}
    assert last == ""


def test_a_quick_phase_does_not_flicker_on_a_terminal() -> None:
    assert on_a_terminal("with phase('quick'): pass", columns=80) == ""


def test_a_phase_that_is_known_to_be_slow_is_shown_before_it_begins() -> None:
    code = "from attnlab.phases import Phase\nPhase('loading', is_slow=True).begin()"
    assert on_a_terminal(code, columns=80).startswith(f"{phases.ERASE_LINE}- loading\r")


def test_a_bar_shows_the_phases_while_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "PATIENCE", 0.01)
    noted: list[str] = []
    with shown_by(noted.append), phase("evaluating"):
        time.sleep(0.2)
    assert noted == ["evaluating", ""]


def test_a_bar_shows_how_far_a_phase_is_and_shows_an_outer_one_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phases, "PATIENCE", 0.0)
    noted: list[str] = []

    def wait_for(text: str) -> None:
        for _ in range(1000):
            if noted[-1:] == [text]:
                return
            time.sleep(0.01)
        raise AssertionError(f"{text!r} never came after {noted}")

    with shown_by(noted.append), phase("answering", total=2) as answering:
        wait_for("answering 0/2")
        answering.advance()
        wait_for("answering 1/2")
        with phase("saving"):
            wait_for("saving")
        wait_for("answering 1/2")
    assert noted[-1] == ""
