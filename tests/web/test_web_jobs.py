"""Jobs that are started, stopped and gone on with from the page."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from served import COINS as SETTINGS
from served import TOKEN, stopped_coins, writing_client

from attnlab.cluster.process import Ended
from attnlab.config import to_dict
from attnlab.recipes.attention.settings import CostSettings
from attnlab.report.pace import seconds_left
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.lock import hold
from attnlab.web import children as jobs_here
from attnlab.web import live
from attnlab.web.children import MOST_JOBS, Children
from attnlab.web.job_progress import LOG_BYTES, log_end
from attnlab.web.settings import WebSettings

WAITS = """
import signal, sys, time
def stop(*_):
    print("saved", flush=True)
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
time.sleep(60)
"""
COINS = {"job": "attention-coins", "values": {"flips": 500}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a job be a process that only waits; it takes a moment, where torch takes seconds."""
    waits = [sys.executable, "-c", WAITS]
    monkeypatch.setattr(jobs_here, "command_of", lambda *_: waits)
    monkeypatch.setattr(live, "PAUSE", 0.02)


@pytest.fixture
def client(root: Path) -> Iterator[TestClient]:
    """Return a client that may write; when it closes, so does the server."""
    settings = WebSettings(runs=root, files=root.parent, token=TOKEN)
    with writing_client(settings) as client:
        yield client


def children_of(client: TestClient) -> Children:
    found: Children = client.app.state.children  # type: ignore[attr-defined]
    return found


def post(client: TestClient, what: str, **body: Any) -> Response:
    return client.post(f"/api/jobs/{what}", json=body)


def told(response: Response, status: int) -> str:
    assert response.status_code == status, response.text
    return str(response.json()["error"])


def listed(client: TestClient) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in client.get("/api/jobs").json()["started"]}


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def ready(client: TestClient, name: str) -> None:
    until(lambda: log_end(children_of(client).find(name).started.log)[:1] == ["ready"])


def test_the_list_has_every_job_and_the_form_says_what_may_be_read(
    client: TestClient, root: Path
) -> None:
    names = [job["name"] for job in client.get("/api/jobs").json()["jobs"]]
    assert "knowledge-demo" in names
    form = client.get("/api/jobs/form", params={"job": "attention-coins"}).json()
    assert [field["key"] for field in form["fields"]] == ["flips", "seed"]
    assert form["folders"] == [str(root.parent), str(root)]
    unknown = client.get("/api/jobs/form", params={"job": "knowledge-dem"})
    assert "Did you mean 'knowledge-demo'?" in told(unknown, 400)


def test_a_job_is_started_stopped_and_gone_on_with(client: TestClient, root: Path) -> None:
    name = post(client, "start", **COINS).json()["name"]
    assert name.startswith("attention-coins-")
    assert listed(client)[name]["state"] == "running"
    assert "flips: 500" in (root / ".web" / f"{name}.yaml").read_text()
    ready(client, name)
    assert post(client, "stop", name=name).json()["state"] in ("stopping", "stopped")
    until(lambda: listed(client)[name]["state"] == "stopped")
    assert (root / ".web" / f"{name}.log").read_text() == "ready\nsaved\n"
    assert "is not running" in told(post(client, "stop", name=name), 400)
    assert post(client, "resume", name=name).json()["state"] == "running"
    assert ".web" not in {line["name"] for line in client.get("/api/runs").json()["runs"]}


def test_so_many_jobs_run_at_a_time_and_no_more(client: TestClient) -> None:
    for number in range(MOST_JOBS):
        assert post(client, "start", **COINS, name=f"job-{number}").status_code == 200
    refused = told(post(client, "start", **COINS, name="another"), 429)
    assert "2 jobs are running (job-1, job-0), which is as many as the server runs" in refused
    assert "is running already" in told(post(client, "start", **COINS, name="job-0"), 429)
    ready(client, "job-0")
    post(client, "stop", name="job-0")
    until(lambda: listed(client)["job-0"]["state"] == "stopped")
    assert post(client, "start", **COINS, name="another").status_code == 200


def test_the_end_of_the_server_stops_its_jobs_and_waits_until_they_have_saved(root: Path) -> None:
    with writing_client(WebSettings(runs=root, token=TOKEN)) as client:
        post(client, "start", **COINS, name="coins")
        ready(client, "coins")
        child = children_of(client).find("coins")
    assert child.started.process.returncode == 130
    assert (root / ".web" / "coins.log").read_text() == "ready\nsaved\n"


