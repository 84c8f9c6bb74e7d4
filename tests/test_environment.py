"""Variables of torchrun and srun: which process this is, and where the others are."""

import os
from pathlib import Path

import pytest

from attnlab.environment import (
    check_environment,
    local_rank,
    local_world_size,
    process_rank,
    take_over_srun,
    tasks_on,
    world_size,
)
from attnlab.errors import UserError
from attnlab.training.distributed import join_processes
from attnlab.training.srun import lead_address

OURS = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
SRUN = {
    "SLURM_STEP_NUM_TASKS": "5",
    "SLURM_PROCID": "4",
    "SLURM_LOCALID": "0",
    "SLURM_NODEID": "2",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
    "SLURM_STEP_NODELIST": "n[1-3]",
    "SLURM_JOB_ID": "123456",
}


@pytest.fixture
def srun(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Set what srun sets in the last of five processes on three nodes."""
    for name in OURS:
        monkeypatch.setenv(name, "")  # so that what is set here is undone afterwards
        monkeypatch.delenv(name)
    for name, value in SRUN.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.usefixtures("srun")
def test_srun_says_which_process_this_is() -> None:
    take_over_srun()
    check_environment()
    assert (world_size(), process_rank(), local_rank(), local_world_size()) == (5, 4, 0, 1)
    assert os.environ["MASTER_PORT"] == "23456"


def test_a_batch_script_that_starts_no_others_is_one_process(srun: pytest.MonkeyPatch) -> None:
    srun.delenv("SLURM_STEP_NUM_TASKS")
    srun.setenv("SLURM_NTASKS", "5")
    take_over_srun()
    assert (world_size(), process_rank()) == (1, 0)


def test_torchrun_within_srun_is_believed(srun: pytest.MonkeyPatch) -> None:
    srun.setenv("WORLD_SIZE", "8")
    srun.setenv("RANK", "7")
    take_over_srun()
    assert (world_size(), process_rank()) == (8, 7)


def test_a_variable_that_srun_cannot_have_set_is_named(srun: pytest.MonkeyPatch) -> None:
    srun.setenv("SLURM_STEP_NUM_TASKS", "many")
    with pytest.raises(UserError, match="SLURM_STEP_NUM_TASKS=many is not possible"):
        take_over_srun()


def test_a_process_without_its_number_is_refused(srun: pytest.MonkeyPatch) -> None:
    srun.delenv("SLURM_PROCID")
    srun.setenv("MASTER_ADDR", "127.0.0.1")
    take_over_srun()
    with pytest.raises(UserError, match="WORLD_SIZE is 5, but RANK is not set"), join_processes():
        pass


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ("1(x2)", [1, 1, None]),
        ("2(x2),1", [2, 2, 1, None]),
        ("4", [4, None]),
        ("3,2(x1)", [3, 2, None]),
        ("", [None]),
    ],
)
def test_processes_on_a_node_are_read_as_slurm_writes_them(
    counts: str, expected: list[int | None]
) -> None:
    assert [tasks_on(node, counts) for node in range(len(expected))] == expected


def test_the_address_of_the_first_node_is_asked_from_slurm(
    srun: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(
        "#!/bin/sh\n"
        'if [ "$2" = hostnames ]; then printf "n1\\nn2\\nn3\\n"\n'
        'else echo "NodeName=$4 Arch=x86_64 NodeAddr=10.0.0.7 NodeHostName=other"; fi\n'
    )
    scontrol.chmod(0o755)
    srun.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert lead_address() == "10.0.0.7"


def test_without_an_answer_the_user_is_asked_for_the_address(
    srun: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    srun.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"where the first node of n\[1-3\] is: set MASTER_ADDR"):
        lead_address()
