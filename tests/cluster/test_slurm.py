"""Slurm's commands: what they are given, and what their refusals become."""

import subprocess
from pathlib import Path

import pytest

from attnlab.cluster import slurm
from attnlab.cluster.slurm import QueuedJob
from attnlab.errors import RunError, UserError
from fake_slurm import FakeSlurm

SCRIPT = Path("/runs/.jobs/a/job.sh")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is all of the PATH but for bash."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    return tmp_path


def write_tool(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/bash\n{body}\n")
    (folder / name).chmod(0o755)


def test_without_slurm_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"there is no sbatch on the PATH.*or leave --on slurm out"):
        slurm.submit(SCRIPT)


def test_a_job_is_told_nothing_of_the_job_that_submits_it(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/etc/mine.conf")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    write_tool(tools, "sbatch", 'echo "$SLURM_CONF-$SLURM_ARRAY_TASK_ID-$*;cluster"')
    said = slurm.submit(SCRIPT, after=["5", "6"])
    assert said == f"/etc/mine.conf----parsable --dependency=afterany:5:6 {SCRIPT}"


def test_a_command_that_fails_is_named_with_its_words(tools: Path) -> None:
    write_tool(tools, "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm' >&2; exit 1")
    with pytest.raises(RunError, match="squeue failed: Unable to contact slurm"):
        slurm.queue()


def test_a_command_that_does_not_answer_is_given_up(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "PATIENCE", 0.1)
    write_tool(tools, "scancel", "exec sleep 5")
    with pytest.raises(RunError, match=r"scancel has not answered for 0.1 seconds"):
        slurm.cancel(["1"])


def test_the_queue_is_read_by_columns(fake_slurm: FakeSlurm) -> None:
    waiting = QueuedJob("12_3", "attnlab-my run", "PENDING", 0, "Resources")
    over = QueuedJob("11", "attnlab-b", "CANCELLED", 2, "None")
    fake_slurm.jobs = [waiting, over]
    assert slurm.queue() == [waiting, over]
    assert [job.is_over for job in slurm.queue()] == [False, True]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "sbatch: error: invalid partition specified: nope\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
            r"refuses /runs/.jobs/a/job.sh: invalid partition specified: nope; Batch job submission"
            r" failed: Invalid partition name specified. Choose another --partition: main \(at most"
            r" 1:00:00\), spare \(at most infinite\)\.",
        ),
        (
            "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing"
            " or exceeds some limit)",
            r"exceeds some limit\). Choose another --time: main \(at most 1:00:00\)",
        ),
        (
            "sbatch: error: Batch job submission failed: Requested node configuration is not"
            " available",
            "Ask for fewer --nodes, --gpus or --cpus",
        ),
        (
            "sbatch: error: Invalid account or account/partition combination specified",
            r"Choose another --account, or a --partition that it may use: main \(at most",
        ),
        ("sbatch: error: Invalid qos specification", "Choose another --qos"),
        ("", "it said nothing. The script can be changed and submitted with sbatch"),
    ],
    ids=["partition", "time", "nodes", "account", "qos", "nothing"],
)
def test_a_refusal_has_slurms_words_the_script_and_what_to_change(
    fake_slurm: FakeSlurm, words: str, expected: str
) -> None:
    fake_slurm.refusal = words or "\n"
    with pytest.raises(UserError, match=expected):
        slurm.submit(SCRIPT)


def test_the_fake_takes_what_the_real_one_is_given(fake_slurm: FakeSlurm, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text('#SBATCH --job-name="a"\n#SBATCH --array=0-2%2\n')
    assert slurm.submit(script) == "1"
    assert [job.job_id for job in slurm.queue()] == ["1_0", "1_1", "1_2"]
    slurm.cancel(["1"])
    assert all(job.is_over for job in slurm.queue())
    assert isinstance(fake_slurm.run(["sinfo"]), subprocess.CompletedProcess)
