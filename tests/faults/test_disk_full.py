"""Fault 3: no room left on the disk."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import NAME, STEPS, finish, outcome

KIBIBYTES = 700


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a tmpfs of a few hundred kibibytes; needs the right to mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={KIBIBYTES}k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mount).returncode:
        pytest.skip("mounting a small tmpfs needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
def test_a_full_disk_is_named_and_the_run_resumes_once_there_is_room(
    processes: int, small_disk: Path, undisturbed: Any
) -> None:
    # A first part of the run leaves a good checkpoint; then the disk fills up.
    finish(small_disk, kill="after step 6", processes=processes)
    kept = sorted(p.name for p in (small_disk / NAME / "checkpoints").iterdir())
    assert kept == ["step-00000005"]
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    ballast.write_bytes(bytes(free - 12 * 1024))

    full = finish(small_disk, processes=processes)
    assert full.returncode == 1
    assert full.stderr.count("No space left on device") == 1
    assert str(small_disk / NAME) in full.stderr
    if processes == 1:  # torchrun adds a traceback of its own
        assert "Traceback" not in full.stderr
    assert sorted(p.name for p in (small_disk / NAME / "checkpoints").iterdir()) == kept
    assert not (small_disk / NAME / "record.json").exists()

    ballast.unlink()
    resumed = finish(small_disk, processes=processes)
    assert resumed.returncode == 0, resumed.stderr
    assert f"resumed at step 5 of {STEPS}" in resumed.stderr
    assert outcome(small_disk) == undisturbed(processes)
