"""The text of batch scripts, against files that were read and tried on a real cluster."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from slurm_batches import BATCHES

from attnlab.cluster.script import script_of
from attnlab.cluster.settings import SlurmSettings
from attnlab.config import Given, resolve
from attnlab.errors import UserError

GOLDEN = Path(__file__).with_name("golden")


@pytest.mark.parametrize("name", BATCHES)
def test_a_script_is_the_golden_one(name: str) -> None:
    assert script_of(BATCHES[name]) == (GOLDEN / f"{name}.sh").read_text()


def test_there_are_no_other_golden_files() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == BATCHES.keys()


@pytest.fixture
def fake_tools(tmp_path: Path) -> Path:
    """Write an srun that ends with the code in CODE, and a scontrol that can be seen."""
    tools = tmp_path / "tools"
    tools.mkdir()
    bodies = {
        "srun": 'printf "[%s]" "$@"; echo; exit $CODE',
        "scontrol": 'echo "scontrol $* PreemptTime=$PREEMPTED"; [ $1 != requeue ]',
        "sleep": "echo slept",
    }
    for name, body in bodies.items():
        (tools / name).write_text(f"#!/bin/bash\n{body}\n")
        (tools / name).chmod(0o755)
    return tools


def run_script(tools: Path, name: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    known = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "CODE": "0"}
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", script_of(BATCHES[name])],
        env=known | path | variables,
        capture_output=True,
        text=True,
    )


def test_bash_gives_srun_the_command_word_by_word(fake_tools: Path) -> None:
    done = run_script(fake_tools, "run")
    assert done.returncode == 0, done
    assert "[/home/me/my runs/.jobs/reader/settings.yaml]" in done.stdout


def test_a_task_of_an_array_runs_its_own_cell(fake_tools: Path) -> None:
    done = run_script(fake_tools, "array", SLURM_ARRAY_TASK_ID="1")
    assert "[--name][it's 5e-4]" in done.stdout
    assert "lr-1e" not in done.stdout


@pytest.mark.parametrize(
    ("code", "preempted", "is_requeued"),
    [
        (138, "None", True),
        (143, "2026-11-17T20:27:07", True),
        (143, "None", False),
        (137, "None", False),
        (1, "None", False),
        (2, "None", False),
    ],
)
def test_a_run_that_was_warned_or_preempted_is_requeued_and_no_other(
    fake_tools: Path, code: int, preempted: str, is_requeued: bool
) -> None:
    done = run_script(fake_tools, "run", CODE=str(code), PREEMPTED=preempted)
    assert done.returncode == code
    assert ("scontrol requeue 7" in done.stdout) == is_requeued


def test_requeues_are_bounded(fake_tools: Path) -> None:
    last = run_script(fake_tools, "run", CODE="138", SLURM_RESTART_COUNT="20")
    assert last.returncode == 138
    assert "scontrol requeue" not in last.stdout
    assert "requeued 20 times, which is the limit: submit it again to go on" in last.stdout
    preempted = run_script(fake_tools, "run", SLURM_RESTART_COUNT="21")
    assert preempted.returncode == 1
    assert "requeued too often: submit it again to go on" in preempted.stdout
    assert "attnlab" not in preempted.stdout, "nothing is run"


def test_a_name_keeps_its_quotes_and_backslashes() -> None:
    script = script_of(replace(BATCHES["run"], name='a "b" \\c'))
    assert '#SBATCH --job-name="a \\"b\\" \\\\c"' in script


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("time", "soon", "'soon' is not a time: give MINUTES"),
        ("time", "1:00:00:00", "is not a time"),
        ("partition", "a b", "'a b' is not a name: give one word"),
        ("qos", "x\n#SBATCH --exclusive", "is not a name"),
        ("setup", ["a\nb"], "is not one line of text"),
        ("modules", ["cuda; rm -rf /"], "is not a name"),
        ("gpus", -1, "greater than or equal to 0"),
    ],
)
def test_what_cannot_stand_in_a_script_is_refused(key: str, value: object, expected: str) -> None:
    with pytest.raises(UserError, match=f"--{key}.*{expected}"):
        resolve(SlurmSettings(), flags={key: Given(value, f"--{key}")})


@pytest.mark.parametrize("time", ["", "90", "5:30", "2:00:00", "1-12", "1-12:30", "1-12:30:00"])
def test_every_form_of_time_is_taken(time: str) -> None:
    assert resolve(SlurmSettings(), flags={"time": Given(time, "--time")}).time == time
