"""Damaged run files: one bit flipped in any file, any JSON value in any field of any file."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_files_helpers import (
    MISSING,
    attnlab,
    changed,
    check_outcome,
    copy_runs,
    flipped,
    gone,
    hashes,
    make_runs,
    places,
    replaced,
    seal,
)

from attnlab.config import to_yaml
from attnlab.recipes.jobs import JOBS
from small_jobs import SETTINGS, name_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

QUICK = ("knowledge-world", "knowledge-pretrain", "classify-train")
LARGE = 4096
"""Of a larger file, bits at the beginning, in the middle and at the end are flipped."""
QUESTION = "Where was Ada born?"
FORGOTTEN = {".lock"}
"""Files of a run that no command reads for what they hold."""


@pytest.fixture(scope="session")
def quick_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of three jobs, which between them write every kind of file."""
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


def answers(folder: Path, job: str) -> list[str]:
    """Return what a run's readers print, but for `runs check`, which is about the files."""
    return [attnlab(folder, *words).out for words in readers(job)[1:]]


def bits(size: int) -> list[int]:
    """Choose bits of a file: one of every 97 bytes of a small one, eight of a large one."""
    if size <= LARGE:
        return [8 * byte + byte % 8 for byte in range(0, size, 97)] + [8 * size - 1]
    chosen = [0, 8, size // 3, size // 2, 2 * size // 3, size - 9, size - 1]
    return [8 * byte + (byte % 8) for byte in chosen]


def files_of(run: Path) -> list[Path]:
    """Return every file of a run, or of a study and its runs."""
    kept = [path for path in sorted(run.rglob("*")) if path.is_file()]
    return [path for path in kept if path.name not in FORGOTTEN and "report" not in path.parts]


def check_flips(folder: Path, job: str, few: int | None = None) -> None:
    """Flip bits in every file of a run: each is noticed, or the file proven irrelevant."""
    run = folder / "runs" / name_of(job)
    expected = answers(folder, job)
    for file in files_of(run):
        content = file.read_bytes()
        name = str(file.relative_to(folder))
        for bit in bits(len(content))[:few]:
            with changed(file, flipped(content, bit)):
                done = attnlab(folder, "runs", "check", run.name)
            check_outcome(done)
            if done.code == 1 and name in done.out:
                continue
            if done.code == 1 and file.name == "manifest.json":
                continue  # it then accuses the file whose hash was changed
            with gone(file):
                assert answers(folder, job) == expected, f"{name}, bit {bit}: {done}"
            break


@pytest.mark.parametrize("job", QUICK)
def test_a_flipped_bit_is_noticed(quick_runs: Path, job: str) -> None:
    check_flips(quick_runs, job, few=1)


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS)
def test_a_flipped_bit_in_a_run_of_every_job_is_noticed(all_runs: Path, job: str) -> None:
    check_flips(all_runs, job)


@pytest.mark.parametrize("file", ["model/model.safetensors", "model/vocab.txt", "config.json"])
def test_predict_refuses_a_classifier_with_one_flipped_bit(quick_runs: Path, file: str) -> None:
    path = quick_runs / "runs" / "train" / file
    content = path.read_bytes()
    sign = 8 * (len(content) - 1) + 7  # of the last weight, which is still a finite number
    with changed(path, flipped(content, sign if file.endswith("tensors") else 8 * 40)):
        done = attnlab(quick_runs, "classify", "predict", "train", "--text", "superb")
    check_outcome(done)
    assert (done.code, done.out) == (2, "")
    if file.endswith(("tensors", "txt")):
        assert f"train/{file} is not what the run wrote: damaged or replaced" in done.err
    assert file in done.err


def test_the_weights_of_another_run_are_refused(quick_runs: Path, tmp_path: Path) -> None:
    folder = copy_runs(quick_runs, tmp_path)
    other = folder / "bert" / "model.safetensors"
    (folder / "runs/train/model/model.safetensors").write_bytes(other.read_bytes())
    done = attnlab(folder, "classify", "predict", "train", "--text", "superb")
    assert done.code == 2
    assert "model.safetensors is not what the run wrote" in done.err


