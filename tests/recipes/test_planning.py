"""The planner: every cell with its steps, timed without training, and nothing left behind."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.recipes.classify.settings import ClassifySettings, SelectSettings
from attnlab.recipes.jobs import JOBS, find_job
from attnlab.recipes.planning import plan_of
from attnlab.report.planning import Plan
from attnlab.runs.directory import RunPlace
from attnlab.training import forecast
from small_jobs import SETTINGS, name_of, write_inputs

QUIET = Console(quiet=True)


def planned(settings: SelectSettings, folder: Path, **more: Any) -> Plan:
    return plan_of("classify-select", settings, RunPlace(folder / "runs", "study"), **more)


def test_a_grid_is_planned_cell_by_cell_and_each_kind_is_timed_once(
    base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[int] = []
    original = forecast.forecast

    def counted(*given: Any, **more: Any) -> forecast.Forecast:
        found = original(*given, **more)
        timed.append(found.steps)
        return replace(found, step_seconds=2.0, evaluation_seconds=5.0)

    monkeypatch.setattr("attnlab.training.loop.forecast", counted)
    settings = SelectSettings((1e-3, 1e-2), (1, 4), batch_sizes=(20, 10), seeds=2, base=base)
    plan = planned(settings, tmp_path)
    assert timed == [3, 6], "batches of 20 and of 10; seed, rate and length change no step's cost"
    steps = {cell.name: cell.steps for cell in plan.cells}
    assert len(steps) == 16
    assert steps["lr-1e-3-epochs-1-batch-20-seed-0"] == 3
    assert steps["lr-1e-3-epochs-4-batch-20-seed-0"] == 9, "it goes on from the first epoch"
    assert steps["lr-1e-2-epochs-4-batch-10-seed-1"] == 18
    costs = {cell.name: cell.seconds for cell in plan.cells}
    more = costs["lr-1e-3-epochs-4-batch-20-seed-0"] - costs["lr-1e-3-epochs-1-batch-20-seed-0"]
    assert more == pytest.approx(6 * 2.0)
    assert (plan.conditions, plan.seeds) == (8, 2)
    assert plan.sizes == {"dev": 25}, "the cells of a grid leave test unread"
    assert not (tmp_path / "runs").exists()
    assert plan.seconds == pytest.approx(sum(costs.values()))
    assert planned(settings, tmp_path, parallel=4).parallel == 4


def test_what_is_finished_costs_nothing_more(base: ClassifySettings, tmp_path: Path) -> None:
    settings = SelectSettings((1e-3,), (1,), base=replace(base, test=""))
    place = RunPlace(tmp_path / "runs", "study")
    find_job("classify-select").run(settings, place=place, console=QUIET)
    plan = planned(settings, tmp_path)
    assert [(cell.note, cell.seconds) for cell in plan.cells] == [("finished", 0.0)]


def test_processes_that_share_the_cores_are_timed_with_their_share(
    base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 2)
    shared = replace(base, training=replace(base.training, threads=0))
    assert planned(SelectSettings((1e-3,), (1,), base=shared), tmp_path, parallel=2).threads == 1
    assert "OMP_NUM_THREADS" not in os.environ


def test_timing_changes_no_weight(
    base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[bool] = []
    original = forecast.forecast

    def watched(task: Any, *given: Any, **more: Any) -> forecast.Forecast:
        before = {name: p.clone() for name, p in task.model.named_parameters()}
        found = original(task, *given, **more)
        moved.extend(bool((p != before[n]).any()) for n, p in task.model.named_parameters())
        return found

    monkeypatch.setattr("attnlab.training.loop.forecast", watched)
    plan_of("classify-train", base, RunPlace(tmp_path / "runs"))
    assert moved
    assert not any(moved)


TRAIN_NOTHING = (
    *("knowledge-world", "knowledge-majority", "knowledge-evaluate", "classify-predict"),
    *("classify-probe", "knowledge-linear-probe"),
    *("attention-coins", "attention-cost", "attention-examine"),
)


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS)
def test_every_job_and_study_has_a_plan(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    needed = {
        "knowledge-majority": ["knowledge-world"],
        "knowledge-pretrain": ["knowledge-world"],
        "knowledge-finetune": ["knowledge-world", "knowledge-pretrain"],
        "knowledge-course": ["knowledge-world"],
        "attention-ablate": ["knowledge-world"],
        "attention-fill-in": ["knowledge-world"],
    }
    for earlier in needed.get(job, []):
        place = RunPlace(Path("runs"), name_of(earlier))
        find_job(earlier).run(SETTINGS[earlier], place=place, console=QUIET)
    there = sorted(tmp_path.rglob("*"))
    plan = plan_of(job, SETTINGS[job], RunPlace(Path("runs"), "planned"))
    assert plan.cells
    trains = any(cell.steps for cell in plan.cells)
    assert trains == (job not in TRAIN_NOTHING)
    assert sorted(tmp_path.rglob("*")) == there
