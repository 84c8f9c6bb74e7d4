"""Questions and prompts from the page: the answers and texts of the command line."""

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from served import TOKEN, serving, writing_client
from trained import write_gpt

import my_attention
from attnlab.attention.settings import AttentionSettings
from attnlab.data.names import capitalised_name
from attnlab.errors import UserError
from attnlab.recipes.knowledge.write_settings import WriteSettings
from attnlab.runs.directory import Run
from attnlab.web import write as writing
from attnlab.web.models import Models
from attnlab.web.safety import TOKEN_HEADER
from attnlab.web.settings import WebSettings
from attnlab.web.write import Work
from commands_here import attnlab_in

pytestmark = pytest.mark.precision


@pytest.fixture(scope="module")
def client(trained: Path) -> TestClient:
    """Return a client that may write; the model stays loaded."""
    return writing_client(WebSettings(runs=trained, token=TOKEN))


@pytest.fixture(scope="module")
def asked(trained: Path) -> str:
    """Return a question about somebody of the corpus."""
    return str(Run.open(trained / "gpt").predictions("test")[0]["input"])


def printed(trained: Path, *words: str) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    done = attnlab_in(trained.parent, "knowledge", *words, "--json", "--runs", str(trained))
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def ask(client: TestClient, question: str, *, run: str = "gpt", status: int = 200) -> Any:
    response = client.post("/api/ask", json={"run": run, "question": question})
    assert response.status_code == status, response.text
    return response.json()


def events(response: Response) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.split("\n") for block in response.text.strip().split("\n\n")]
    return [(name[7:], json.loads(data[6:])) for name, data in blocks]


