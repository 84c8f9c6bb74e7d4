"""Output that nobody takes, encodings that lack characters, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from harness import Ended, Hostile, check

ATTNLAB = f"{sys.executable} -m attnlab"
LIST = f"{ATTNLAB} attention list"
LATIN = {"PYTHONIOENCODING": "latin-1"}
PLAIN = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}


def shell(folder: Path, command: str, **environment: str) -> Ended:
    """Run a command line of bash; a pipe ends like its first part."""
    done = subprocess.run(
        ["bash", "-c", f"{command}\nexit ${{PIPESTATUS[0]}}"],
        cwd=folder,
        env={**os.environ, "ATTNLAB_QUIET": "1", **environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return check(Ended(done.returncode, done.stdout, done.stderr))


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"{LIST} > /dev/full", 1),
        pytest.param(f"{LIST} --json > /dev/full", 1, marks=pytest.mark.slow),
        pytest.param(f"{LIST} >&-", 0, marks=pytest.mark.slow),
        pytest.param(f"{LIST} 2>&-", 0, marks=pytest.mark.slow),
        (f"{LIST} <&- >&- 2>&-", 0),
        (f"{ATTNLAB} runs show x 2>&-", 2),
        (f"{ATTNLAB} runs show x 2> /dev/full", 2),
        (f"{LIST} | true", 128 + signal.SIGPIPE),
    ],
)
def test_output_that_nobody_takes(tmp_path: Path, command: str, code: int) -> None:
    ended = shell(tmp_path, command)
    assert ended.code == code, ended
    if "> /dev/full" in command and code == 1:
        assert "cannot write standard output: No space left on device" in ended.err


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        ("", 2, "attnlab: standard input ended before an answer; --yes answers for you."),
        ("\\xff\\0\\n", 2, "standard input ended before an answer"),
        ("n\\n", 0, ""),
    ],
    ids=["nothing", "no text", "no"],
)
def test_an_answer_that_nobody_gives(tmp_path: Path, typed: str, code: int, words: str) -> None:
    (tmp_path / "runs/one").mkdir(parents=True)
    config = '{"format": 3, "job": "x", "settings": {}, "resolved": {}}'
    (tmp_path / "runs/one/config.json").write_text(config)
    ended = shell(tmp_path, f"printf '{typed}' > typed; {ATTNLAB} runs rm one < typed")
    assert (ended.code, words in ended.err) == (code, True), ended
    assert (tmp_path / "runs/one").exists()


@pytest.mark.parametrize(
    ("environment", "encoding"),
    [({"PYTHONIOENCODING": "ascii"}, "ascii"), (PLAIN, "ascii"), (LATIN, "latin-1")],
    ids=["ascii", "C", "latin-1"],
)
def test_an_encoding_without_the_characters_gets_them_escaped(
    tmp_path: Path, environment: dict[str, str], encoding: str
) -> None:
    ended = shell(tmp_path, f"{ATTNLAB} runs list --runs $'\\u2026\\xff'", **environment)
    assert ended.code == 0
    ended = shell(tmp_path, LIST, **environment)
    assert ended.code == 0
    ended.out.replace("\ufffd", "?").encode(encoding)  # bytes of latin-1 are no UTF-8


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("WORLD_SIZE", "abc", "from 1 to"),
        ("WORLD_SIZE", "9" * 5000, "from 1 to"),
        ("LOCAL_RANK", "-1", "from 0 to"),
        ("LOCAL_WORLD_SIZE", "2", "from 1 to 1"),
        ("RANK", "x", "from 0 to 1"),
        ("MASTER_PORT", "https", "from 0 to 65535"),
        ("MASTER_PORT", "99999", "from 0 to 65535"),
    ],
)
def test_a_variable_of_wrong_content_is_named(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    if name in ("RANK", "MASTER_PORT"):
        monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv(name, value)
    ended = hostile("attention", "list")
    assert ended.code == 2
    assert f"attnlab: {name}={value[:20]}" in ended.err
    assert allowed in ended.err


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("Unable to allocate 9 EiB")])
def test_memory_that_there_is_not_is_said(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("attnlab.runs.listing.find_all", Mock(side_effect=error))
    ended = hostile("runs", "list")
    assert ended.code == 1
    assert "there is not enough memory for this" in ended.err


@pytest.mark.slow
def test_a_number_of_threads_that_is_none_is_left_to_openmp(tmp_path: Path) -> None:
    """OpenMP may complain in a line of its own; the command goes on."""
    assert shell(tmp_path, f"{ATTNLAB} attention solve select", OMP_NUM_THREADS="abc").code == 0


def test_a_rank_beyond_the_processes_and_a_width_that_is_none(tmp_path: Path) -> None:
    ended = shell(tmp_path, LIST, WORLD_SIZE="2", RANK="2")
    assert (ended.code, "RANK=2 is not possible" in ended.err) == (2, True)
    ended = shell(tmp_path, LIST, COLUMNS="²")
    assert (ended.code, ended.err) == (
        0,
        "attnlab: COLUMNS=² is ignored: give a whole number of characters.\n",
    )


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become nobody")
def test_files_without_permission_are_named(tmp_path: Path) -> None:
    closed = Path(f"/tmp/{tmp_path.name}-closed")
    closed.mkdir(mode=0o700)
    try:
        (closed / "corpus.txt").write_text("text\n")
        as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        for words in (
            f"runs list --runs {closed}/runs",
            f"attention show {closed}/mine.py:Mine",
            f"knowledge pretrain {closed}/corpus.txt",
            f"run classify-train --config {closed}/corpus.txt",
        ):
            ended = shell(Path("/"), f"{as_nobody} {ATTNLAB} {words}")
            if any(w in ended.err for w in ("No module named", "setpriv", sys.executable)):
                pytest.skip(f"nobody cannot run Python here: {ended.err}")
            assert ended.code == 2, ended
            assert f"{closed}" in ended.err
            assert "Permission denied" in ended.err
    finally:
        (closed / "corpus.txt").unlink()
        closed.rmdir()


COURSES = Path(__file__).parents[2] / "courses"


@pytest.mark.parametrize(
    "script", ["knowledge/src/dataset.py namedata", "yelp/classifier.py -h", "knowledge/grade.py x"]
)
def test_ctrl_c_while_a_course_script_loads_its_modules(tmp_path: Path, script: str) -> None:
    """Loading numpy is where it comes, by its own hand."""
    for name in ("numpy", "typer"):
        (tmp_path / f"{name}.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ended = shell(tmp_path, f"{sys.executable} {COURSES / script}", PYTHONPATH=path)
    name = script.split()[0].rpartition("/")[2]
    assert (ended.code, ended.err) == (130, f"{name}: stopped by Ctrl-C.\n")


def test_ctrl_c_while_the_guard_itself_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "pathlib.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ended = shell(tmp_path, LIST, PYTHONPATH=path)
    assert (ended.code, ended.err) == (130, "attnlab: stopped by Ctrl-C.\n")


@pytest.mark.slow  # on a busy machine, the early ones hit Python's own start
@pytest.mark.parametrize("seconds", [0.25, 0.6, 1.2, 2.0])
def test_ctrl_c_is_one_line_at_any_moment(tmp_path: Path, seconds: float) -> None:
    started = subprocess.Popen(
        [*ATTNLAB.split(), "attention", "cost"],
        cwd=tmp_path,
        env={**os.environ, "ATTNLAB_QUIET": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    if "attnlab" not in err and "site" in err:
        pytest.skip("Python itself had not started")
    # after an interrupt inside exec, Python ends by the signal itself, which a shell shows as 130
    code = started.returncode if started.returncode >= 0 else 128 - started.returncode
    check(Ended(code, out, err))
    assert (code, err) == (128 + signal.SIGINT, "attnlab: stopped by Ctrl-C.\n")
