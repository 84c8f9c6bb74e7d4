"""The runs of a folder: listed newest first, damaged ones reported, one found by its name."""

import json
import os
from pathlib import Path

import pytest

from attnlab.errors import UserError
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.listing import list_runs
from attnlab.runs.lookup import find_run
from attnlab.runs.shapes import ADVICE


def begin(root: Path, name: str) -> Run:
    return Run.begin("job", {"seed": 3}, RunPlace(root, name))


def test_runs_are_listed_newest_first_and_other_things_left_out(tmp_path: Path) -> None:
    for age, name in enumerate(["new", "middle", "old"]):
        begin(tmp_path, name)
        os.utime(tmp_path / name / "config.json", (1e9 - age, 1e9 - age))
    (tmp_path / "photos").mkdir()
    (tmp_path / "note.txt").write_text("", encoding="utf-8")
    runs, problems = list_runs(tmp_path)
    assert [run.name for run in runs] == ["new", "middle", "old"]
    assert problems == []


def test_a_damaged_run_is_reported_and_the_others_are_listed(tmp_path: Path) -> None:
    for name in ("good", "torn", "bare"):
        begin(tmp_path, name)
    (tmp_path / "torn" / "config.json").write_text('{"job"', encoding="utf-8")
    (tmp_path / "bare" / "config.json").write_text(
        json.dumps({"format": 3, "job": "j"}), encoding="utf-8"
    )
    runs, problems = list_runs(tmp_path)
    assert [run.name for run in runs] == ["good"]
    assert sorted(problems) == [
        f"{tmp_path}/bare/config.json lacks settings, resolved. {ADVICE}",
        f"{tmp_path}/torn/config.json:1 is not JSON: Expecting ':' delimiter.",
    ]


def test_a_link_to_nowhere_does_not_stop_the_list(tmp_path: Path) -> None:
    begin(tmp_path, "good")
    (tmp_path / "dangling").symlink_to(tmp_path / "deleted")
    assert [run.name for run in list_runs(tmp_path)[0]] == ["good"]


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_folder_that_is_not_there_holds_no_runs(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert list_runs(tmp_path / name) == ([], [])


def test_a_run_is_found_by_its_name_or_its_path(tmp_path: Path) -> None:
    run, other = begin(tmp_path / "runs", "reader"), begin(tmp_path, "elsewhere")
    assert find_run("reader", tmp_path / "runs") == run.path
    assert find_run(str(other.path), tmp_path / "runs") == other.path
    with pytest.raises(UserError, match=r"there is no run 'raeder' in .*Did you mean 'reader'\?"):
        find_run("raeder", tmp_path / "runs")
