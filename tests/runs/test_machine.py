"""What a result was measured on."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

from attnlab import __version__
from attnlab.runs import machine


def test_the_description_holds_what_a_record_needs_and_is_json() -> None:
    found = machine.describe()
    assert set(found) == {"command", "versions", "cpu", "platform", "commit"}
    assert set(found["cpu"]) == {"name", "features", "cores"}
    assert json.loads(json.dumps(found)) == found


def test_versions_are_those_that_are_installed() -> None:
    import torch

    versions = machine.versions()
    assert versions["python"] == platform.python_version()
    assert versions["torch"] == torch.__version__
    assert versions["attnlab"] == __version__


def test_a_package_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PACKAGES", ("attnlab-that-nobody-wrote", "torch"))
    assert list(machine.versions.__wrapped__()) == ["python", "torch"]


def test_the_processor_has_a_name_and_known_features() -> None:
    cpu = machine.cpu()
    assert cpu["name"]
    assert set(cpu["features"]) <= set(machine.CPU_FEATURES)
    assert cpu["cores"] == machine.cores()


def test_cores_are_those_this_process_may_use() -> None:
    assert 1 <= machine.cores() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_cores_follow_what_a_cluster_allows() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert machine.cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_memory_is_given_in_bytes() -> None:
    assert (machine.memory_bytes() or 0) > 2**28


def test_free_disk_is_known_for_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    assert machine.free_disk_bytes(tmp_path / "not" / "yet") > 0


def test_the_commit_is_that_of_the_checkout() -> None:
    here = Path(machine.__file__).parent
    head = subprocess.run(
        ["git", "-C", str(here), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    assert (machine.commit() or "").removesuffix("+") == head


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert machine.commit.__wrapped__() is None
