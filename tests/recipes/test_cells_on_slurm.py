"""Cells as an array of jobs: what is submitted, what is left, and what a failure says."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from attnlab.cluster.settings import SlurmSettings
from attnlab.cluster.submission import Submission
from attnlab.config import resolve, to_yaml
from attnlab.errors import HandedOver, RunError
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.lock import hold
from attnlab.runs.study import Study
from fake_slurm import FakeSlurm, fake_slurm
from small_jobs import SETTINGS, write_inputs

__all__ = ["fake_slurm"]
JOB, GRID = "knowledge-demo", "classify-select"
STUDIES = {JOB: SETTINGS[JOB], GRID: replace(SETTINGS[GRID], lrs=(1e-3, 2e-3, 3e-3), epochs=(1,))}
FIRST = ["world"]
QUIET = Console(quiet=True)


@pytest.fixture
def submission(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fake_slurm: FakeSlurm,
) -> Submission:
    """Return a study that was submitted, and whose first job is about to plan it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLURM_JOB_ID", "")
    monkeypatch.setattr("attnlab.recipes.knowledge.language_model.LONGEST_ANSWER", 20)  # quicker
    write_inputs(tmp_path)
    assert fake_slurm.jobs == []
    return launched(tmp_path / "runs" / "study", JOB)


def launched(path: Path, job: str) -> Submission:
    """Submit a study."""
    submission, asked = Submission.of(path), SlurmSettings(cpus=2)
    batch = submission.batch([submission.command(job, "--hand-out")], asked)
    assert submission.launch(to_yaml(STUDIES[job]), asked, batch) is not None
    return submission


def plan(
    submission: Submission, at_once: int | None = None, job_id: str | None = None, job: str = JOB
) -> Study:
    """Do what the newest script does that is to plan the study."""
    planners = [one["id"] for one in submission.submitted() if not one["cells"]]
    os.environ["SLURM_JOB_ID"] = planners[-1] if job_id is None else job_id
    place = RunPlace(submission.run.parent, submission.run.name)
    study: Study = find_job(job).run(
        STUDIES[job], place=place, console=QUIET, parallel=at_once, hand_out=True
    )
    return study


def run_cells(submission: Submission, names: list[str]) -> None:
    """Do what the tasks of the newest array do, for some of them."""
    folder = submission.run
    jobs = {cell["name"]: cell["job"] for cell in Study.open(folder).cells}
    for name in names:
        job = find_job(jobs[name])
        settings = resolve(job.settings(), file=folder / "cells" / f"{name}.yaml")
        job.run(settings, place=RunPlace(folder, name), console=QUIET)


def cells_of(submission: Submission) -> list[list[str]]:
    """Return the cells of each array."""
    return [job["cells"] for job in submission.submitted() if job["cells"]]


def test_ready_cells_are_one_array_and_the_next_job_waits_for_them(
    submission: Submission, fake_slurm: FakeSlurm
) -> None:
    with pytest.raises(HandedOver, match="are job 2; job 3 goes on when") as handed:
        plan(submission)
    assert handed.value.exit_code == 0
    assert cells_of(submission) == [FIRST]
    assert fake_slurm.asked[-1][2] == "--dependency=afterany:2"
    script = (submission.folder / "cells.sh").read_text()
    assert "#SBATCH --array=0-0\n" in script
    assert "--cpus-per-task=2" in script
    run_cells(submission, FIRST)
    fake_slurm.end()
    with pytest.raises(HandedOver):
        plan(submission, at_once=2)
    second = cells_of(submission)[1]
    assert len(second) > 2, "those that needed the world may run now, and are one array"
    assert (
        f"#SBATCH --array=0-{len(second) - 1}%2\n" in (submission.folder / "cells.sh").read_text()
    )


