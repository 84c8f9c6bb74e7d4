"""The view of attention: the model's own numbers, and bad requests answered by sentences."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from httpx import Response
from served import TOKEN, client_of
from trained import write_classifier, write_gpt

from attnlab.attention.settings import AttentionSettings
from attnlab.models.head_summaries import THUMBNAIL
from attnlab.recipes.attention.text_readers import MOST_TOKENS
from attnlab.recipes.knowledge.opened import open_model
from attnlab.training.inference import inference
from attnlab.web.attention import LONGEST_TEXT
from attnlab.web.settings import WebSettings

TEXT = "Where was he born?"


def writing(root: Path) -> TestClient:
    """Return a client that may write."""
    client = client_of(WebSettings(runs=root, token=TOKEN))
    client.headers.update({"Origin": str(client.base_url), "X-Attnlab-Token": TOKEN})
    return client


@pytest.fixture(scope="module")
def client(trained: Path) -> TestClient:
    return writing(trained)


def ask(client: TestClient, what: str, **body: Any) -> Response:
    return client.post(f"/api/attention/{what}", json={"run": "gpt", "text": TEXT, **body})


def numbers(client: TestClient, **body: Any) -> Any:
    got = ask(client, "head", **body)
    assert got.status_code == 200, got.text
    assert got.headers["content-type"] == "application/octet-stream"
    return np.frombuffer(got.content, "<f4")


def sentence(response: Response) -> str:
    assert 400 <= response.status_code < 500
    assert response.json().keys() == {"error"}
    return str(response.json()["error"])


def test_a_gpt_shows_every_head_with_the_models_own_weights(
    client: TestClient, trained: Path
) -> None:
    session = open_model(trained / "gpt")
    ids = session.lm.tokenizer.encode(TEXT)
    with inference(session.lm.model, session.hardware):
        expected = session.lm.model.attention_weights(torch.tensor([ids]))
    data = ask(client, "overview").json()
    assert "".join(data["tokens"]) == TEXT
    assert [layer["name"] for layer in data["layers"]] == ["layer 1", "layer 2"]
    for i, layer in enumerate(expected):
        for head, weights in enumerate(layer[0]):
            found = numbers(client, layer=i, head=head)
            assert np.array_equal(found.reshape(weights.shape), weights.float().numpy())


def test_scores_are_there_before_and_after_the_mask(client: TestClient) -> None:
    size = len(ask(client, "overview").json()["tokens"])
    before, after = (
        numbers(client, layer=1, head=2, matrix=matrix).reshape(size, size)
        for matrix in ("scores", "masked")
    )
    future = np.triu(np.ones((size, size), bool), 1)
    assert np.isfinite(before).all()
    assert np.array_equal(np.isneginf(after), future)
    assert np.array_equal(before[~future], after[~future])


def test_an_encoder_shows_its_pieces_and_looks_both_ways(client: TestClient) -> None:
    data = ask(client, "overview", run="bert", text="the food was fine").json()
    assert data["tokens"] == ["[CLS]", "the", "food", "was", "fine", "[SEP]"]
    assert not data["is_cut"]
    weights = numbers(client, run="bert", text="the food was fine", layer=0, head=0).reshape(6, 6)
    assert (weights > 0).all()
    assert weights.sum(1) == pytest.approx(np.ones(6), abs=0.01)
    leak = ask(client, "leak", run="bert", text="the food was fine").json()
    assert not leak["applies"]
    assert "reads in both directions" in leak["sentence"]


def test_the_leak_meter_judges_the_text(client: TestClient) -> None:
    clean = ask(client, "leak").json()
    assert clean["applies"]
    assert not clean["found"]
    assert clean["sentence"].startswith("nothing before a change feels it")
    assert "no future" in ask(client, "leak", text="a").json()["sentence"]


def test_a_model_that_leaks_is_called_so(tmp_path: Path) -> None:
    write_gpt(tmp_path / "runs", "late", AttentionSettings("late_mask", positions="learned"))
    found = ask(writing(tmp_path / "runs"), "leak", run="late").json()
    assert found["found"]
    assert "changes by" in found["sentence"]


def test_a_classifier_reads_on_where_the_figure_ends_and_the_page_says_so(tmp_path: Path) -> None:
    write_classifier(tmp_path / "runs", "long", max_len=MOST_TOKENS + 100)
    client = writing(tmp_path / "runs")
    for words, is_cut in ((MOST_TOKENS - 2, False), (MOST_TOKENS - 1, True)):  # [CLS] and [SEP]
        text = "food " * words
        data = ask(client, "overview", run="long", text=text).json()
        assert len(data["tokens"]) == MOST_TOKENS
        assert data["is_cut"] is is_cut
        answer = client.post("/api/classify", json={"run": "long", "text": text}).json()
        assert len(answer["tokens"]) == words + 2
        assert not answer["is_cut"]


def test_thumbnails_are_small_however_long_the_text_is(client: TestClient) -> None:
    data = ask(client, "overview", text="and so on " * 2000).json()
    assert data["is_cut"]
    assert len(data["tokens"]) <= MOST_TOKENS
    for layer in data["layers"]:
        small = layer["thumbnails"]
        assert small["rows"] == small["columns"] == THUMBNAIL
        assert len(small["pixels"]) == layer["n_heads"] == 3


def test_habits_are_shares(client: TestClient) -> None:
    for layer in ask(client, "overview").json()["layers"]:
        for shares in layer["habits"].values():
            assert all(0 <= one <= 1 for one in shares)


def test_an_attention_without_weights_says_so(client: TestClient) -> None:
    for what in ("overview", "leak"):
        said = sentence(ask(client, what, run="weightless"))
        assert "AttentionFree of this model has no weights" in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"text": ""}, "the prompt is empty"),
        ({"text": "□"}, "reserved character"),
        ({"text": "x" * (LONGEST_TEXT + 1)}, "at most 20000 characters"),
        ({"pair": "two"}, "a language model reads one text"),
        ({"run": "bert", "text": " "}, "the text is empty"),
        ({"run": "bert", "pair": "two"}, "bert classifies single texts"),
        ({"run": "world"}, "the run world has no model"),
        ({"run": "nothing"}, "there is no run 'nothing'"),
        ({"run": "../runs/gpt"}, "there is no run '../runs/gpt'"),
        ({"run": "/etc"}, "there is no run '/etc'"),
        ({"run": ""}, "at least 1 character"),
        ({"text": None}, "valid string"),
    ],
)
def test_a_bad_request_is_a_sentence(client: TestClient, body: dict[str, Any], said: str) -> None:
    assert said in sentence(ask(client, "overview", **body))
    assert said in sentence(ask(client, "leak", **body))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"layer": 2, "head": 0}, "there is no layer 3: there are 2"),
        ({"layer": 0, "head": 3}, "there is no head 4: there are 3"),
        ({"layer": -1, "head": 0}, "greater than or equal to 0"),
        ({"layer": 0, "head": 0, "matrix": "keys"}, "'weights', 'scores' or 'masked'"),
        ({"layer": 0}, "head of the body: Field required"),
    ],
)
def test_a_head_that_is_not_there_is_a_sentence(
    client: TestClient, body: dict[str, Any], said: str
) -> None:
    assert said in sentence(ask(client, "head", **body))


def test_a_deleted_run_and_one_of_another_version_are_refused(
    trained: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(trained / "gpt", tmp_path / "runs" / "gpt"))
    client = writing(tmp_path / "runs")
    assert ask(client, "overview").status_code == 200
    config = path / "config.json"
    before = config.read_text()
    config.write_text(json.dumps(json.loads(before) | {"format": 99}))
    assert "another version of attnlab" in sentence(ask(client, "overview"))
    config.write_text(before)
    assert ask(client, "overview").status_code == 200
    shutil.rmtree(path)
    gone = ask(client, "overview")
    assert gone.status_code == 404
    assert "there is no run 'gpt'" in sentence(gone)


def test_a_link_that_leads_out_is_not_followed(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "gpt").symlink_to(trained / "gpt")
    assert "leads out of" in sentence(ask(writing(tmp_path), "overview"))


@pytest.mark.parametrize("route", ["attention/overview", "attention/head", "attention/leak",
                                   "classify", "classify/leave-one-out"])  # fmt: skip
class TestBorder:
    """Computing costs time and memory: these addresses are guarded as writes are."""

    def post(self, trained: Path, route: str, **given: Any) -> Response:
        client = client_of(WebSettings(runs=trained, token=TOKEN))
        return client.post(f"/api/{route}", **given)

    def test_another_origin_is_refused(self, trained: Path, route: str) -> None:
        headers = {"X-Attnlab-Token": TOKEN, "Origin": "http://evil.example"}
        assert self.post(trained, route, headers=headers, json={}).status_code == 403

    @pytest.mark.parametrize("token", ["", "wrong"])
    def test_a_wrong_token_is_refused(self, trained: Path, route: str, token: str) -> None:
        headers = {"X-Attnlab-Token": token, "Origin": "http://127.0.0.1:8000"}
        assert self.post(trained, route, headers=headers, json={}).status_code == 403

    def test_a_long_body_is_refused(self, trained: Path, route: str) -> None:
        headers = {"X-Attnlab-Token": TOKEN, "Origin": "http://127.0.0.1:8000"}
        body = json.dumps({"run": "gpt", "text": "x" * 1_000_000})
        assert self.post(trained, route, headers=headers, content=body).status_code == 413

    def test_another_host_is_refused(self, trained: Path, route: str) -> None:
        headers = {"X-Attnlab-Token": TOKEN, "Origin": "http://evil", "Host": "evil"}
        assert self.post(trained, route, headers=headers, json={}).status_code == 421


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distilbert", "roberta", "t5"])
def test_models_of_transformers_are_shown(kind: str, tmp_path: Path) -> None:
    write_classifier(tmp_path / "runs", "hub", kind=kind)
    client = writing(tmp_path / "runs")
    data = ask(client, "overview", run="hub", text="the food was lovely").json()
    size = len(data["tokens"])
    assert len(data["layers"]) == (6 if kind == "t5" else 2)
    for i, _ in enumerate(data["layers"]):
        weights = numbers(client, run="hub", text="the food was lovely", layer=i, head=2)
        assert weights.reshape(size, size).sum(1) == pytest.approx(np.ones(size), abs=1e-5)
