"""The view of classification: the command line's numbers, and two ways to ask what mattered."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from served import TOKEN, client_of
from trained import write_classifier

from attnlab.recipes.classify import explain_text
from attnlab.web.settings import WebSettings
from commands_here import run_main

TEXT = "the food was superb and we came back"


def writing(root: Path) -> TestClient:
    """Return a client that may write."""
    client = client_of(WebSettings(runs=root, token=TOKEN))
    client.headers.update({"Origin": str(client.base_url), "X-Attnlab-Token": TOKEN})
    return client


@pytest.fixture(scope="module")
def client(trained: Path) -> TestClient:
    return writing(trained)


def classify(client: TestClient, **body: Any) -> Response:
    return client.post("/api/classify", json={"run": "bert", "text": TEXT, **body})


def leave_out(client: TestClient, **body: Any) -> Response:
    given = {"run": "bert", "text": TEXT, "label": "5", **body}
    return client.post("/api/classify/leave-one-out", json=given)


def test_it_answers_as_the_command_line_does(
    client: TestClient,
    trained: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ("classify", "predict", str(trained / "bert"), "--text", TEXT, "--json")
    assert run_main(monkeypatch, *words) == 0
    (expected,) = json.loads(capfd.readouterr().out)
    found = classify(client).json()
    assert found["prediction"] == expected["label"]
    assert found["probabilities"] == pytest.approx(expected["probabilities"])
    assert sum(found["probabilities"].values()) == pytest.approx(1)
    assert found["label"] == found["prediction"]


def test_every_token_has_its_share_and_another_class_can_be_asked_about(
    client: TestClient,
) -> None:
    found = classify(client).json()
    assert found["tokens"] == ["[CLS]", *TEXT.split(), "[SEP]"]
    assert found["is_text"] == [False, *[True] * 8, False]
    assert len(found["gradient_times_input"]) == 10
    other = next(name for name in found["probabilities"] if name != found["prediction"])
    again = classify(client, label=other).json()
    assert again["label"] == other
    assert again["gradient_times_input"] != found["gradient_times_input"]
    assert again["probabilities"] == found["probabilities"]


def test_leaving_a_token_out_is_classifying_the_text_without_it(client: TestClient) -> None:
    whole = classify(client).json()["probabilities"]["5"]
    found = leave_out(client).json()
    assert found["next"] is None
    words = TEXT.split()
    assert found["falls_by"].keys() == {str(i + 1) for i in range(len(words))}
    for i in range(len(words)):
        rest = " ".join(words[:i] + words[i + 1 :])
        without = classify(client, text=rest).json()["probabilities"]["5"]
        assert found["falls_by"][str(i + 1)] == pytest.approx(whole - without, abs=1e-6)


def test_a_long_text_is_asked_about_in_parts(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = leave_out(client).json()["falls_by"]
    monkeypatch.setattr(explain_text, "LEFT_OUT_AT_ONCE", 3)
    found: dict[str, float] = {}
    start, asked = 0, 0
    while start is not None:
        # other blanks, so that no answer is remembered
        part = leave_out(client, start=start, text=f"{TEXT}  ").json()
        found |= part["falls_by"]
        start, asked = part["next"], asked + 1
    assert found == pytest.approx(at_once, abs=1e-6)
    assert asked == 3


def test_a_text_that_is_too_long_says_that_it_was_cut(client: TestClient) -> None:
    found = classify(client, text="fine food " * 20).json()
    assert found["is_cut"]
    assert len(found["tokens"]) == 16


def test_pairs_are_classified_and_tokens_of_both_texts_are_left_out(client: TestClient) -> None:
    given = {"run": "pairs", "text": "food", "pair": "the place"}
    found = classify(client, **given).json()
    assert found["tokens"] == ["[CLS]", "food", "[SEP]", "the", "place", "[SEP]"]
    left = leave_out(client, **given, label=found["label"]).json()["falls_by"]
    assert left.keys() == {"1", "3", "4"}
    said = classify(client, run="pairs").json()["error"]
    assert said == "pairs classifies pairs of texts: give the second, too."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"run": "gpt"}, "gpt has a language model: a classifier is made by attnlab classify"),
        ({"run": "../bert"}, "there is no run '../bert'"),
        ({"text": "  "}, "your text: the text is empty."),
        ({"pair": "two"}, "bert classifies single texts: leave out the second."),
        ({"label": "seven"}, "there is no class 'seven'. Known: 1, 2, 3, 4, 5."),
        ({"text": "x" * 20_001}, "at most 20000 characters"),
    ],
)
def test_a_bad_request_is_a_sentence(client: TestClient, body: dict[str, Any], said: str) -> None:
    for answer in (classify(client, **body), leave_out(client, **body)):
        assert 400 <= answer.status_code < 500
        assert said in answer.json()["error"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distilbert", "roberta", "t5"])
def test_models_of_transformers_are_explained(kind: str, tmp_path: Path) -> None:
    write_classifier(tmp_path / "runs", "hub", kind=kind)
    client = writing(tmp_path / "runs")
    found = classify(client, run="hub", text="the food was fine").json()
    assert len(found["gradient_times_input"]) == len(found["tokens"])
    assert any(found["gradient_times_input"])
    assert not all(found["is_text"])
    left = leave_out(client, run="hub", text="the food was fine").json()["falls_by"]
    assert [found["is_text"][int(i)] for i in left] == [True] * sum(found["is_text"])
