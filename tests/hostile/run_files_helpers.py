"""Finished runs of every job, commands that read them, and what may come of a damaged file."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import RunPlace
from attnlab.runs.files import sha256_of
from commands_here import Outcome, attnlab_in, same_threads
from small_jobs import SETTINGS, name_of, write_inputs

ENDS = {0, 1, 2, *range(129, 160)}
"""Exit codes that a command may end with: done, failed, a user's mistake, a signal."""
QUICK = ("knowledge-world", "knowledge-pretrain", "classify-train")
"""Three jobs which between them write every kind of file."""
QUESTION = "Where was Ada born?"


def make_runs(folder: Path, jobs: Sequence[str]) -> None:
    """Run some jobs with tiny settings, in an order in which each finds what it needs."""
    write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder), same_threads():
        patch.setattr("attnlab.recipes.knowledge.language_model.LONGEST_ANSWER", 20)
        patch.setattr("attnlab.runs.machine.cores", lambda: 1)
        for job in jobs:
            place = RunPlace(Path("runs"), name_of(job))
            find_job(job).run(SETTINGS[job], place=place, console=Console(quiet=True))


@pytest.fixture(scope="session")
def quick_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of three jobs."""
    folder = tmp_path_factory.mktemp("quick")
    make_runs(folder, QUICK)
    return folder


@pytest.fixture(scope="session")
def all_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a finished run, or study, of every job."""
    folder = tmp_path_factory.mktemp("all")
    make_runs(folder, list(SETTINGS))
    return folder


def readers(job: str) -> list[list[str]]:
    """Return commands that read a run of a job and change nothing."""
    name = name_of(job)
    found = [["runs", "check", name], ["runs", "show", name], ["runs", "list", "--all"]]
    if job in ("knowledge-pretrain", "knowledge-finetune"):
        found.append(["knowledge", "ask", name, QUESTION, "--samples", "2"])
    if job == "classify-train":
        found.append(["classify", "predict", name, "--text", "the food was superb."])
    return found


def attnlab(folder: Path, *arguments: str) -> Outcome:
    """Run `attnlab ARGUMENTS` in a folder, in this process; an exception is a failed test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnlab.report.run_list.age", lambda _: "now")  # or answers would change
        patch.setattr("attnlab.recipes.knowledge.language_model.LONGEST_ANSWER", 20)
        patch.setattr("attnlab.runs.machine.cores", lambda: 1)
        return attnlab_in(folder, *arguments)


def check_outcome(done: Outcome) -> None:
    """Assert what every command keeps, whatever its files hold."""
    assert done.code in ENDS, done
    assert "Traceback" not in done.err + done.out, done
    assert len(done.err.splitlines()) <= 3, done


@contextlib.contextmanager
def changed(path: Path, content: bytes) -> Iterator[None]:
    """Let a file hold something else for a while."""
    before, stat = path.read_bytes(), path.stat()
    path.write_bytes(content)
    try:
        yield
    finally:
        _put_back(path, before, stat)


@contextlib.contextmanager
def gone(path: Path) -> Iterator[None]:
    """Let a file not be there for a while."""
    before, stat = path.read_bytes(), path.stat()
    path.unlink()
    try:
        yield
    finally:
        _put_back(path, before, stat)


def _put_back(path: Path, content: bytes, stat: os.stat_result) -> None:
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # runs are listed by their age


def flipped(content: bytes, bit: int) -> bytes:
    """Flip one bit."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def seal(run: Path, name: str) -> None:
    """Put the present content of a file into its run's manifest: a hash is no schema."""
    for folder, key in ((run, name), ((run / name).parent, Path(name).name)):
        path = folder / "manifest.json"
        manifest = json.loads(path.read_bytes()) if path.exists() else {}
        if key in manifest:
            manifest[key] = sha256_of(folder / key)
            path.write_text(json.dumps(manifest), encoding="utf-8")
    inner = (run / name).parent / "manifest.json"
    if inner.exists() and inner.parent != run and inner != run / name:
        seal(run, str(inner.relative_to(run)))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path to every field of a JSON value; of a list, its first item stands for all."""
    if path:
        yield path
    inner: Mapping[Any, Any] = {}
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list):
        inner = dict(enumerate(value[:1]))
    for key, below in inner.items():
        yield from places(below, (*path, key))


MISSING = object()


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a JSON value with one field that is another, or missing."""
    value = json.loads(json.dumps(value))
    here = value
    for key in path[:-1]:
        here = here[key]
    if new is MISSING:
        del here[path[-1]]
    else:
        here[path[-1]] = new
    return value


def copy_runs(source: Path, target: Path) -> Path:
    """Copy a folder of runs, to be damaged."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    return target
