"""Hostile requests made from the server's own schema: none may end in a 500."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from served import TOKEN

from attnlab.web.app import create_app
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
def test_no_request_ends_in_a_server_error(root: Path) -> None:
    asked = ask_everything(create_app(WebSettings(runs=root, token=TOKEN)), examples=50)
    assert {"/api/runs", "/api/runs/detail", "/api/runs/answers", "/api/runs/compare"} <= asked


@pytest.mark.slow
def test_a_server_error_would_be_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Path) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("attnlab.web.runs.list_json", fails)
    with pytest.raises(FailureGroup, match="1 distinct failure"):
        ask_everything(create_app(WebSettings(runs=root, token=TOKEN)), examples=3)
