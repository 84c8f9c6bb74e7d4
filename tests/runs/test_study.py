"""A study: begun once, gone on with by the same settings, and naming its cells and runs."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attnlab.errors import DamagedFileError, UserError
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.study import STUDY, Study, StudyOutcome

SETTINGS = {"people": 10, "model": {"d_model": 12, "orders": (2, 3)}}


def begin(folder: Path, settings: Mapping[str, Any] = SETTINGS, name: str | None = "mine") -> Study:
    return Study.begin("job", settings, RunPlace(folder, name), title="Who?")


def closed(study: Study, *names: str, notes: Sequence[str] = ()) -> Study:
    study.close(StudyOutcome(names, notes=notes, featured=names[0]))
    return Study.open(study.path)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_new_study_has_a_title_and_no_runs(tmp_path: Path) -> None:
    study = begin(tmp_path / "runs")
    assert study == Study(tmp_path / "runs" / "mine", "Who?", [], [], "job", cells=[], is_new=True)
    assert Study.open(study.path) == replace(study, is_new=False)
    saved = json.loads((study.path / STUDY).read_text())
    assert saved["settings"] == {"people": 10, "model": {"d_model": 12, "orders": [2, 3]}}


def test_without_a_name_it_is_called_after_job_and_settings(tmp_path: Path) -> None:
    first = begin(tmp_path, name=None)
    assert first.path.name.startswith("job-")
    assert begin(tmp_path, name=None).path == first.path
    assert begin(tmp_path, {"people": 11}, name=None).path != first.path


def test_the_same_settings_go_on_with_it(tmp_path: Path) -> None:
    closed(begin(tmp_path), "first")
    before = everything(tmp_path)
    assert begin(tmp_path).runs == ["first"]
    assert everything(tmp_path) == before


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    begin(tmp_path)
    before = everything(tmp_path)
    message = (
        r"^the study .*mine exists with other settings \(model.d_model: 12 there, 24 now\)\."
        r" Choose another --name, or delete that folder\.$"
    )
    with pytest.raises(UserError, match=message):
        begin(tmp_path, {"people": 10, "model": {"d_model": 24, "orders": [2, 3]}})
    assert everything(tmp_path) == before


def test_another_job_is_refused(tmp_path: Path) -> None:
    begin(tmp_path)
    with pytest.raises(UserError, match=r"exists with other settings \(job: 'job' there, 'other'"):
        Study.begin("other", SETTINGS, RunPlace(tmp_path, "mine"), title="Who?")


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    Run.begin("job", {}, RunPlace(tmp_path, "mine"))
    before = everything(tmp_path)
    with pytest.raises(
        UserError, match=r"mine exists and is not a study. Choose another --name\.$"
    ):
        begin(tmp_path)
    assert everything(tmp_path) == before


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(
        UserError, match=r"mine exists and is not a study. Choose another --name\.$"
    ):
        begin(tmp_path)


def test_an_empty_folder_becomes_a_study(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert begin(tmp_path).runs == []


def test_what_it_came_to_is_written_down(tmp_path: Path) -> None:
    study = closed(begin(tmp_path), "first", "second", notes=["Mind the gap."])
    assert (study.runs, study.notes) == (["first", "second"], ["Mind the gap."])
    assert (study.job, study.featured, study.title) == ("job", "first", "Who?")


def cell(name: str, needs: Sequence[str] = ()) -> dict[str, Any]:
    return {"name": name, "job": "job", "needs": list(needs)}


def test_every_cell_is_named_with_the_settings_that_its_command_reads(tmp_path: Path) -> None:
    study = begin(tmp_path)
    study.plan([(cell("a"), "seed: 3\n")])
    study.plan([(cell("a", ["world"]), "seed: 3\n"), (cell("b"), "seed: 4\n")])
    cells = Study.open(study.path).cells
    assert [(one["name"], one["needs"]) for one in cells] == [("a", ["world"]), ("b", [])]
    assert (study.path / "cells" / "a.yaml").read_text() == "seed: 3\n"


def test_settings_of_cells_that_are_gone_or_changed_are_written_again(tmp_path: Path) -> None:
    study, planned = begin(tmp_path), [(cell("a"), "seed: 3\n"), (cell("b"), "seed: 4\n")]
    study.plan(planned)
    files = [study.path / "cells" / f"{name}.yaml" for name in "ab"]
    files[0].unlink()
    files[1].write_text("seed: 5\n")
    study.plan(planned)
    assert [file.read_text() for file in files] == ["seed: 3\n", "seed: 4\n"]


def test_the_runs_are_opened_in_the_order_they_are_compared_in(tmp_path: Path) -> None:
    study = begin(tmp_path)
    for name in ("ant", "zebra"):
        Run.begin("job", {}, RunPlace(study.path, name))
    assert [run.name for run in closed(study, "zebra", "ant").opened()] == ["zebra", "ant"]


def test_an_unfinished_study_has_the_runs_that_are_scored(tmp_path: Path) -> None:
    study = begin(tmp_path)
    score = {"metric": "accuracy", "value": 0.5, "n": 2, "interval": [0.1, 0.9]}
    found = {"world": {}, "scored": {"test": score}, "going": None}
    study.plan([(cell(name), "") for name in (*found, "later")])
    for name, scores in found.items():
        run = Run.begin("job", {}, RunPlace(study.path, name))
        if scores is not None:
            run.finish({"scores": scores})
    assert [run.name for run in study.begun()] == ["world", "scored", "going"]
    assert [run.name for run in study.opened()] == ["scored"]


def test_a_study_without_runs_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^the study .*mine has no runs to compare yet; repeat its com"
    ):
        begin(tmp_path).opened()


def test_a_study_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    study = begin(tmp_path)
    content = json.loads((study.path / STUDY).read_text())
    del content["format"]
    (study.path / STUDY).write_text(json.dumps(content))
    for look in (lambda: Study.open(study.path), lambda: begin(tmp_path)):
        with pytest.raises(UserError, match=r"mine was made by an earlier version of attnlab"):
            look()


def test_a_run_that_is_named_but_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^there is no run 'ghost' in .*mine\."):
        closed(begin(tmp_path), "ghost").opened()


@pytest.mark.parametrize("cells", ['"a"', '["a"]', '[{"name": "a"}]', "{}"])
def test_cells_that_are_none_are_refused(tmp_path: Path, cells: str) -> None:
    (tmp_path / STUDY).write_text(f'{{"runs": [], "cells": {cells}}}')
    with pytest.raises(DamagedFileError, match=r"study.json: cells(\[0\])? (is|lacks) "):
        Study.open(tmp_path)


@pytest.mark.parametrize("content", ["{}", '{"runs": "a"}'])
def test_a_study_that_names_no_list_of_runs_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / STUDY).write_text(content)
    with pytest.raises(UserError, match=r"study.json must name its runs in a list called 'runs'"):
        Study.open(tmp_path)


def test_a_study_file_that_is_no_json_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / STUDY).write_text('{"runs":\n]')
    with pytest.raises(DamagedFileError, match=r"study.json:2 is not JSON"):
        Study.open(tmp_path)


def test_a_study_made_by_hand_needs_no_title(tmp_path: Path) -> None:
    (tmp_path / STUDY).write_text('{"runs": ["a"]}')
    assert Study.open(tmp_path) == Study(tmp_path, None, ["a"], [], cells=[])


def test_only_the_one_who_made_a_study_takes_it_back_and_only_untouched(tmp_path: Path) -> None:
    study = begin(tmp_path)
    begin(tmp_path).discard_if_untouched()
    assert study.path.exists()
    (study.path / "run").mkdir()
    (study.path / "run" / "metrics.jsonl").touch()
    study.discard_if_untouched()
    assert study.path.exists()
    (study.path / "run" / "metrics.jsonl").unlink()
    (study.path / "run").rmdir()
    study.plan([(cell("asked"), "")])
    asked = Run.begin("job", {}, RunPlace(study.path, "asked"))
    asked.resolve_once("hardware", lambda: {"device": "cpu", "precision": "float32"})
    asked.finish({"scores": {}})
    study.discard_if_untouched()
    assert asked.finished, "a model was asked"
    shutil.rmtree(asked.path)
    study.discard_if_untouched()
    assert not study.path.exists()


@pytest.mark.parametrize("content", ["", "{", '{"runs": []}'], ids=["empty", "half", "whole"])
def test_a_kill_before_study_json_has_its_name_does_not_block_the_command(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".study.json.tmp").write_text(content)
    study = begin(tmp_path)
    assert study.is_new
    assert {path.name for path in study.path.iterdir()} == {STUDY, ".lock"}


def test_a_kill_before_a_new_study_json_has_its_name_keeps_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    study = begin(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            closed(study, "first")
    assert begin(tmp_path).runs == []
    assert closed(begin(tmp_path), "first").runs == ["first"]
    assert not (study.path / ".study.json.tmp").exists()


def test_a_kill_while_a_study_is_taken_back_does_not_block_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove_half_and_die(path: Path, **_: object) -> None:
        if path.exists():
            (path / STUDY).unlink()
            raise KeyboardInterrupt

    study = begin(tmp_path)
    Run.begin("job", {}, RunPlace(study.path, "world"))
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", remove_half_and_die)
        with pytest.raises(KeyboardInterrupt):
            study.discard_if_untouched()
    assert begin(tmp_path).is_new
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
