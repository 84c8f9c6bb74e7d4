"""What a run was begun with, it goes on with."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from attnlab.errors import UserError
from attnlab.runs.directory import RunPlace
from attnlab.training.session import open_session
from attnlab.training.settings import TrainingSettings


def insist(folder: Path, value: str | None) -> None:
    settings, console = TrainingSettings(device="cpu", threads=1), Console(file=io.StringIO())
    place = RunPlace(folder, "first")
    with open_session("job", settings, settings, place=place, console=console) as session:
        session.insist("file", value, what="the file x.py")


def test_a_value_that_stays_is_fine(tmp_path: Path) -> None:
    for _ in range(2):
        insist(tmp_path, "abc")


@pytest.mark.parametrize("value", ["abd", None])
def test_a_value_that_changed_is_refused(tmp_path: Path, value: str | None) -> None:
    insist(tmp_path, "abc")
    with pytest.raises(UserError, match=r"^the file x\.py has changed since first was begun"):
        insist(tmp_path, value)
