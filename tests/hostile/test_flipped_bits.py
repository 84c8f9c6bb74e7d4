"""One bit flipped in any file of any run, and files that another run wrote: noticed before use."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from run_files_helpers import (
    QUESTION,
    QUICK,
    attnlab,
    changed,
    check_outcome,
    copy_runs,
    flipped,
    gone,
    readers,
)

from attnlab.config import to_yaml
from attnlab.recipes.jobs import JOBS
from attnlab.runs.directory import CONFIG, RECORD
from attnlab.runs.study import STUDY
from small_jobs import SETTINGS, name_of

LARGE = 4096
"""Of a larger file, bits at the beginning, in the middle and at the end are flipped."""
FORGOTTEN = {".lock"}
"""Files of a run that no command reads for what they hold."""


def answers(folder: Path, job: str) -> list[str]:
    """Return what a run's readers print, but for `runs check`, which is about the files."""
    return [attnlab(folder, *words).out for words in readers(job)[1:]]


def bits(size: int) -> list[int]:
    """Choose bits of a file: one of every 97 bytes of a small one, seven of a large one."""
    if size <= LARGE:
        return [8 * byte + byte % 8 for byte in range(0, size, 97)] + [8 * size - 1]
    chosen = [0, 8, size // 3, size // 2, 2 * size // 3, size - 9, size - 1]
    return [8 * byte + (byte % 8) for byte in chosen]


def files_of(run: Path) -> list[Path]:
    """Return every file of a run, or of a study and its runs."""
    kept = [path for path in sorted(run.rglob("*")) if path.is_file()]
    return [path for path in kept if path.name not in FORGOTTEN and "report" not in path.parts]


def checks(runs: Path, file: Path, few: int | None) -> Iterator[tuple[int, str]]:
    """Return bits of a file to flip, and by which name the run is then checked.

    A study's run is checked by itself, which is quicker than with all the others; a bit of one of
    its files is also flipped for the whole study.
    """
    name, inner, *_ = file.relative_to(runs).parts
    chosen = bits(file.stat().st_size)[:few]
    if (runs / name / STUDY).exists() and (runs / name / inner / CONFIG).exists():
        # more bits are flipped in the runs that are no part of a study
        chosen = list(dict.fromkeys([chosen[0], chosen[len(chosen) // 2], chosen[-1]]))
        if file.name == RECORD:
            yield chosen[0], name
        name = f"{name}/{inner}"
    yield from ((bit, name) for bit in chosen)


def check_flips(folder: Path, job: str, few: int | None = None) -> None:
    """Flip bits in every file of a run: each is noticed, or the file proven irrelevant."""
    expected = answers(folder, job)
    for file in files_of(folder / "runs" / name_of(job)):
        content, name = file.read_bytes(), str(file.relative_to(folder))
        for bit, run in checks(folder / "runs", file, few):
            with changed(file, flipped(content, bit)):
                done = attnlab(folder, "runs", "check", run)
            check_outcome(done)
            # a changed manifest accuses the file whose hash was changed
            if done.code == 1 and (name in done.out or file.name == "manifest.json"):
                continue
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
