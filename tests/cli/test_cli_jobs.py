"""``--on slurm`` and ``attnlab jobs``: what is submitted, listed, waited for and cancelled."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Attnlab

from attnlab.cli import jobs
from attnlab.recipes.jobs import JOBS
from attnlab.recipes.studies import StudyPlan
from fake_slurm import FakeSlurm

SUBMIT = ("run", "knowledge-world", "--set", "people=20", "--name", "world", "--on", "slurm")
HERE = SUBMIT[:-2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs" / ".jobs" / "world"


def test_submitting_returns_the_job_and_the_run(
    attnlab: Attnlab, fake_slurm: FakeSlurm, tmp_path: Path, folder: Path
) -> None:
    done = attnlab(*SUBMIT, "--partition", "spare", "--cpus", "3")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"job 1 is submitted; its run is {tmp_path / 'runs' / 'world'}\n"
    script = (folder / "job.sh").read_text()
    assert "#SBATCH --partition=spare" in script
    assert "--cpus-per-task=3" in script
    assert f"attnlab run knowledge-world --config {folder / 'settings.yaml'}" in script
    assert not (tmp_path / "runs" / "world").exists(), "the job makes the run"
    assert "people: 20" in (folder / "settings.yaml").read_text()
    assert fake_slurm.asked[-1] == ["sbatch", "--parsable", str(folder / "job.sh")]


def test_what_is_in_the_queue_is_not_submitted_again(
    attnlab: Attnlab, fake_slurm: FakeSlurm
) -> None:
    attnlab(*SUBMIT)
    done = attnlab(*SUBMIT)
    assert done.out == "world was submitted before, and job 1 is still in the queue\n"
    assert len(fake_slurm.jobs) == 1
    fake_slurm.end("CANCELLED")
    assert attnlab(*SUBMIT).out.startswith("job 2 is submitted")


def test_a_job_id_that_was_given_again_to_another_is_not_ours(
    attnlab: Attnlab, fake_slurm: FakeSlurm
) -> None:
    attnlab(*SUBMIT)
    fake_slurm.jobs = [replace(fake_slurm.jobs[0], name="somebody's")]
    assert attnlab(*SUBMIT).out.startswith("job 2 is submitted")


def test_what_is_finished_is_not_submitted(attnlab: Attnlab, fake_slurm: FakeSlurm) -> None:
    assert attnlab(*HERE).code == 0
    done = attnlab(*SUBMIT)
    assert done.out == "world is finished; nothing is submitted.\n"
    assert fake_slurm.asked == []


def test_removing_a_run_removes_what_was_submitted_for_it_unless_a_job_waits(
    attnlab: Attnlab, fake_slurm: FakeSlurm, tmp_path: Path, folder: Path
) -> None:
    attnlab(*SUBMIT)
    assert attnlab(*HERE).code == 0
    refused = attnlab("runs", "rm", "world", "--yes")
    assert refused.code == 2
    assert "job 1 of world is in the queue: `attnlab jobs cancel world` first." in refused.err
    assert folder.exists()
    fake_slurm.end()
    assert attnlab("runs", "rm", "world", "--yes").code == 0
    assert not folder.exists()
    assert not (tmp_path / "runs" / "world").exists()


def test_another_run_of_that_name_is_refused(attnlab: Attnlab, fake_slurm: FakeSlurm) -> None:
    attnlab(*HERE)
    done = attnlab(*SUBMIT, "--set", "people=30")
    assert done.code == 2
    assert "exists with other settings (people: 20 there, 30 now)" in done.err
    assert fake_slurm.asked == []


def test_a_refusal_leaves_the_script_to_look_at(
    attnlab: Attnlab, fake_slurm: FakeSlurm, folder: Path
) -> None:
    fake_slurm.refusal = "sbatch: error: invalid partition specified: nope"
    done = attnlab(*SUBMIT, "--partition", "nope")
    assert done.code == 2
    assert f"Slurm refuses {folder / 'job.sh'}: invalid partition specified: nope." in done.err
    assert "Choose another --partition: main (at most 1:00:00)" in done.err
    assert (folder / "job.sh").exists()
    assert attnlab("jobs", "list").out == "nothing was submitted from runs.\n"


def test_a_dry_run_prints_the_script_and_submits_nothing(
    attnlab: Attnlab, fake_slurm: FakeSlurm, tmp_path: Path
) -> None:
    done = attnlab(
        "classify", "select", "--on", "slurm", "--gpus", "2", "--nodes", "3", "--dry-run"
    )
    assert done.code == 0, done.err
    assert done.out.startswith("#!/bin/bash\n")
    # the cells get what was asked for; what plans them needs one process
    assert "--nodes=1\n" in done.out
    assert "--gres=gpu:1\n" in done.out
    assert done.out.count("--hand-out") == 1
    assert fake_slurm.asked == []
    assert list(tmp_path.iterdir()) == []


def test_a_profile_is_read_and_flags_go_over_it(
    attnlab: Attnlab, fake_slurm: FakeSlurm, tmp_path: Path
) -> None:
    profile = tmp_path / "cluster.yaml"
    profile.write_text("account: lab\npartition: slow\nmodules: [cuda]\nsetup: [export A=1]\n")
    words = (*SUBMIT, "--profile", str(profile), "--partition", "fast", "--dry-run")
    script = attnlab(*words).out.splitlines()
    assert {"#SBATCH --account=lab", "#SBATCH --partition=fast"} <= set(script)
    assert {"module load cuda", "export A=1"} <= set(script)
    profile.write_text("acount: lab\n")
    done = attnlab(*words)
    assert done.code == 2
    assert f"{profile}:1: there is no setting 'acount'. Did you mean 'account'?" in done.err
    assert fake_slurm.asked == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--on", "cloud"), "--on 'cloud' is not possible: give local or slurm."),
        (("--qos", "x"), "--qos is for jobs on Slurm: add --on slurm, or leave it out."),
        (("--profile", "x"), "--profile is for jobs on Slurm: add --on slurm"),
        (("--on", "slurm", "--time", "soon"), "--time soon: time = 'soon' is not possible"),
        (("--on", "slurm", "--gpus", "-1"), "--gpus -1: gpus = -1 is not possible"),
        (("--on", "slurm", "--parallel", "2"), "--parallel is for studies"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_place_is_refused(
    attnlab: Attnlab, tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    done = attnlab(*HERE, *words)
    assert (done.code, done.out) == (2, "")
    assert expected in done.err
    assert list(tmp_path.iterdir()) == []


def test_answers_of_typed_texts_and_files_of_answers_stay_here(attnlab: Attnlab) -> None:
    done = attnlab("classify", "predict", "run", "--text", "good", "--on", "slurm")
    assert done.code == 2
    assert "--on slurm is for files: texts typed or piped are answered here." in done.err
    done = attnlab("classify", "predict", "run", "a.csv", "--outputs", "o.csv", "--on", "slurm")
    assert done.code == 2
    assert "--outputs cannot be used with --on slurm: when the job has ended" in done.err


def test_the_list_joins_queue_and_run_directory(attnlab: Attnlab, fake_slurm: FakeSlurm) -> None:
    attnlab(*SUBMIT)
    fake_slurm.jobs = [replace(fake_slurm.jobs[0], restarts=2)]
    header, line = attnlab("jobs", "list").out.splitlines()
    assert header.split() == "name job state progress requeued age".split()
    assert line.split()[:5] == ["world", "1", "pending", "(Priority)", "2"]
    fake_slurm.end("FAILED")
    (shown,) = json.loads(attnlab("jobs", "list", "--json").out)
    assert shown["state"] == "not begun"
    assert attnlab(*HERE).code == 0
    (shown,) = json.loads(attnlab("jobs", "list", "--json").out)
    assert (shown["name"], shown["state"], shown["requeues"]) == ("world", "finished", 2)


def test_logs_are_those_of_the_newest_job(
    attnlab: Attnlab, fake_slurm: FakeSlurm, folder: Path
) -> None:
    attnlab(*SUBMIT)
    done = attnlab("jobs", "logs", "world")
    assert done.code == 2
    assert "world has no log yet: runs/.jobs/world/1.log appears when its job begins." in done.err
    (folder / "1.log").write_text("first\n")
    fake_slurm.end()
    attnlab(*SUBMIT)
    assert attnlab("jobs", "logs", "1").out == "first\n"
    (folder / "2.log").write_text("second\n")
    assert attnlab("jobs", "logs", "world").out == "second\n"
    assert "has submitted no cell 'x'" in attnlab("jobs", "logs", "world/x").err


def test_waiting_ends_with_the_job_and_says_how_it_went(
    attnlab: Attnlab, fake_slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    attnlab(*SUBMIT)
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            fake_slurm.end("TIMEOUT")

    monkeypatch.setattr(jobs.time, "sleep", sleep)
    done = attnlab("jobs", "wait", "world")
    assert (done.code, done.out, len(looks)) == (1, "world is not begun\n", 3)
    assert "`attnlab jobs logs world` says why. Submit it again to go on." in done.err
    attnlab(*HERE)
    assert attnlab("jobs", "wait", "1") == (0, "world is finished\n", "")


def test_cancelling_takes_it_out_of_the_queue(attnlab: Attnlab, fake_slurm: FakeSlurm) -> None:
    attnlab(*SUBMIT)
    assert attnlab("jobs", "cancel", "world").out == "world: job 1 is cancelled\n"
    assert fake_slurm.asked[-1] == ["scancel", "1"]
    assert attnlab("jobs", "cancel", "world").out == "world has no job in the queue\n"


@pytest.mark.parametrize("command", ["logs", "wait", "cancel"])
def test_a_name_that_was_not_submitted_is_refused(
    attnlab: Attnlab, fake_slurm: FakeSlurm, command: str
) -> None:
    attnlab(*SUBMIT)
    done = attnlab("jobs", command, "wrld")
    assert done.code == 2
    assert "'wrld' was not submitted from runs. Did you mean 'world'?" in done.err
    assert len(fake_slurm.jobs) == 1


def test_the_table_says_which_jobs_are_studies() -> None:
    assert [job.is_study for job in JOBS.values()] == [
        isinstance(job.work, StudyPlan) for job in JOBS.values()
    ]


def test_submitting_a_study_loads_neither_torch_nor_numpy(tmp_path: Path) -> None:
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho 1\n")
    (tmp_path / "sbatch").chmod(0o755)
    code = (
        "import sys, os\n"
        f"os.environ['PATH'] = {str(tmp_path)!r} + ':' + os.environ['PATH']\n"
        "sys.argv[1:] = ['classify', 'select', '--on', 'slurm', '--gpus', '1']\n"
        "from attnlab.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('loaded', *({'torch', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert "job 1 is submitted" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded"