def test_a_checkpoint_of_another_run_is_refused_though_its_own_manifest_fits(
    quick_runs: Path, tmp_path: Path
) -> None:
    folder = copy_runs(quick_runs, tmp_path)
    step = "checkpoints/step-00000002"
    for file in (folder / "runs/train" / step).iterdir():
        (folder / "runs/pretrain" / step / file.name).write_bytes(file.read_bytes())
    done = attnlab(folder, "knowledge", "ask", "pretrain", QUESTION)
    assert done.code == 2
    assert f"pretrain/{step}/manifest.json is not what the run wrote" in done.err


def test_a_file_that_another_run_wrote_is_compared_when_it_is_read(
    quick_runs: Path, tmp_path: Path
) -> None:
    folder = copy_runs(quick_runs, tmp_path)
    world = folder / "runs/world"
    corpus = (world / "wiki.txt").read_bytes()
    (world / "wiki.txt").write_bytes(corpus.replace(b"a", b"e", 1))
    (folder / "cell.yaml").write_text(to_yaml(SETTINGS["knowledge-pretrain"]), encoding="utf-8")
    words = ["run", "knowledge-pretrain", "--config", "cell.yaml", "--name", "again"]
    done = attnlab(folder, *words)
    assert done.code == 2
    assert "world/wiki.txt is not what the run wrote" in done.err
    assert not (folder / "runs/again").exists()


HOSTILE: Sequence[Any] = (
    *(None, True, "", "nan", "[red]x", "x" * 3000, -1, 0, 2**62, 10**200, 1e308, -0.5),
    *([], {}, [[]], [None], {"a": 1}, {"": {"": []}}, MISSING),
)
ANYTHING = st.sampled_from(HOSTILE) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FILES = [
    *("train/record.json", "train/config.json", "train/manifest.json"),
    *("train/metrics.jsonl", "train/predictions/dev.jsonl", "train/model/config.json"),
    *("pretrain/record.json", "pretrain/config.json", "pretrain/language_model.json"),
    *("pretrain/predictions/test.jsonl", "pretrain/checkpoints/step-00000002/manifest.json"),
]


def read_values(path: Path) -> tuple[Any, Callable[[Any], bytes]]:
    """Return a file's JSON value and how to write it; of lines, the first is the value."""
    if path.suffix == ".json":
        return json.loads(path.read_bytes()), lambda value: json.dumps(value).encode()
    first, *rest = path.read_bytes().splitlines(keepends=True)
    return json.loads(first), lambda value: json.dumps(value).encode() + b"\n" + b"".join(rest)


def look_at(folder: Path, run: str) -> None:
    """Give every quick command that reads a run, and check how each ends."""
    job = next(job for job in QUICK if name_of(job) == run)
    for words in [*readers(job), ["runs", "diff", run, "world"], ["runs", "compare", run, "world"]]:
        check_outcome(attnlab(folder, *words))
    listed = attnlab(folder, "runs", "list")
    assert listed.code == 0
    assert "world" in listed.out, "the others are listed all the same"


@pytest.mark.parametrize("file", FILES[::2])
@given(data=st.data())
@settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_value_in_any_field_of_a_run_is_named(
    quick_runs: Path, file: str, data: st.DataObject
) -> None:
    check_any_value(quick_runs, file, data)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
@given(data=st.data())
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_many_values_in_any_field_of_a_run_are_named(
    quick_runs: Path, file: str, data: st.DataObject
) -> None:
    check_any_value(quick_runs, file, data)


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


def check_any_value(folder: Path, file: str, data: st.DataObject) -> None:
    """Put any value into a field, with the hash that goes with it, and read the run."""
    run, _, name = file.partition("/")
    path = folder / "runs" / file
    value, write = read_values(path)
    field = data.draw(st.sampled_from(list(places(value))), label="field")
    content = write(replaced(value, field, data.draw(ANYTHING, label="value")))
    manifests = {p: p.read_bytes() for p in (folder / "runs" / run).rglob("manifest.json")}
    try:
        with changed(path, content):
            if path.name != "manifest.json":
                seal(folder / "runs" / run, name)
            before = hashes(folder)
            look_at(folder, run)
            assert hashes(folder) == before, "a command that only looks changed something"
    finally:
        for manifest, was in manifests.items():
            manifest.write_bytes(was)
