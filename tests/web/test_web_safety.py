"""Who may ask, and what a bad request gets: a sentence, and nothing changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from served import TOKEN

from attnlab.web import safety
from attnlab.web.app import create_app
from attnlab.web.settings import WebSettings

ORIGIN = "http://127.0.0.1:8000"
WRITE = {"Origin": ORIGIN, "X-Attnlab-Token": TOKEN}
REACHED = 405
"""What /api/session answers to a POST that was let through."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder without runs: these tests are about requests."""
    return tmp_path


def error(response: object) -> str:
    body = response.json()  # type: ignore[attr-defined]
    assert body.keys() == {"error"}
    return str(body["error"])


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "localhost:9000", "[::1]:8000"])
def test_this_machine_may_read_without_a_token(client: TestClient, host: str) -> None:
    assert client.get("/api/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "192.168.0.7:8000", "", "[", "a:b:c"]
)
def test_another_host_name_is_refused(client: TestClient, host: str) -> None:
    refused = client.get("/api/runs", headers={"Host": host})
    assert refused.status_code == 421
    assert "the server is not called" in error(refused)


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/runs", "/openapi.json", "/api/session"])
def test_others_need_the_token_for_reads_too(stranger: TestClient, path: str) -> None:
    refused = stranger.get(path)
    assert refused.status_code == 401
    assert "needs a token. Open the address that `attnlab serve` printed" in error(refused)
    assert stranger.get(path, headers={"X-Attnlab-Token": TOKEN}).status_code == 200


def test_the_address_with_the_token_gives_a_cookie_and_loses_the_token(
    stranger: TestClient,
) -> None:
    welcomed = stranger.get("/", params={"token": TOKEN})
    assert (welcomed.status_code, welcomed.headers["location"]) == (303, "/")
    cookie = welcomed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/api/session").json()["token"] == TOKEN


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", "é"])
def test_a_wrong_token_is_refused(stranger: TestClient, token: str) -> None:
    refused = stranger.get("/", params={"token": token})
    assert refused.status_code == 403
    assert "not valid" in error(refused)
    assert "set-cookie" not in refused.headers
    cookie = {"Cookie": f"attnlab-8000={token}".encode()}
    assert stranger.get("/api/runs", headers=cookie).status_code == 401


def test_the_token_is_told_to_nobody_who_does_not_have_it(client: TestClient) -> None:
    assert client.get("/api/session").json()["token"] is None


def test_a_write_from_the_page_with_the_token_is_let_through(client: TestClient) -> None:
    assert client.post("/api/session", headers=WRITE, json={}).status_code == REACHED


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:9999"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_write_from_elsewhere_is_refused(
    client: TestClient, method: str, origin: str | None
) -> None:
    headers = {"X-Attnlab-Token": TOKEN, **({"Origin": origin} if origin else {})}
    refused = client.request(method, "/api/session", headers=headers)
    assert refused.status_code == 403
    assert "only the page itself may do this" in error(refused)


@pytest.mark.parametrize("token", [None, "", "wrong"])
def test_a_write_without_the_token_is_refused(client: TestClient, token: str | None) -> None:
    headers = {"Origin": ORIGIN, **({"X-Attnlab-Token": token} if token is not None else {})}
    refused = client.post("/api/session", headers=headers)
    assert refused.status_code == 403
    assert "this needs the token" in error(refused)


def test_the_cookie_alone_does_not_write(client: TestClient) -> None:
    client.get("/", params={"token": TOKEN})
    assert client.post("/api/session", headers={"Origin": ORIGIN}).status_code == 403


def test_a_long_body_is_refused_whatever_it_says_of_its_length(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:  # has no Content-Length
        for _ in range(3):
            yield b"x" * (safety.MOST_BYTES // 2)

    for body in (b"x" * (safety.MOST_BYTES + 1), chunks()):
        refused = client.post("/api/session", headers=WRITE, content=body)
        assert refused.status_code == 413
        assert "1,000,000 bytes at most" in error(refused)
    fits = client.post("/api/session", headers=WRITE, content=b"x" * safety.MOST_BYTES)
    assert fits.status_code == REACHED


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/", {}), ("/app.js", {}), ("/api/runs", {}), ("/nothing", {}), ("/api/runs", {"Host": "x"})],
)
def test_every_answer_forbids_what_is_from_elsewhere(
    client: TestClient, path: str, headers: dict[str, str]
) -> None:
    got = client.get(path, headers=headers).headers
    assert got["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in got["content-security-policy"]
    assert got["x-content-type-options"] == "nosniff"
    assert got["cache-control"] in ("no-store", "no-cache")
    assert "access-control-allow-origin" not in got


def test_a_bug_is_a_sentence_for_the_page_and_the_terminal(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(_: Path) -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr("attnlab.web.runs.list_json", fails)
    failed = client.get("/api/runs")
    assert failed.status_code == 500
    assert error(failed) == "attnlab failed on this request; its terminal says why."
    assert failed.headers["x-content-type-options"] == "nosniff"
    told = capfd.readouterr().err
    assert "'/api/runs' failed" in told
    assert "a secret of the machine" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    "request_of",
    [
        pytest.param(("GET", "/api/runs", {"Host": "evil.example"}), id="host"),
        pytest.param(("POST", "/api/session", {"X-Attnlab-Token": TOKEN}), id="origin"),
        pytest.param(("POST", "/api/session", {"Origin": ORIGIN}), id="token"),
    ],
)
def test_it_is_the_border_that_refuses(
    root: Path, request_of: tuple[str, str, dict[str, str]]
) -> None:
    app = create_app(WebSettings(runs=root, host="0.0.0.0", token=TOKEN))
    app.user_middleware.clear()
    method, path, headers = request_of
    unguarded = TestClient(app, base_url=ORIGIN).request(method, path, headers=headers)
    assert unguarded.status_code in (200, REACHED)


def test_the_settings_do_not_print_the_token() -> None:
    assert TOKEN not in repr(WebSettings(token=TOKEN))
    assert WebSettings().token != WebSettings().token


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.0.0.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("", False), ("192.168.0.7", False), ("box", False)],
)  # fmt: skip
def test_which_addresses_are_this_machines_own(host: str, is_local: bool) -> None:
    assert WebSettings(host=host).is_local is is_local


def test_the_address_can_be_opened() -> None:
    assert WebSettings(token="t").address == "http://127.0.0.1:8000/?token=t"
    assert WebSettings(host="::1", token="t").address == "http://[::1]:8000/?token=t"
    assert "0.0.0.0" not in WebSettings(host="0.0.0.0").address
