"""Run files with any JSON value in any field: the file and field are named, and nothing changes."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import snapshot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_files_helpers import (
    MISSING,
    QUICK,
    attnlab,
    changed,
    check_outcome,
    copy_runs,
    places,
    readers,
    replaced,
    seal,
)

from attnlab.config import to_yaml
from attnlab.recipes.jobs import JOBS
from small_jobs import SETTINGS, name_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

HOSTILE: Sequence[Any] = (
    *(None, True, "", "nan", "[red]x", "x" * 3000, -1, 0, 2**62, 10**200, 1e308, -0.5),
    *([], {}, [[]], [None], {"a": 1}, {"": {"": []}}, MISSING),
)
ANYTHING = st.sampled_from(HOSTILE) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


MANY = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def read_values(path: Path) -> tuple[Any, Callable[[Any], bytes]]:
    """Return a file's JSON value and how to write it; of lines, the first is the value."""
    if path.suffix == ".json":
        return json.loads(path.read_bytes()), lambda value: json.dumps(value).encode()
    first, *rest = path.read_bytes().splitlines(keepends=True)
    return json.loads(first), lambda value: json.dumps(value).encode() + b"\n" + b"".join(rest)


def json_files(run: Path) -> list[str]:
    """Return the JSON files of a run, or of a study and the first of its runs."""
    found = [path.relative_to(run) for path in sorted(run.rglob("*.json*"))]
    cells = sorted({path.parts[0] for path in found if path.name == "config.json"} - {"model"})
    others = cells[1:] if (run / "study.json").exists() else ()
    return [str(path) for path in found if path.parts[0] not in others]


def commands(job: str) -> list[list[str]]:
    """Return every quick command that reads a run, alone or with another."""
    name = name_of(job)
    return [*readers(job), ["runs", "diff", name, "other"], ["runs", "compare", name, "other"]]


@contextmanager
def sealed(run: Path, name: str, content: bytes) -> Iterator[None]:
    """Let a file hold something else for a while, with the hashes that go with it."""
    manifests = {path: path.read_bytes() for path in run.rglob("manifest.json")}
    try:
        with changed(run / name, content):
            if not name.endswith("manifest.json"):
                seal(run, name)
            yield
    finally:
        for manifest, was in manifests.items():
            manifest.write_bytes(was)


def check_value(run: Path, file: str, words: list[list[str]], *, field: Any, value: Any) -> None:
    """Put a value into a field of a file, and give commands that read the run."""
    folder, (whole, write) = run.parents[1], read_values(run / file)
    with sealed(run, file, write(replaced(whole, field, value))):
        before = snapshot(folder)
        for command in words:
            done = attnlab(folder, *command)
            check_outcome(done)
            if command[1] == "list":
                assert (done.code, "other" in done.out) == (0, True), "the others are listed"
        assert snapshot(folder) == before, "a command that only looks changed something"


def to_be_damaged(runs: Path, folder: Path, job: str) -> Iterator[tuple[Path, str, list[Any]]]:
    """Copy a run, and another beside it; return the run with each file and its fields."""
    run = copy_runs(runs / "runs" / name_of(job), folder / "runs" / name_of(job))
    copy_runs(runs / "runs/world", folder / "runs/other")
    for file in json_files(run):
        yield run, file, list(places(read_values(run / file)[0]))


@pytest.mark.parametrize("job", QUICK)
def test_any_value_in_any_field_of_a_run_is_named(
    quick_runs: Path, tmp_path: Path, job: str
) -> None:
    dice = random.Random(job)
    for run, file, fields in to_be_damaged(quick_runs, tmp_path, job):
        field, value = dice.choice(fields), dice.choice(HOSTILE)
        check_value(run, file, dice.sample(commands(job), 2), field=field, value=value)


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS)
def test_many_values_in_any_field_of_a_run_of_every_job_are_named(
    all_runs: Path, tmp_path: Path, job: str
) -> None:
    """Each value is read by one of the commands, so that many values are tried."""
    words = st.sampled_from(commands(job)).map(lambda command: [command])
    for run, file, fields in to_be_damaged(all_runs, tmp_path, job):
        fixed = {"run": st.just(run), "file": st.just(file), "words": words}
        MANY(given(**fixed, field=st.sampled_from(fields), value=ANYTHING)(check_value))()


def unfinished(runs: Path, folder: Path) -> Path:
    """Copy runs, and take from one the files that make it finished."""
    copy_runs(runs, folder)
    for name in ("record.json", "manifest.json"):
        (folder / "runs/train" / name).unlink()
    (folder / "cell.yaml").write_text(to_yaml(SETTINGS["classify-train"]), encoding="utf-8")
    return folder


STATE = "checkpoints/step-00000002/state.json"
RESUME = ["run", "classify-train", "--config", "cell.yaml", "--name", "train"]


@pytest.mark.slow
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:12])
def test_a_state_with_any_value_in_a_field_is_named(
    quick_runs: Path, tmp_path: Path, value: Any
) -> None:
    """Each value goes into another field, so that all fields get one."""
    folder = unfinished(quick_runs, tmp_path)
    path = folder / "runs/train" / STATE
    state, write = read_values(path)
    fields = list(places(state))
    for field in fields[HOSTILE.index(value) :: len(HOSTILE)]:
        path.write_bytes(write(replaced(state, field, value)))
        seal(folder / "runs/train", STATE)
        for words in (RESUME, ["runs", "check", "train"], ["runs", "list"]):
            done = attnlab(folder, *words)
            check_outcome(done)
            if done.code == 0 and words is RESUME:  # a value that fits
                for name in ("record.json", "manifest.json"):
                    (folder / "runs/train" / name).unlink(missing_ok=True)


def test_a_state_of_another_step_is_named(quick_runs: Path, tmp_path: Path) -> None:
    folder = unfinished(quick_runs, tmp_path)
    path = folder / "runs/train" / STATE
    for key, value, message in (
        ("step", 1, "state.json: step is 1, not 2."),
        ("step", -1, "state.json: step is -1, not a whole number of at least 0."),
        ("tokens", "many", "state.json: tokens is 'many', not a whole number. Restore"),
    ):
        state, write = read_values(path)
        with changed(path, write(replaced(state, (key,), value))):
            seal(folder / "runs/train", STATE)
            done = attnlab(folder, *RESUME)
        assert (done.code, done.out) == (2, "")
        assert message in done.err


@pytest.mark.slow
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:12])
def test_a_study_with_any_value_in_a_field_is_named(
    quick_runs: Path, tmp_path: Path, value: Any
) -> None:
    copy_runs(quick_runs / "runs/train", tmp_path / "runs/both/train")
    copy_runs(quick_runs / "runs/world", tmp_path / "runs/world")
    cell = {"name": "train", "job": "classify-train", "needs": ["a"], "command": "x"}
    study = {"format": 3, "job": "x", "settings": {"a": {"b": 1}}, "title": "t", "notes": ["n"]}
    study |= {"runs": ["train"], "featured": "train", "cells": [cell]}
    for field in places(study):
        file = tmp_path / "runs/both/study.json"
        file.write_text(json.dumps(replaced(study, field, value)), encoding="utf-8")
        for words in (["list", "--unfold"], ["show", "both"], ["check", "both"]):
            done = attnlab(tmp_path, "runs", *words)
            check_outcome(done)
            assert words[0] != "list" or "world" in done.out