@pytest.mark.slow
def test_the_last_job_closes_the_study_and_submits_nothing(
    submission: Submission, fake_slurm: FakeSlurm
) -> None:
    for _ in range(5):
        try:
            study = plan(submission)
            break
        except HandedOver:
            run_cells(submission, cells_of(submission)[-1])
            fake_slurm.end()
    assert study.is_finished
    submitted = [name for cells in cells_of(submission) for name in cells]
    assert sorted(submitted) == sorted(cell["name"] for cell in study.cells), "each once"
    before = len(fake_slurm.asked)
    assert plan(submission).is_finished
    assert len(fake_slurm.asked) == before


def test_what_is_finished_is_not_submitted(submission: Submission, fake_slurm: FakeSlurm) -> None:
    for step in range(2):
        with pytest.raises(HandedOver):
            plan(submission)
        run_cells(submission, cells_of(submission)[step][: 1 + step])
        fake_slurm.end()
    whole = cells_of(submission)[-1]
    batch = submission.batch([["x"]], SlurmSettings())
    assert submission.launch("", SlurmSettings(), batch), "a second launcher, after a failure"
    with pytest.raises(HandedOver):
        plan(submission)
    assert cells_of(submission)[-1] == whole[2:]


def test_a_requeued_planner_submits_neither_its_cells_nor_its_successor_twice(
    submission: Submission,
) -> None:
    for _ in range(2):
        with pytest.raises(HandedOver, match="are job 2; job 3 goes on"):
            plan(submission, job_id="1")
    assert [job["id"] for job in submission.submitted()] == ["1", "2", "3"]
    assert cells_of(submission) == [FIRST]


def test_a_cell_that_ended_without_a_result_is_named_with_its_last_words(
    submission: Submission, fake_slurm: FakeSlurm
) -> None:
    with pytest.raises(HandedOver):
        plan(submission)
    fake_slurm.end("FAILED")
    with pytest.raises(RunError, match=r"the cell world ended without a result: it never began\."):
        plan(submission)
    log = submission.folder / "2_0.log"
    log.write_text("began\nno room on the disk.\n")
    expected = rf"result: no room on the disk\. Its log is {log}\. The same command goes on"
    with pytest.raises(RunError, match=expected):
        plan(submission)
    assert cells_of(submission) == [FIRST], "nobody submits it again by itself"


def test_a_cell_of_another_command_is_left_alone(submission: Submission) -> None:
    with pytest.raises(HandedOver):
        plan(submission)  # which makes the study
    launch, *_ = submission.submitted()
    (submission.folder / "submitted.jsonl").write_text(f"{json.dumps(launch)}\n")
    (submission.run / "world").mkdir()
    with (
        hold(submission.run / "world"),
        pytest.raises(RunError, match="another command works on the cell world"),
    ):
        plan(submission)
    assert cells_of(submission) == []


def test_a_cell_that_failed_by_itself_is_a_result_and_the_grid_goes_on(
    submission: Submission, fake_slurm: FakeSlurm
) -> None:
    grid = launched(submission.run.with_name("grid"), GRID)
    with pytest.raises(HandedOver):
        plan(grid, job=GRID)
    (cells,) = cells_of(grid)
    collapsed, killed, *others = cells
    script = (grid.folder / "cells.sh").read_text()
    note = grid.run / "cells" / f"{collapsed}.log.failure"
    assert f"env ATTNLAB_FAILURE={note} " in script
    note.write_text(json.dumps({"in_a_word": "nan", "message": "step 3: the loss is nan."}))
    run_cells(grid, others)
    fake_slurm.end()
    array = grid.submitted()[1]["id"]
    fake_slurm.jobs = [
        replace(job, state="OUT_OF_MEMORY") if job.job_id == f"{array}_1" else job
        for job in fake_slurm.jobs
    ]
    for _ in range(3):
        try:
            study = plan(grid, job=GRID)
            break
        except HandedOver:
            run_cells(grid, cells_of(grid)[-1])
            fake_slurm.end()
    failures = {name: Run.open(grid.run / name).failure for name in (collapsed, killed)}
    assert study.is_finished
    assert {name: failure["kind"] for name, failure in failures.items() if failure} == {
        collapsed: "nan",
        killed: "memory",
    }