def test_a_job_that_does_not_save_itself_is_killed_in_the_end(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = "import signal, time; signal.signal(2, signal.SIG_IGN); print('ready', flush=True)"
    argv = [sys.executable, "-c", f"{deaf}; time.sleep(60)"]
    monkeypatch.setattr(jobs_here, "command_of", lambda *_: argv)
    monkeypatch.setattr(jobs_here, "PATIENCE", 0.1)
    post(client, "start", **COINS, name="deaf")
    ready(client, "deaf")
    children_of(client).close()
    assert listed(client)["deaf"]["state"] == "stopped"


@pytest.mark.parametrize(
    ("ended", "state"),
    [
        (Ended("a", 0, "done"), "finished"),
        (Ended("a", 130, "stopped by Ctrl-C."), "stopped"),
        (Ended("a", -9, "killed"), "stopped"),
        (Ended("a", -9, "killed", "memory"), "failed"),
        (Ended("a", 1, "it failed", "failed"), "failed"),
        (Ended("a", 2, "there is no file"), "failed"),
    ],
    ids=str,
)
def test_how_a_process_ended_is_a_state(ended: Ended, state: str, client: TestClient) -> None:
    post(client, "start", **COINS, name="coins")
    child = children_of(client).find("coins")
    assert replace(child, ended=ended).state == state


def test_a_job_that_fails_says_why(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "there is no <b>corpus</b>: give --dev, or --dev-share above 0."
    argv = [sys.executable, "-c", f"print({said!r}); raise SystemExit(2)"]
    monkeypatch.setattr(jobs_here, "command_of", lambda *_: argv)
    post(client, "start", **COINS, name="coins")
    until(lambda: listed(client)["coins"]["state"] == "failed")
    in_words = "there is no <b>corpus</b>: give dev, or dev_share above 0."
    assert listed(client)["coins"]["said"] == in_words


def test_the_latest_jobs_are_remembered(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_here, "command_of", lambda *_: [sys.executable, "-S", "-c", ""])
    monkeypatch.setattr(jobs_here, "MOST_KEPT", 2)
    for number in range(4):
        post(client, "start", **COINS, name=f"job-{number}")
        until(lambda: all(one["state"] == "finished" for one in listed(client).values()))
    assert list(listed(client)) == ["job-3", "job-2", "job-1"]


@pytest.mark.parametrize(
    ("values", "status", "words"),
    [
        ({"flips": 3}, 422, "flips = 3 is not possible"),
        ({"flops": 3}, 400, "there is no setting 'flops'. Did you mean 'flips'?"),
        ({"flips": {"a": {}}}, 422, "input should be a valid integer"),
    ],
)
def test_settings_that_cannot_be_start_nothing(
    client: TestClient, root: Path, values: dict[str, Any], status: int, words: str
) -> None:
    answer = post(client, "start", job="attention-coins", values=values)
    assert words in told(answer, status)
    assert answer.json().get("fields", {}).keys() == ({"flips"} if status == 422 else set())
    assert listed(client) == {}
    assert not (root / ".web").exists()


@pytest.mark.parametrize("name", ["..", "../out", "/tmp/out", ".web", "a/b", "a\nb", "é" * 150])
def test_a_name_that_leads_elsewhere_starts_nothing(
    client: TestClient, root: Path, name: str
) -> None:
    refused = post(client, "start", **COINS, name=name)
    assert told(refused, 422).startswith("name ")
    assert "must be a plain folder name" in refused.json()["fields"]["run-name"]
    assert not (root / ".web").exists()
    assert not (root.parent / "out").exists()


def test_a_link_that_leads_out_is_not_written_through(
    client: TestClient, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "coins").symlink_to(tmp_path / "elsewhere")
    refused = told(post(client, "start", **COINS, name="coins"), 400)
    assert "is a link that leads out of" in refused
    (root / ".web").symlink_to(tmp_path / "elsewhere")
    refused = told(post(client, "start", **COINS, name="other"), 400)
    assert "is a link that leads out of" in refused
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_code_and_files_elsewhere_are_refused_next_to_their_fields(client: TestClient) -> None:
    values = {"corpus": "/etc/passwd", "model.attention.name": "mine.py:Mine"}
    refused = post(client, "start", job="knowledge-pretrain", values=values)
    assert refused.status_code == 422
    assert refused.json()["fields"].keys() == values.keys()
    assert listed(client) == {}


def test_a_run_of_other_settings_or_of_nobody_is_refused(client: TestClient, root: Path) -> None:
    pretrain = {"job": "knowledge-pretrain", "values": {}}
    other = told(post(client, "start", **pretrain, name="stopped"), 400)
    assert "exists with other settings" in other
    assert "Choose another name, or delete that folder" in other
    assert "exists with other settings" in told(post(client, "start", **COINS, name="study"), 400)
    assert "there is no run 'coins'" in told(post(client, "resume", name="coins"), 404)
    assert not (root / ".web").exists()


def test_an_unfinished_run_of_the_list_is_gone_on_with(client: TestClient, root: Path) -> None:
    stopped_coins(root, "coins")
    assert post(client, "resume", name="coins").json()["state"] == "running"
    assert "flips: 500" in (root / ".web" / "coins.yaml").read_text()


def test_a_run_of_a_users_own_code_does_not_go_on_from_the_page(
    client: TestClient, root: Path
) -> None:
    settings = to_dict(CostSettings(("mine.py:Mine",)))
    Run.begin("attention-cost", settings, RunPlace(root, "cost"))
    refused = post(client, "resume", name="cost")
    assert refused.status_code == 422
    assert "start this job on the command line" in refused.json()["fields"]["names"]
    assert listed(client) == {}


def test_a_run_that_another_process_works_on_is_left_alone(client: TestClient, root: Path) -> None:
    with hold(stopped_coins(root, "coins")):
        refused = told(post(client, "resume", name="coins"), 429)
    assert "another process is working on coins" in refused


def test_a_run_of_another_version_or_a_study_by_hand_does_not_go_on(
    client: TestClient, root: Path
) -> None:
    config = stopped_coins(root, "coins") / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"format": 99}))
    assert "another version of attnlab" in told(post(client, "resume", name="coins"), 400)
    assert "cannot be resumed: no job known here made it" in told(
        post(client, "resume", name="study"), 400
    )
    assert listed(client) == {}


