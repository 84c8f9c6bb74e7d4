"""What is shown of work that takes its time."""

import os
import subprocess
import sys
import time

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


def test_a_bar_shows_the_phases_while_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "PATIENCE", 0.01)
    noted: list[str] = []
    with shown_by(noted.append), phase("evaluating"):
        time.sleep(0.2)
    assert noted == ["evaluating", ""]
