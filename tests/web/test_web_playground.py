"""The playground's addresses: the numbers and words of ``attnlab attention solve``."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx import Response
from hypothesis import given, settings
from hypothesis import strategies as st
from served import TOKEN

from attnlab.errors import UserError
from attnlab.geometry.examples import EXAMPLES, example
from attnlab.geometry.explain import answer
from attnlab.report.geometry.terminal import VERDICTS
from attnlab.web.playground import Question
from attnlab.web.playground import solve as solve_question
from commands_here import run_main

SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]


@pytest.fixture(autouse=True)
def _few_random_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep it quick: every function checks its arguments here."""
    monkeypatch.setattr(answer, "DRAWS", 12)


@pytest.fixture
def client(client: TestClient) -> TestClient:
    """Return a client that may write."""
    client.headers.update({"Origin": str(client.base_url), "X-Attnlab-Token": TOKEN})
    return client


def solve(client: TestClient, **body: Any) -> Response:
    return client.post("/api/playground/solve", json=body)


def of_example(name: str) -> dict[str, Any]:
    instance = example(name)
    return {"keys": instance.keys.tolist(), "values": instance.values.tolist()}


def printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *words: str
) -> dict[str, Any]:
    """Return what ``attnlab attention solve … --json`` prints."""
    capfd.readouterr()
    assert run_main(monkeypatch, "attention", "solve", *words, "--json") == 0
    return dict(json.loads(capfd.readouterr().out))


class TestExamples:
    def test_all_are_listed_with_the_numbers_of_geometry(self, client: TestClient) -> None:
        listed = client.get("/api/playground/examples").json()["examples"]
        assert [one["name"] for one in listed] == list(EXAMPLES)
        for one in listed:
            instance = example(one["name"])
            assert one["keys"] == instance.keys.tolist()
            if one["values"] is None:
                assert np.array_equal(instance.values, np.eye(instance.n_tokens))
            else:
                assert one["values"] == instance.values.tolist()
            assert len(one["query"]) == instance.keys.shape[1]

    def test_the_assignment_with_a_query_has_it(self, client: TestClient) -> None:
        listed = client.get("/api/playground/examples").json()["examples"]
        (found,) = (one for one in listed if one["name"] == "argmax")
        assert found["query"] == [-2, 1, 1]
        assert found["about"].startswith("boolq: four whole-numbered keys")

    def test_verdicts_are_worded_as_on_a_terminal(self, client: TestClient) -> None:
        verdicts = client.get("/api/playground/examples").json()["verdicts"]
        assert {name: one["words"] for name, one in verdicts.items()} == {
            name: words for name, (words, _) in VERDICTS.items()
        }


