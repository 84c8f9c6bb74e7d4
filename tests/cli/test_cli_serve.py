"""``attnlab serve``: the address, the port, and the end."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from command_line import Attnlab

from attnlab.cli import serve


def test_it_says_where_it_is_answers_and_ends_with_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "attnlab", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert server.stdout is not None
    try:
        where, ending = server.stdout.readline(), server.stdout.readline()
        base = where.removeprefix("attnlab is at ").partition("?")[0]
        assert base.startswith("http://127.0.0.1:")
        with urlopen(f"{base}api/runs") as answer:
            assert json.load(answer) == {"folder": "runs", "runs": [], "problems": []}
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=20)
    finally:
        server.kill()
    assert (ending, out, err) == ("Ctrl-C ends it.\n", "", "attnlab: stopped by Ctrl-C.\n")
    assert server.returncode == 130


def test_a_port_in_use_is_refused_with_what_to_do(attnlab: Attnlab) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = attnlab("serve", "--port", str(port))
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use." in done.err
    assert "Choose another --port" in done.err


@pytest.mark.parametrize("host", ["203.0.113.9", "no such host"])
def test_an_address_that_is_not_ours_is_refused(attnlab: Attnlab, host: str) -> None:
    done = attnlab("serve", "--port", "0", "--host", host)
    assert done.code == 2
    assert host in done.err


def test_runs_must_be_a_folder(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = attnlab("serve", "--runs", "file")
    assert (done.code, done.err) == (2, "attnlab: --runs file is not a folder.\n")


@pytest.mark.parametrize(
    ("is_terminal", "display", "opens"),
    [(True, ":0", True), (True, "", False), (False, ":0", False)],
)
def test_a_browser_opens_where_somebody_has_a_screen(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, display: str, opens: bool
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert serve._has_screen() is opens
