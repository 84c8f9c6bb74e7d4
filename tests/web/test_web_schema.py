"""Hostile requests made from the server's own schema: none may end in a 500."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from served import TOKEN, writing_client

from attnlab.recipes.jobs import JOBS
from attnlab.web import children
from attnlab.web.app import create_app
from attnlab.web.form import form_of
from attnlab.web.settings import WebSettings

HEADERS = {"Host": "localhost", "Origin": "http://localhost", "X-Attnlab-Token": TOKEN}
REFUSED = (401, 403, 421)
"""What the border answers; a request that it stops tests nothing behind it."""
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)


def ask_everything(app: Any, *, examples: int) -> set[str]:
    """Send requests to every address of the schema, right and wrong ones; return the addresses."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)
    operations = [found.ok() for found in schema.get_all_operations()]
    for operation in operations:
        takes_something = operation.definition.raw.keys() & {"parameters", "requestBody"}
        for mode in MODES if takes_something else MODES[:1]:

            @settings(
                max_examples=examples,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                database=None,
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: schemathesis.Case) -> None:
                response = case.call_and_validate(headers=HEADERS, checks=[not_a_server_error])
                assert response.status_code not in REFUSED

            ask()
    return {operation.path for operation in operations}


@pytest.mark.slow
def test_no_request_ends_in_a_server_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "command_of", lambda *_: [sys.executable, "-c", ""])
    asked = ask_everything(create_app(WebSettings(runs=root, token=TOKEN)), examples=50)
    assert {"/api/runs", "/api/runs/detail", "/api/runs/answers", "/api/runs/compare"} <= asked
    assert {"/api/jobs/start", "/api/jobs/stop", "/api/jobs/resume", "/api/jobs/events"} <= asked
    assert {"/api/ask", "/api/ask/examples", "/api/write"} <= asked
    assert {"/api/attention/overview", "/api/attention/head", "/api/attention/leak"} <= asked
    assert {"/api/models", "/api/classify", "/api/classify/leave-one-out"} <= asked


NAMES = st.sampled_from(["stopped", "failed", "study", "reader", "new", "..", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.slow
def test_no_form_ends_in_a_server_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values for real settings of real jobs, which a schema of any values hardly ever hits."""
    monkeypatch.setattr(children, "command_of", lambda *_: [sys.executable, "-c", ""])
    keys = {job: [field["key"] for field in form_of(JOBS[job].settings())] for job in JOBS}

    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=[*HealthCheck])
    @given(data=st.data())
    def send(data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(sorted(JOBS)))
        values = data.draw(st.dictionaries(st.sampled_from(keys[job]), VALUES, max_size=3))
        order = {"job": job, "name": data.draw(NAMES), "values": values}
        body = json.dumps(order).encode("utf-8", "surrogatepass")
        answer = client.post(
            "/api/jobs/start", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code != 500, answer.text

    with writing_client(WebSettings(runs=root, token=TOKEN)) as client:
        send()


@pytest.mark.slow
def test_a_server_error_would_be_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Path) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("attnlab.web.runs.list_json", fails)
    with pytest.raises(FailureGroup, match="1 distinct failure"):
        ask_everything(create_app(WebSettings(runs=root, token=TOKEN)), examples=3)