class TestSolve:
    @pytest.mark.parametrize(
        ("name", "subset", "words"),
        [
            ("interior", [3], ("select", "--token", "3")),
            ("midpoint", [2], ("select", "--token", "2")),
            ("cse517", [0, 1], ("average", "--subset", "0,1")),
            ("argmax", [1], ("select", "--token", "1")),
        ],
    )
    def test_it_answers_as_the_command_line_does(
        self,
        client: TestClient,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
        name: str,
        subset: list[int],
        words: tuple[str, ...],
    ) -> None:
        expected = printed(monkeypatch, capfd, *words, "--example", name)
        found = solve(client, **of_example(name), subset=subset).json()
        # only where the keys come from is unknown here
        assert expected["parts"][0].pop("question") == f"Keys and values of the example {name}"
        assert found["parts"][0].pop("question") == "Keys and values"
        expected["data"]["instance"].pop("name")
        found["data"]["instance"].pop("name")
        assert found == expected

    def test_without_values_the_output_is_the_weights(self, client: TestClient) -> None:
        found = solve(client, keys=[[1, 0], [0, 1], [-1, 0]], subset=[1]).json()
        assert found["data"]["reached"]["output"] == pytest.approx([0, 1, 0], abs=1e-6)

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            ({"subset": []}, "the subset is empty"),
            ({"subset": [4]}, "token 4 is not there"),
            ({"subset": [0, 0]}, "names a token twice"),
            ({"subset": [0], "values": [[1]]}, "there are 4 keys and 1 values"),
            ({"subset": [0], "keys": [[1, 2], [3]]}, "row 1 has 1 numbers, row 0 has 2"),
            ({"subset": [0], "keys": [[1e7, 2]]}, "less than or equal to 1000000"),
            ({"subset": [0], "keys": []}, "at least 1 item"),
            ({"subset": [0], "keys": [[1.0]] * 11}, "at most 10 items"),
            ({"subset": [0], "keys": [["x"]]}, "valid number"),
        ],
    )
    def test_a_bad_question_is_answered_by_a_sentence(
        self, client: TestClient, body: dict[str, Any], sentence: str
    ) -> None:
        found = solve(client, **{"keys": SQUARE, **body})
        assert 400 <= found.status_code < 500
        assert sentence in found.json()["error"]

    def test_a_number_that_is_none_is_refused(self, client: TestClient) -> None:
        text = '{"keys": [[NaN, 1], [0, 1]], "subset": [0]}'
        found = client.post("/api/playground/solve", content=text)
        assert 400 <= found.status_code < 500

    COORDINATE = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e6, -1e6, 1e-300, 1e-9, 3.0])

    @pytest.mark.slow
    @given(data=st.data())
    @settings(max_examples=25, deadline=None)
    def test_whatever_the_keys_are_there_is_an_answer_or_a_sentence(
        self, data: st.DataObject
    ) -> None:
        tokens, width = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
        rows = st.lists(
            st.lists(self.COORDINATE, min_size=width, max_size=width),
            min_size=tokens,
            max_size=tokens,
        )
        subset = data.draw(st.sets(st.integers(0, tokens - 1), min_size=1))
        question = Question(keys=data.draw(rows), values=data.draw(rows), subset=list(subset))
        try:
            found = solve_question(question)
        except UserError:
            return
        json.dumps(found, allow_nan=False)


class TestHeads:
    def test_it_draws_what_the_command_line_draws(
        self,
        client: TestClient,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        expected = printed(monkeypatch, capfd, "heads", "--alpha", "0.01", "--seed", "3")
        found = client.get("/api/playground/heads", params={"alpha": 0.01, "seed": 3})
        assert found.json() == expected

    def test_another_seed_draws_other_keys_with_about_the_same_spread(
        self, client: TestClient
    ) -> None:
        first, second = (
            client.get("/api/playground/heads", params={"seed": seed}).json() for seed in (0, 1)
        )
        assert first["panels"][0]["draws"] != second["panels"][0]["draws"]
        for one in (first, second):
            assert one["data"]["heads"]["1"]["deviation"] == pytest.approx(0.44, abs=0.01)
            assert one["data"]["heads"]["2"]["deviation"] == pytest.approx(0.16, abs=0.01)

    @pytest.mark.parametrize(
        ("asked", "sentence"),
        [
            ({"alpha": -1}, "alpha = -1"),
            ({"beta": "nan"}, "beta = nan"),
            ({"length_variance": -2}, "length_variance = -2 is not possible"),
            ({"draws": 10**9}, "less than or equal to 20000"),
            ({"n_tokens": 1}, "greater than or equal to 2"),
        ],
    )
    def test_what_cannot_be_drawn_is_refused_in_a_sentence(
        self, client: TestClient, asked: dict[str, Any], sentence: str
    ) -> None:
        found = client.get("/api/playground/heads", params=asked)
        assert 400 <= found.status_code < 500
        assert sentence in found.json()["error"]


def test_the_playground_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "from attnlab.web.playground import Heads, Question, heads, list_examples, solve\n"
        "assert 'numpy' not in sys.modules\n"
        "list_examples(), solve(Question(keys=[[0], [1]], subset=[1])), heads(Heads(draws=5))\n"
        "print('loaded', *({'torch'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "loaded\n", done.stderr