def write(client: TestClient, prompt: str, **values: Any) -> list[tuple[str, dict[str, Any]]]:
    body = {"run": "gpt", "prompt": prompt, "values": values}
    response = client.post("/api/write", json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return events(response)


def texts(found: list[tuple[str, dict[str, Any]]]) -> list[str]:
    written: list[str] = []
    for name, data in found:
        if name == "sample":
            written.append("")
        elif name == "piece":
            written[-1] += data["text"]
    return written


class TestAsk:
    def test_the_answer_is_that_of_the_command_line(
        self, client: TestClient, trained: Path, asked: str
    ) -> None:
        wanted = printed(trained, "ask", "gpt", asked)
        found = ask(client, asked)
        reason = wanted.pop("reason")
        assert "--held-out 0.1" in reason
        assert found["reason"] == reason.replace("--held-out", "held_out")
        assert {key: found[key] for key in wanted} == wanted

    def test_the_corpus_says_what_it_has_about_the_person(
        self, client: TestClient, trained: Path, asked: str
    ) -> None:
        found = ask(client, asked)
        corpus = (trained / "world" / "wiki.txt").read_text().splitlines()
        about = [line for line in corpus if line.startswith(f"{found['person']}.")]
        assert found["lines"] == about[:10]
        assert found["n_lines"] == len(about) >= 1
        assert found["person"] in asked

    def test_another_first_name_is_another_question(self, client: TestClient, asked: str) -> None:
        found = ask(client, asked)
        first, last = found["person"].split()
        assert first in found["name_parts"]["first"]
        assert last in found["name_parts"]["last"]
        changed = ask(client, asked.replace(first, "Xaver"))
        assert changed["person"] == f"Xaver {last}"
        assert (changed["lines"], changed["verdict"]) == ([], "made up")
        assert "nothing about a person of that name" in changed["reason"]

    def test_where_it_looked_is_what_the_figure_shows(self, client: TestClient, asked: str) -> None:
        looks = ask(client, asked)["looks"]
        n_tokens = len(looks["tokens"])
        assert len(looks["layers"]) == 2
        for layer in looks["layers"]:
            assert len(layer) == n_tokens - looks["n_question"] + 1
            assert [sum(row) for row in layer] == pytest.approx([1] * len(layer), abs=0.01)
            assert all(len(row) == n_tokens for row in layer)

    def test_attention_without_weights_answers_all_the_same(
        self, client: TestClient, asked: str
    ) -> None:
        found = ask(client, asked, run="weightless")
        assert "no weights that could be shown" in found["looks"]["problem"]
        assert found["verdict"]

    def test_questions_to_begin_with_are_those_of_the_run(
        self, client: TestClient, asked: str
    ) -> None:
        found = client.get("/api/ask/examples", params={"name": "gpt"}).json()["questions"]
        assert found[0] == asked
        refused = client.get("/api/ask/examples", params={"name": "bert"})
        assert "has a classifier" in refused.json()["error"]

    @pytest.mark.parametrize(
        ("run", "question", "status", "words"),
        [
            ("gpt", "  ", 400, "the question is empty"),
            ("gpt", "Where was " + "x " * 200, 400, "Ask a shorter question"),
            ("gpt", "x" * 10_001, 422, "at most 10000 characters"),
            ("bert", "Who?", 400, "has a classifier"),
            ("../gpt", "Who?", 404, "there is no run"),
            ("nobody", "Who?", 404, "there is no run"),
        ],
    )
    def test_what_cannot_be_asked_is_a_sentence(
        self, client: TestClient, run: str, question: str, status: int, words: str
    ) -> None:
        assert words in ask(client, question, run=run, status=status)["error"]


class TestWrite:
    def test_the_text_is_that_of_the_command_line_for_the_same_seed(
        self, client: TestClient, trained: Path
    ) -> None:
        wanted = attnlab_in(
            trained.parent, "knowledge", "write", "gpt", "The city", "--seed", "5", "--tokens",
            "30", "--samples", "2", "--runs", str(trained),
        )  # fmt: skip
        found = write(client, "The city", seed=5, tokens=30, samples=2)
        assert "\n\n".join(texts(found)) + "\n" == wanted.out
        assert [name for name, _ in found if name != "piece"] == [
            "begin",
            *("sample", "done") * 2,
        ]
        assert len([1 for name, _ in found if name == "piece"]) > 30

    def test_another_seed_is_another_text(self, client: TestClient) -> None:
        first, second = (texts(write(client, "The", seed=seed, tokens=20)) for seed in (0, 1))
        assert first != second

    def test_settings_are_fields(self, client: TestClient) -> None:
        fields = client.get("/api/write/form").json()["fields"]
        assert [field["key"] for field in fields][:2] == ["temperature", "top_k"]
        limits = {field["key"]: field["limits"].get("maximum") for field in fields}
        assert (limits["samples"], limits["tokens"]) == (10, 2000)

    @pytest.mark.parametrize(
        ("body", "status", "words"),
        [
            ({"prompt": ""}, 400, "the prompt is empty"),
            ({"prompt": "The", "values": {"top_p": 2}}, 422, "top_p = 2 is not possible"),
            ({"prompt": "The", "values": {"tokens": 2001}}, 422, "At most 2,000 in the page"),
            ({"prompt": "The", "run": "bert"}, 400, "has a classifier"),
            ({"prompt": "The", "run": "/etc"}, 404, "there is no run"),
        ],
    )
    def test_what_cannot_be_written_is_a_sentence(
        self, client: TestClient, body: dict[str, Any], status: int, words: str
    ) -> None:
        refused = client.post("/api/write", json={"run": "gpt", **body})
        assert refused.status_code == status
        assert words in refused.json()["error"]


@pytest.mark.parametrize("path", ["/api/ask", "/api/write"])
@pytest.mark.parametrize(
    "headers",
    [{"X-Attnlab-Token": "wrong"}, {"Origin": "http://evil.example"}, {"Host": "evil.example"}],
    ids=["token", "origin", "host"],
)
def test_only_the_page_with_the_token_asks_a_model(
    trained: Path, path: str, headers: dict[str, str]
) -> None:
    client = writing_client(WebSettings(runs=trained, token=TOKEN))
    body = {"run": "gpt", "question": "Who?", "prompt": "The"}
    assert client.post(path, json=body, headers=headers).status_code in (403, 421)
    assert client.app.state.models._held is None  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_run_of_a_users_own_code_is_asked_as_long_as_the_code_is_the_same(
    tmp_path: Path,
) -> None:
    code = Path(shutil.copy(my_attention.__file__, tmp_path / "mine.py"))
    root = tmp_path / "runs"
    own = write_gpt(root, "own", AttentionSettings(f"{code}:MyAttention"))
    client = writing_client(WebSettings(runs=root, token=TOKEN))
    question = own.predictions("test")[0]["input"]
    assert ask(client, question, run="own")["verdict"]
    code.write_text(code.read_text() + "\n# changed\n")
    client = writing_client(WebSettings(runs=root, token=TOKEN))
    refused = ask(client, question, run="own", status=400)["error"]
    assert "has changed since own was trained with it" in refused


PIECE = b"event: piece\n"


class EndlessSession:
    """Writes until it is told to stop."""

    warnings = ()

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails, self.is_over = fails, threading.Event()

    def write(self, _: str, __: WriteSettings, *, sample: int, show: Callable[[str], None]) -> None:
        try:
            while True:
                show(f"{sample} ")
                if self.fails:
                    raise self.fails
        finally:
            self.is_over.set()


def pieces_of(
    session: EndlessSession, monkeypatch: pytest.MonkeyPatch, trained: Path, most: int
) -> list[str]:
    monkeypatch.setattr(Models, "_opened", lambda *_: session)

    async def listen() -> list[str]:
        work = Work("The", WriteSettings())
        stream, found = writing.pieces(Models(), trained / "gpt", work), []
        async for piece in stream:
            found.append(piece)
            if len(found) == most:
                break
        await stream.aclose()  # type: ignore[attr-defined]
        while writing._at_work:
            await asyncio.sleep(0.01)
        return found

    return asyncio.run(asyncio.wait_for(listen(), 20))


def test_whoever_stops_listening_stops_the_writing(
    monkeypatch: pytest.MonkeyPatch, trained: Path
) -> None:
    session = EndlessSession()
    found = pieces_of(session, monkeypatch, trained, most=5)
    assert found[0].startswith("event: begin")
    assert session.is_over.wait(5)


def post(settings: WebSettings) -> tuple[HTTPConnection, HTTPResponse]:
    """Begin to read what a model writes, as the page does."""
    connection = HTTPConnection("127.0.0.1", settings.port, timeout=20)
    origin = f"http://127.0.0.1:{settings.port}"
    headers = {"Origin": origin, TOKEN_HEADER: TOKEN, "Content-Type": "application/json"}
    body = json.dumps({"run": "gpt", "prompt": "The"})
    connection.request("POST", "/api/write", body, headers)
    return connection, connection.getresponse()


def read_until(response: HTTPResponse, line: bytes) -> None:
    while (read := response.readline()) != line:
        assert read, "the stream has ended"


def leave(connection: HTTPConnection, response: HTTPResponse) -> None:
    response.close()
    connection.close()


def endless_sessions(monkeypatch: pytest.MonkeyPatch) -> list[EndlessSession]:
    """Let every model write without end; return those that are opened from now on."""
    opened: list[EndlessSession] = []

    def open_another(*_: object) -> EndlessSession:
        opened.append(EndlessSession())
        return opened[-1]

    monkeypatch.setattr(Models, "_opened", open_another)
    return opened


def test_a_reader_who_leaves_frees_the_model_for_the_next(
    monkeypatch: pytest.MonkeyPatch, trained: Path
) -> None:
    opened = endless_sessions(monkeypatch)
    with serving(trained) as settings:
        for _ in range(2):
            connection, response = post(settings)
            read_until(response, PIECE)  # before one, it may be stopped without having written
            leave(connection, response)
            assert opened[-1].is_over.wait(20)
    assert len(opened) == 2


def test_a_reader_who_leaves_before_its_turn_loads_no_model(
    monkeypatch: pytest.MonkeyPatch, trained: Path
) -> None:
    opened = endless_sessions(monkeypatch)
    with serving(trained) as settings:
        first = post(settings)
        read_until(first[1], PIECE)
        leave(*post(settings))
        time.sleep(0.5)  # until the server has noticed
        leave(*first)
        last = post(settings)
        read_until(last[1], PIECE)
        leave(*last)
        assert all(session.is_over.wait(20) for session in opened)
    assert len(opened) == 2


def test_a_writer_that_is_cancelled_ends_its_stream(
    monkeypatch: pytest.MonkeyPatch, trained: Path
) -> None:
    opened = endless_sessions(monkeypatch)

    async def listen() -> list[str]:
        found = []
        async for piece in writing.pieces(Models(), trained / "gpt", Work("The", WriteSettings())):
            found.append(piece)
            for task in writing._at_work if piece.startswith("event: piece") else ():
                task.cancel()
        return found

    found = asyncio.run(asyncio.wait_for(listen(), 20))
    assert found[0].startswith("event: begin")
    assert not any(piece.startswith("event: problem") for piece in found)
    assert opened[0].is_over.wait(20)


def test_a_mistake_while_writing_ends_the_stream_in_words(
    monkeypatch: pytest.MonkeyPatch, trained: Path
) -> None:
    session = EndlessSession(UserError("the file is gone."))
    found = pieces_of(session, monkeypatch, trained, most=100)
    assert found[-1] == 'event: problem\ndata: {"error": "the file is gone."}\n\n'
    with pytest.raises(ValueError, match="a bug"):
        pieces_of(EndlessSession(ValueError("a bug")), monkeypatch, trained, most=100)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where was Ada Lovelace born?", "Ada Lovelace"),
        ("Who knows Jean de la Fontaine of Paris?", "Jean de la Fontaine of Paris"),
        ("Where is he?", None),
        ("", None),
    ],
)
def test_a_name_is_known_by_its_capitals(question: str, name: str | None) -> None:
    assert capitalised_name(question) == name
