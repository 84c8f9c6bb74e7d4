"""The growing log of a run, and how far a resumed run keeps it."""

from pathlib import Path

import pytest

from attnlab.errors import DamagedFileError, RunError
from attnlab.runs.files import read_json_lines
from attnlab.runs.metrics import MetricsFile


def test_lines_are_there_as_soon_as_they_are_appended(tmp_path: Path) -> None:
    metrics = MetricsFile(tmp_path / "metrics.jsonl", keep=0)
    metrics.append({"step": 1})
    metrics.append({"step": 2})
    assert read_json_lines(metrics.path) == [{"step": 1}, {"step": 2}]
    metrics.close()


def test_a_resumed_log_is_cut_to_what_the_checkpoint_knew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    metrics = MetricsFile(path, keep=0)
    metrics.append({"step": 1})
    known = metrics.sync()
    metrics.append({"step": 2, "lost": "in the crash"})
    metrics.close()
    assert known == len(b'{"step": 1}\n')

    resumed = MetricsFile(path, keep=known)
    assert path.stat().st_size == known
    resumed.append({"step": 2})
    assert resumed.sync() == path.stat().st_size
    resumed.close()
    assert read_json_lines(path) == [{"step": 1}, {"step": 2}]


def test_a_log_without_a_checkpoint_starts_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n', encoding="utf-8")
    MetricsFile(path, keep=0).close()
    assert path.read_bytes() == b""


def test_a_log_shorter_than_the_checkpoint_knew_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"12345")
    with pytest.raises(
        DamagedFileError,
        match=rf"^{path} has 5 bytes, but the checkpoint was saved when it had 6\. Restore it",
    ):
        MetricsFile(path, keep=6)
    assert path.read_bytes() == b"12345"


def test_a_log_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "metrics.jsonl"
    with pytest.raises(RunError, match=rf"^cannot write {path}: No such file or directory"):
        MetricsFile(path, keep=0)


def test_a_loss_that_is_not_a_number_is_not_written(tmp_path: Path) -> None:
    metrics = MetricsFile(tmp_path / "metrics.jsonl", keep=0)
    with pytest.raises(ValueError, match="Out of range float values"):
        metrics.append({"loss": float("nan")})
    assert metrics.sync() == 0
    metrics.close()
