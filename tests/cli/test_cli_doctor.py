"""``attnlab doctor``: what this machine has."""

import json
import socket
from collections.abc import Callable

import pytest
import torch

from attnlab.cli.doctor import PRECISIONS
from attnlab.training.hardware import asked_precision

Attnlab = Callable[..., tuple[int, str, str]]

NAMES = "versions processor bfloat16 threads memory disk hub slurm".split()


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_each_line_tells_one_thing(attnlab: Attnlab) -> None:
    code, out, err = attnlab("doctor")
    assert (code, err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert list(lines) == NAMES
    assert f"torch {torch.__version__}" in lines["versions"]
    assert "cores" in lines["processor"]
    assert lines["disk"].endswith("GiB free for runs")
    assert lines["hub"] == "offline by HF_HUB_OFFLINE"
    assert "\x1b" not in out


def test_json_holds_the_same(attnlab: Attnlab) -> None:
    code, out, err = attnlab("doctor", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {
        *("versions", "cpu", "memory_gib", "threads"),
        *("disk_free_gib", "hub", "slurm", "precision"),
    }
    assert found["cpu"]["cores"] >= 1
    assert found["versions"]["torch"] == torch.__version__


def test_thread_variables_are_shown(attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert "OMP_NUM_THREADS=3" in attnlab("doctor")[1]
    assert json.loads(attnlab("doctor", "--json")[1])["threads"]["OMP_NUM_THREADS"] == "3"


def test_a_precision_that_training_would_refuse_is_refused(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_PRECISION", "float16")
    out = attnlab("doctor")[1]
    assert "ATTNLAB_PRECISION=float16 is not allowed: give float32 or bfloat16\n" in out
    for precision in PRECISIONS:
        monkeypatch.setenv("ATTNLAB_PRECISION", precision)
        assert asked_precision() == precision
        assert f"ATTNLAB_PRECISION makes auto {precision}\n" in attnlab("doctor")[1]


def test_without_slurm_it_says_so(attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "no sbatch on the PATH" in attnlab("doctor")[1]
    assert json.loads(attnlab("doctor", "--json")[1])["slurm"] is None


@pytest.mark.parametrize("reached", [True, False])
def test_the_hub_is_tried_unless_it_is_switched_off(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch, reached: bool
) -> None:
    tried: list[object] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        tried.append((address, timeout > 0))
        if not reached:
            raise OSError("no route")
        return socket.socket()

    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example/path")
    monkeypatch.setattr(socket, "create_connection", connect)
    hub = json.loads(attnlab("doctor", "--json")[1])["hub"]
    assert tried == [(("hub.example", 443), True)]
    end = "can be reached" if reached else "cannot be reached (no route)"
    assert hub == f"https://hub.example/path {end}"
