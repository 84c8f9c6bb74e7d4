"""No room left at whichever file a command writes: it is said, and the same command then works."""

import errno
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from harness import Hostile
from run_files_helpers import copy_runs, make_runs

from attnlab.config import to_yaml
from small_jobs import SETTINGS

WORLD = "knowledge world new --people 20"
WRITERS = {
    "world": WORLD,
    "predict": "classify predict runs/train reviews/test.csv --name new --outputs out.csv",
    "report": "runs report train --out page",
    "evaluate": "knowledge evaluate runs/pretrain runs/world/birth_test.tsv --samples 1 --name new",
    "study": "run classify-label-budget --config study.yaml --name new",
}
STEPS = {"report": 3, "study": 7}
"""Of the many files that these write, one of so many finds the disk full."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the runs that the commands read."""
    folder = tmp_path_factory.mktemp("full")
    make_runs(folder, ("knowledge-world", "knowledge-pretrain", "classify-train"))
    text = to_yaml(SETTINGS["classify-label-budget"])
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return folder


def full_at(number: int) -> Callable[[int], None]:
    """Return an fsync that finds the disk full the n-th time, as many file systems do."""
    calls, real = count(), os.fsync

    def fsync(descriptor: int) -> None:
        if next(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    return fsync


def left_over() -> Iterator[Path]:
    """Return files under a temporary name."""
    return (path for path in Path().rglob("*") if path.name.endswith(".tmp"))


def check_every_file(hostile: Hostile, command: str, step: int = 1) -> None:
    """Let the disk be full at one write after another, and the command end well at last."""
    for number in count(0, step):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", full_at(number))
            done = hostile("--quiet", *command.split())
        if done.code == 0:
            assert number > 0, "nothing was written"
            break
        assert (done.code, "No space left on device" in done.err) == (1, True), (number, done)
    assert not list(left_over())


def test_a_world_without_room(hostile: Hostile) -> None:
    check_every_file(hostile, WORLD)
    assert Path("new/wiki.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_command_without_room(hostile: Hostile, finished: Path, name: str) -> None:
    copy_runs(finished, Path.cwd())
    check_every_file(hostile, WRITERS[name], step=STEPS.get(name, 1))
