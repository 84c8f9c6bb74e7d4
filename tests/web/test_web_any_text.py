"""Any text to any model, by any name: no request ends in a server error."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from served import TOKEN, client_of

from attnlab.web.app import create_app
from attnlab.web.settings import WebSettings

ROUTES = {
    "/api/models",
    "/api/attention/overview",
    "/api/attention/head",
    "/api/attention/leak",
    "/api/classify",
    "/api/classify/leave-one-out",
}
RUNS = st.sampled_from(
    ["gpt", "bert", "weightless", "pairs", "world", "..", "gpt/../bert", "\0", "runs/gpt"]
)
LETTERS = st.characters(exclude_categories=())  # halves of characters, too
TEXTS = st.text(LETTERS, max_size=40) | st.sampled_from(["a", "the food", "⁇", "□", "[SEP] [CLS]"])
BODIES = st.fixed_dictionaries(
    {
        "run": RUNS,
        "text": TEXTS,
        "layer": st.sampled_from([0, 1, 0, 2, -1]),
        "head": st.sampled_from([0, 1, 2, 3, -1]),
        "label": st.sampled_from(["1", "5", "1", "six"]),
    },
    optional={
        "pair": st.none() | TEXTS,
        "matrix": st.sampled_from(["weights", "scores", "masked", ""]),
        "start": st.sampled_from([0, 3, 50, -1]),
    },
)

FINE = {"text": "the food", "layer": 0, "head": 0, "label": "1"}


def test_every_address_is_in_the_schema(trained: Path) -> None:
    """So that the requests of test_web_schema.py reach them."""
    assert create_app(WebSettings(runs=trained)).openapi()["paths"].keys() >= ROUTES


@pytest.mark.slow
def test_no_text_ends_in_a_server_error(trained: Path) -> None:
    """Texts to real models, which requests made from the schema alone hardly ever find."""
    client = client_of(WebSettings(runs=trained, token=TOKEN))
    headers = {"Origin": str(client.base_url), "X-Attnlab-Token": TOKEN}
    answered = set()

    @settings(max_examples=300, deadline=None, database=None, suppress_health_check=[*HealthCheck])
    @given(route=st.sampled_from(sorted(ROUTES - {"/api/models"})), body=BODIES)
    def send(route: str, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        answer = client.post(
            route, content=content, headers={**headers, "Content-Type": "application/json"}
        )
        assert answer.status_code in (200, 400, 404, 422), answer.text
        answered.add((route, answer.status_code == 200))
        if answer.status_code != 200:
            assert answer.json().keys() == {"error"}

    for route in ROUTES - {"/api/models"}:  # chance alone may send nothing that is answered
        run = "bert" if "classify" in route else "gpt"
        send = example(route=route, body={"run": run, **FINE})(send)
    send()
    assert {route for route, is_fine in answered if is_fine} == ROUTES - {"/api/models"}