def test_a_finished_run_is_not_started_again(client: TestClient, root: Path) -> None:
    Run.begin("attention-coins", SETTINGS, RunPlace(root, "coins")).finish({"scores": {}})
    refused = told(post(client, "start", **COINS, name="coins"), 400)
    assert "is finished, with these settings" in refused


@pytest.mark.parametrize("what", ["start", "stop", "resume"])
@pytest.mark.parametrize(
    "headers",
    [{"X-Attnlab-Token": "wrong"}, {"Origin": "http://evil.example"}, {"Host": "evil.example"}],
    ids=["token", "origin", "host"],
)
def test_only_the_page_with_the_token_starts_and_stops(
    client: TestClient, root: Path, what: str, headers: dict[str, str]
) -> None:
    body = COINS if what == "start" else {"name": "stopped"}
    refused = client.post(f"/api/jobs/{what}", json=body, headers=headers)
    assert refused.status_code in (403, 421)
    assert listed(client) == {}
    assert not (root / ".web").exists()


def test_the_events_of_a_job_show_progress_until_it_ends(client: TestClient, root: Path) -> None:
    assert "no job called 'x' was started here" in told(client.get("/api/jobs/events?name=x"), 404)
    stopped_coins(root, "coins")
    post(client, "resume", name="coins")
    ready(client, "coins")
    post(client, "stop", name="coins")
    text = client.get("/api/jobs/events", params={"name": "coins"}).text
    events = [line.removeprefix("event: ") for line in text.split("\n") if "event: " in line]
    assert (events[0], events[-1]) == ("job", "end")
    data = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]
    assert data[-2]["progress"] == "step 5 of 200"
    assert data[-2]["share"] == 5 / 200
    assert data[-2]["log"] == ["ready", "saved"]
    assert data[-2]["panels"]
    assert data[-1] == {"state": "stopped"}


def test_the_end_of_a_long_log_is_read_alone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert log_end(log) == []
    log.write_text("x" * 2 * LOG_BYTES + "\nlast\n")
    lines = log_end(log)
    assert lines[-1] == "last"
    assert len("".join(lines)) < LOG_BYTES


def test_the_time_left_follows_the_last_steps() -> None:
    slow = [{"step": step, "loss": 1.0, "seconds": 10.0 * step} for step in range(1, 5)]
    quick = [{"step": step, "loss": 1.0, "seconds": 40.0 + step} for step in range(5, 60)]
    evaluated = [{"step": 59, "dev_accuracy": 0.5, "seconds": 99.0}]
    assert seconds_left([], 100) is None
    assert seconds_left(slow, None) is None
    assert seconds_left(slow, 10) == pytest.approx(60)
    assert seconds_left([*slow, *quick, *evaluated], 100) == pytest.approx(41)
    assert seconds_left(slow, 4) == 0
