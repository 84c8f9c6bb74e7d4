"""What every test gets: shapes and types checked, no network, one thread count, no colours."""

import os
import signal
import socket
import tempfile
import threading
from pathlib import Path

import pytest

from typecheck import check_package

check_package("attnlab")

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def pytest_configure() -> None:
    os.environ["NO_COLOR"] = "1"
    os.environ["ATTNLAB_CACHE"] = tempfile.mkdtemp(prefix="attnlab-test-cache-")
    for name in ("ATTNLAB_ASSETS", "ATTNLAB_RUNS", "ATTNLAB_DEBUG", "RANK", "WORLD_SIZE"):
        os.environ.pop(name, None)
    os.fsync = lambda _: None  # nobody pulls the plug on a test; the faults' processes have it
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # as in a shell's background, where commands that tests interrupt would never end
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test reach this machine only."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise OSError(f"a test must not reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # pip is a process of its own


@pytest.fixture(autouse=True)
def own_excepthook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give pytest back what watches its threads, after a test of the guard that does it, too."""
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)


@pytest.fixture(autouse=True)
def no_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no phase in this process, however slow the machine is: tests compare what is printed."""
    monkeypatch.setattr("attnlab.phases.PATIENCE", 3600.0)
    monkeypatch.setattr("attnlab.cli.commands.announce_imports", lambda *_: None)


@pytest.fixture
def data_folder() -> Path:
    """Return the folder of real data; tests marked `data` are skipped where there is none."""
    folder = os.environ.get("ATTNLAB_DATA")
    if not folder:
        pytest.skip("ATTNLAB_DATA is not set")
    return Path(folder)
