"""What cannot fit into memory is refused before it is allocated."""

from pathlib import Path

import pytest

from attnlab.errors import UserError
from attnlab.runs import machine
from attnlab.runs.memory import need_memory, read_bytes, written_bytes

GIB = 2**30


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in for the files in which Linux tells about memory: 8 GiB are free, without a limit."""
    groups = tmp_path / "groups"
    (groups / "job" / "step").mkdir(parents=True)
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {8 * 2**20} kB\n")
    (tmp_path / "own").write_text("0::/job/step\n")
    monkeypatch.setattr(machine, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "CGROUP", groups)
    monkeypatch.setattr(machine, "OWN_CGROUP", tmp_path / "own")
    return groups


def test_what_is_free_is_what_the_system_says(linux: Path) -> None:
    (linux / "memory.max").write_text("max\n")
    (linux / "memory.current").write_text("5\n")
    assert machine.free_memory_bytes() == 8 * GIB


@pytest.mark.parametrize("group", ["", "job", "job/step"])
def test_the_limit_of_any_group_around_the_process_counts(linux: Path, group: str) -> None:
    (linux / group / "memory.max").write_text(f"{3 * GIB}\n")
    (linux / group / "memory.current").write_text(f"{GIB}\n")
    assert machine.free_memory_bytes() == 2 * GIB


def test_the_limit_of_an_old_group_counts(linux: Path) -> None:
    (linux / "memory").mkdir()
    (linux / "memory" / "memory.limit_in_bytes").write_text(f"{3 * GIB}\n")
    (linux / "memory" / "memory.usage_in_bytes").write_text(f"{4 * GIB}\n")
    assert machine.free_memory_bytes() == 0


def test_a_system_that_says_nothing_refuses_nothing(
    linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.MEMINFO.unlink()
    monkeypatch.setattr(machine, "memory_bytes", lambda: None)
    assert not list(linux.glob("memory*"))
    assert machine.free_memory_bytes() is None
    need_memory(10**30, "everything")


@pytest.mark.usefixtures("linux")
def test_the_message_gives_both_amounts() -> None:
    need_memory(8 * GIB, "a table of 2 rows")
    with pytest.raises(
        UserError,
        match=r"a table of 3 rows needs about 8\.5 GiB of memory, but 8 GiB are free\. Choose a"
        r" smaller one\.",
    ):
        need_memory(8 * GIB + GIB // 2, "a table of 3 rows")


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (10**16, "8.8 PiB"),
        (10**400, "more than 1,000 EiB"),
    ],
)
def test_bytes_are_written_in_the_unit_that_fits(n_bytes: int, text: str) -> None:
    assert written_bytes(n_bytes) == text


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("", 0), ("2GB", 2 * 10**9), ("800 MiB", 800 * 2**20), ("1.5gib", 3 * 2**29)],
)
def test_an_amount_of_memory_is_read_with_its_unit(text: str, n_bytes: int) -> None:
    assert read_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["2", "GB", "0GB", "-1GB", "2XB", "2G", "1e3GB", "9" * 99 + "GB"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="give a number above 0 and one of KB, MB, GB, TB, KiB"):
        read_bytes(text)
