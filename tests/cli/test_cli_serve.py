"""``attnlab serve``: the address, the port, and the end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from command_line import Attnlab

from attnlab.cli import serve
from attnlab.runs.lock import is_held


@pytest.mark.parametrize(
    ("number", "said", "code"),
    [
        (signal.SIGINT, "attnlab: stopped by Ctrl-C.\n", 130),
        (signal.SIGHUP, "", -signal.SIGTERM),  # its terminal was closed
    ],
    ids=["ctrl-c", "hang-up"],
)
def test_it_says_where_it_is_answers_and_ends_with_one_line(
    tmp_path: Path, number: signal.Signals, said: str, code: int
) -> None:
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
        server.send_signal(number)
        out, err = server.communicate(timeout=20)
    finally:
        server.kill()
    assert (ending, out, err) == ("Ctrl-C ends it.\n", "", said)
    assert server.returncode == code


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["ctrl-c", "hang-up"])
def test_the_end_of_the_server_stops_a_job_that_the_page_has_started_and_it_is_saved(
    tmp_path: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "attnlab", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"}, start_new_session=True,
    )  # fmt: skip
    assert server.stdout is not None
    values = {"world.people": 20, "world.biographies": 1, "samples": 0, "model.d_model": 12,
              "model.n_heads": 3, "model.ngram_table.rows": 0, "questions_length": "1 step",
              "training.length": "1M steps", "training.threads": 1}  # fmt: skip
    log = tmp_path / "runs" / "demo" / "recall" / "metrics.jsonl"
    try:
        where = server.stdout.readline().strip().removeprefix("attnlab is at ")
        base, _, token = where.partition("/?token=")
        order = json.dumps({"job": "knowledge-demo", "name": "demo", "values": values}).encode()
        headers = {"Origin": base, "X-Attnlab-Token": token, "Content-Type": "application/json"}
        with urlopen(Request(f"{base}/api/jobs/start", order, headers)) as answer:
            assert json.load(answer)["state"] == "running"
        end = time.monotonic() + 120
        while not (log.exists() and log.read_text().count("\n") > 2):
            assert time.monotonic() < end
            time.sleep(0.1)
        os.killpg(server.pid, number)  # as a terminal does, to all that are its own
        _, err = server.communicate(timeout=60)
    finally:
        server.kill()
    assert err.startswith("attnlab: waiting for demo to be saved.")
    assert not is_held(log.parent)
    said = (tmp_path / "runs" / ".web" / "demo.log").read_text()
    assert "everything is saved in" in said
    assert list((log.parent / "checkpoints").glob("step-*"))


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
