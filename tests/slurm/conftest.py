"""A real Slurm cluster, started once; where it cannot be had, the tests here are skipped."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import Cluster

HERE = Path(__file__).parent
NOT_HERE = 3
"""What start.sh ends with where there is no Slurm."""


@pytest.fixture(scope="session")
def slurm_conf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start the cluster, and stop it in the end."""
    folder = tmp_path_factory.mktemp("cluster")
    with (folder / "start.log").open("w") as log:  # not a pipe: daemons would keep it open
        done = subprocess.run([HERE / "start.sh", folder], stdout=log, stderr=log, timeout=600)
    said = (folder / "start.log").read_text()
    if done.returncode == NOT_HERE:
        pytest.skip(said.strip().splitlines()[-1])
    assert done.returncode == 0, said
    try:
        yield folder / "slurm.conf"
    finally:
        subprocess.run([HERE / "stop.sh", folder], check=True, timeout=120, capture_output=True)


@pytest.fixture
def cluster(slurm_conf: Path, tmp_path: Path) -> Iterator[Cluster]:
    """Return the cluster for one test, which works in a folder of its own."""
    one = Cluster(slurm_conf, tmp_path)
    one.write_inputs()
    try:
        yield one
    finally:
        one.empty_the_queue()
