"""A folder of runs of every kind, and a server for it."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi.testclient import TestClient
from records import answers, classifier_run, labelled_run, perplexity_run

from attnlab.runs.directory import METRICS, Run, RunPlace
from attnlab.runs.metrics import MetricsFile
from attnlab.web.app import create_app
from attnlab.web.settings import WebSettings

TOKEN = "a-token-of-the-tests"
STEPS = 200
COINS = {"flips": 500, "seed": 0}


def write_runs(root: Path) -> None:
    """Write finished runs, a study, a run that was stopped, and one that failed."""
    root.mkdir(parents=True)
    for name, right in (("reader", 50), ("guesser", 31)):
        gold, predicted = answers(right, 60)
        classifier_run(root, name, gold=gold, predicted=predicted)
        classifier_run(root / "study", name, gold=gold, predicted=predicted)
    study = {"title": "Readers & <b>guessers</b>", "runs": ["reader", "guesser"]}
    (root / "study" / "study.json").write_text(json.dumps(study))
    labelled_run(root, ["good", "bad", "so so"], name="classes")
    perplexity_run(root, "writer", [0.5, 1.5, 2.5])
    with_log(root, "stopped", lines=20)
    failed = Run.begin("knowledge-pretrain", {}, RunPlace(root, "failed"))
    try:
        with failed:
            raise RuntimeError("the loss is <script>alert(1)</script>")
    except RuntimeError:
        pass


def with_log(root: Path, name: str, *, lines: int) -> tuple[Run, MetricsFile]:
    """Write a run that has begun to train, and return its log to go on with."""
    run = Run.begin("knowledge-pretrain", {"name": name}, RunPlace(root, name))
    run.resolve_once("steps", lambda: STEPS)
    log = MetricsFile(run.path / METRICS, keep=0)
    grow(log, range(1, lines + 1))
    return run, log


def stopped_coins(root: Path, name: str) -> Path:
    """Write a run of another job that was stopped, and return its folder."""
    run, _ = with_log(root, name, lines=5)
    config = json.loads((run.path / "config.json").read_text())
    config |= {"job": "attention-coins", "settings": COINS}
    (run.path / "config.json").write_text(json.dumps(config))
    return run.path


def grow(log: MetricsFile, steps: range) -> None:
    """Log some steps."""
    for step in steps:
        log.append({"step": step, "loss": 3 / step**0.5, "dev_accuracy": step / STEPS})


def client_of(settings: WebSettings) -> TestClient:
    """Return a client that asks an application in this process."""
    address = f"http://127.0.0.1:{settings.port}"
    return TestClient(create_app(settings), base_url=address, follow_redirects=False)


def writing_client(settings: WebSettings) -> TestClient:
    """Return a client that may write, as the page may."""
    client = client_of(settings)
    client.headers.update({"Origin": str(client.base_url), "X-Attnlab-Token": TOKEN})
    return client


@contextmanager
def serving(root: Path) -> Iterator[WebSettings]:
    """Serve a folder of runs on a free port of this machine, in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))
    settings = WebSettings(runs=root, port=listening.getsockname()[1], token=TOKEN)
    config = uvicorn.Config(create_app(settings), log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield settings
    finally:
        server.should_exit = True
        thread.join(10)
